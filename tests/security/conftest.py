"""Two organizations of which each has everything, for tests that try every route there is."""

from collections.abc import Callable

import pytest
from flask import Flask

from shared.runtime import Runtime
from tests.contracts.conftest import document
from tests.contracts.document import Document
from tests.security.world import World, make_world
from tests.web.conftest import admin, app, client, key, web_runtime

__all__ = ["admin", "app", "client", "document", "key", "web_runtime"]


@pytest.fixture(scope="package")
def new_world(runtime: Runtime, app: Flask, document: Document) -> Callable[[], World]:
    """Makes an organization that a test may use up."""
    return lambda: make_world(runtime, app.test_client(), document)


@pytest.fixture(scope="package")
def ours(new_world: Callable[[], World]) -> World:
    """The organization that is called from."""
    return new_world()


@pytest.fixture(scope="package")
def theirs(new_world: Callable[[], World]) -> World:
    """The organization that must never be seen or changed by it."""
    return new_world()

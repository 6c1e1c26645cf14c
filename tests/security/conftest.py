"""Two organizations with all kinds of data, for tests that call every route."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from flask import Flask

from devstack import DevStack
from shared.foundation.deployment.runtime import Runtime
from tests.contracts.conftest import document
from tests.security.world import Operation, World, make_world
from tests.support.databases import environment
from tests.support.document import Document
from tests.support.server import Server, running_server
from tests.web.conftest import admin, app, client, key, web_runtime

__all__ = ["admin", "app", "client", "document", "key", "web_runtime"]


@pytest.fixture(scope="package")
def guarded(document: Document) -> list[Operation]:
    """Every operation that requires a credential."""
    return [one for one in document.operations() if one[2]["security"]]


@pytest.fixture(scope="package")
def new_world(runtime: Runtime, app: Flask, document: Document) -> Callable[[], World]:
    """Makes an organization that a test may use up."""
    return lambda: make_world(runtime, app.test_client(), document)


@pytest.fixture(scope="package")
def ours(new_world: Callable[[], World]) -> World:
    """The organization of the callers."""
    return new_world()


@pytest.fixture(scope="package")
def theirs(new_world: Callable[[], World]) -> World:
    """The organization that no call may see or change."""
    return new_world()


@pytest.fixture(scope="package")
def servers(
    migrated_stack: DevStack, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Server]]:
    """Two web tiers of one process each, behind the test as their proxy, on the same stores."""
    environ = {
        **environment(migrated_stack.urls),
        "TRUSTED_PROXY_HOPS": "1",
        "WEB_CONCURRENCY": "1",
    }
    folder = tmp_path_factory.mktemp("servers")
    with ExitStack() as stack:
        yield [
            stack.enter_context(running_server(environ, folder / f"{name}.log"))
            for name in ("one", "two")
        ]

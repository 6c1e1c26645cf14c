"""Fixtures of tests that talk to the web application."""

from collections.abc import Callable, Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient

from devstack import DevStack
from shared.access.identity import bootstrap
from shared.evaluation.evaluation_jobs import requests
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import ADMIN_KEY, AGENT_API_KEY, Headers, bearer, new_key
from tests.support.checked import CheckedClient
from tests.support.people import new_member
from tests.support.runtime import Org, connected, settings_for
from web import document
from web.app import create_app
from web.state import state

# For the clients of all applications that tests make.
Flask.test_client_class = CheckedClient


@pytest.fixture(scope="session")
def web_runtime(migrated_stack: DevStack) -> Iterator[Runtime]:
    """The connections of the web application, with both bootstrap keys in place."""
    settings = settings_for(
        migrated_stack.urls, admin_key=ADMIN_KEY, agent_api_key=AGENT_API_KEY, database_pool_size=4
    )
    with connected(settings) as made:
        bootstrap(made)
        yield made


@pytest.fixture(scope="session")
def app(web_runtime: Runtime) -> Iterator[Flask]:
    """The application on the test's servers."""
    made = create_app(web_runtime)
    yield made
    with made.app_context():
        state().queries.close()


@pytest.fixture(scope="session")
def app_without_stores() -> Flask:
    """The application for requests that need no store, in fast tests."""
    return document.app_without_stores()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """A client without a credential. Pass `headers=key(...)`."""
    return app.test_client()


@pytest.fixture
def key(runtime: Runtime, org: Org) -> Callable[..., Headers]:
    """`key("events:read")` returns the headers of a new key of the test's organization.

    Without an argument the key holds every permission that a key can hold.
    """

    def make(*permissions: str) -> Headers:
        return new_key(runtime, org, permissions) if permissions else new_key(runtime, org)

    return make


@pytest.fixture
def person(runtime: Runtime, org: Org) -> Callable[..., Headers]:
    """`person("events:read")` returns the headers of a new signed-in member of the organization.

    Without an argument the member has the set `admin`. `permission_set="standard"` chooses another
    one, and `email` the address.
    """

    def make(
        *permissions: str, permission_set: str | None = None, email: str | None = None
    ) -> Headers:
        return new_member(runtime, org, *permissions, permission_set=permission_set, email=email)

    return make


@pytest.fixture
def admin(web_runtime: Runtime, org: Org) -> Headers:
    """The headers of the instance's admin key, acting for the test's organization."""
    return bearer(ADMIN_KEY, org.slug)


@pytest.fixture
def just_arrived(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets no session be quiet, for requests by hand: tests store events with times of 1970."""
    monkeypatch.setattr(requests, "now_us", lambda: 0)

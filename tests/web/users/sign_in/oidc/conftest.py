"""Fixtures of tests that sign people in at a provider."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from flask import Flask

from shared.access.users.sign_in.oidc.configuration import config_of
from shared.foundation.deployment.runtime import Runtime
from tests.support.oidc import Browser, Provider, new_rsa_key, running_provider
from tests.support.people import add_member, new_email
from tests.support.runtime import Org
from web.app import create_app
from web.state import state
from web.users.sign_in import oidc

Serve = Callable[..., Flask]


@pytest.fixture(scope="module")
def one_provider() -> Iterator[Provider]:
    """The provider of a module, which starts once because of its key."""
    with running_provider() as made:
        yield made


@pytest.fixture
def provider(one_provider: Provider) -> Provider:
    """The provider, well-behaved, with nobody signed in there."""
    fresh = Provider(issuer=one_provider.issuer, keys=one_provider.keys or [new_rsa_key()])
    vars(one_provider).update(vars(fresh))
    return one_provider


@pytest.fixture(scope="module")
def apps() -> Iterator[dict[str, Flask]]:
    """The applications of a module by their configuration."""
    made: dict[str, Flask] = {}
    yield made
    for app in made.values():
        with app.app_context():
            state().queries.close()


@pytest.fixture
def serve(web_runtime: Runtime, provider: Provider, apps: dict[str, Flask]) -> Serve:
    """`serve(oidc_groups=…)` returns the application of a deployment that uses the provider.

    It has read nothing of the provider yet.
    """

    def create(**fields: Any) -> Flask:
        settings = msgspec.structs.replace(web_runtime.settings, **provider.settings(**fields))
        name = repr(sorted(fields.items()))
        if name not in apps:
            apps[name] = create_app(replace(web_runtime, settings=settings))
        oidc.use(apps[name], config_of(settings))
        return apps[name]

    return create


@pytest.fixture
def email(runtime: Runtime, org: Org, provider: Provider) -> str:
    """The address of a member with the set `admin`, who is signed in at the provider."""
    address = new_email()
    add_member(runtime, org, email=address)
    provider.person = person(address)
    return address


@pytest.fixture
def browser(serve: Serve, provider: Provider) -> Browser:
    """A browser at a deployment without group rules."""
    return Browser.of(serve(), provider)


def person(email: str, **claims: Any) -> dict[str, Any]:
    """Returns the claims of a person at the provider."""
    return {"sub": secrets.token_hex(8), "email": email, "email_verified": True, **claims}

"""The sign-in link of bin/up: once, in time, from this machine, and nowhere else."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec
import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from devstack.up import sign_in_link
from devstack.up.sign_in_link import SignInLink
from shared.foundation.deployment.runtime import Runtime
from tests.support.people import add_member, new_email
from tests.support.routes import require_error
from tests.support.runtime import Org
from web.app import create_app
from web.state import state

LOCAL = "http://127.0.0.1:8000"


@pytest.fixture
def email(runtime: Runtime, org: Org) -> str:
    made = new_email()
    add_member(runtime, org, email=made)
    return made


@pytest.fixture
def link() -> SignInLink:
    return SignInLink()


@pytest.fixture
def serve(web_runtime: Runtime, link: SignInLink) -> Iterator[Callable[[str | None], Flask]]:
    """`serve(email)` returns the application as `bin/up` configures it for an administrator."""
    made: list[Flask] = []

    def create(email: str | None) -> Flask:
        settings = msgspec.structs.replace(
            web_runtime.settings, admin_email=email, sign_in_link_hash=link.hash
        )
        made.append(create_app(replace(web_runtime, settings=settings)))
        return made[-1]

    yield create
    for app in made:
        with app.app_context():
            state().queries.close()


@pytest.fixture
def development(serve: Callable[[str | None], Flask], email: str) -> Flask:
    """The application for a member."""
    return serve(email.upper())


def follow(
    app: Flask, link: SignInLink, *, peer: str = "127.0.0.1", **headers: str
) -> TestResponse:
    """Opens the link in a browser of its own."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    named.setdefault("Host", "127.0.0.1:8000")
    path = link.at("")
    return app.test_client().get(path, headers=named, environ_base={"REMOTE_ADDR": peer})


def session_of(app: Flask, answer: TestResponse) -> TestResponse:
    cookie = answer.headers["Set-Cookie"].split(";")[0]
    client: FlaskClient = app.test_client(use_cookies=False)
    return client.get("/v1/auth/session", headers={"Cookie": cookie})


def test_it_signs_in_once(development: Flask, link: SignInLink, email: str) -> None:
    answer = follow(development, link)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert answer.headers["Cache-Control"] == "no-store"
    given = answer.headers["Set-Cookie"].split("; ")
    assert given[0].startswith("service_session=wps_")
    assert {"HttpOnly", "Path=/", "SameSite=Lax"} <= set(given)
    assert session_of(development, answer).get_json()["email"] == email
    second = follow(development, link)
    require_error(second, 401)
    assert "Set-Cookie" not in second.headers


def test_another_process_knows_that_it_was_used(
    development: Flask, serve: Callable[[str | None], Flask], link: SignInLink, email: str
) -> None:
    assert follow(serve(email), link).status_code == 303
    require_error(follow(development, link), 401)


@pytest.mark.parametrize(
    ("peer", "headers"),
    [
        ("192.0.2.7", {}),
        ("192.0.2.7", {"X_Forwarded_For": "127.0.0.1"}),
        ("::ffff:192.0.2.7", {"X_Forwarded_For": "127.0.0.1", "Forwarded": "for=127.0.0.1"}),
        ("127.0.0.1", {"X_Forwarded_For": "192.0.2.7"}),
        ("127.0.0.1", {"X_Forwarded_For": "127.0.0.1"}),
        ("127.0.0.1", {"Forwarded": "for=127.0.0.1"}),
        ("127.0.0.1", {"Via": "1.1 proxy"}),
        ("127.0.0.1", {"Host": "watch.example.org"}),
        ("", {}),
    ],
)
def test_it_works_on_this_machine_only(
    development: Flask, link: SignInLink, peer: str, headers: dict[str, str]
) -> None:
    refused = follow(development, link, peer=peer, **headers)
    require_error(refused, 404, "route_not_found")
    assert "Set-Cookie" not in refused.headers
    # The attempt has not used it up.
    assert follow(development, link).status_code == 303


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "localhost"])
def test_names_of_this_machine(development: Flask, link: SignInLink, host: str) -> None:
    assert follow(development, link, peer="::1", Host=host).status_code == 303


def test_other_deployments_have_no_such_route(app: Flask, link: SignInLink) -> None:
    require_error(follow(app, link), 404, "route_not_found")


def test_only_a_get_uses_it_up(development: Flask, link: SignInLink) -> None:
    client, path = development.test_client(), link.at("")
    assert client.head(path, base_url=LOCAL).status_code == 404
    assert client.post(path, base_url=LOCAL).status_code == 405
    assert follow(development, link).status_code == 303


def test_a_wrong_token_and_one_that_is_too_late(
    development: Flask, link: SignInLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_error(follow(development, SignInLink()), 401)
    late = time.time() + sign_in_link.LIFE_SECONDS + 1
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: late)
        require_error(follow(development, link), 401)
    assert follow(development, link).status_code == 303


def test_an_administrator_that_is_gone_is_not_signed_in(
    serve: Callable[[str | None], Flask], link: SignInLink
) -> None:
    for email in (None, new_email()):
        require_error(follow(serve(email), link), 401)

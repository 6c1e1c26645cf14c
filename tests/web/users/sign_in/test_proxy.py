"""The header of a trusted proxy: whose it is, what it opens, and what goes before it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import msgspec
import pytest
from flask import Flask
from werkzeug.test import TestResponse

from devstack import DevStack
from shared.access.settings.models import OrganizationSetting
from shared.access.users import service as users
from shared.foundation.cache import at_once
from shared.foundation.core.config import load_settings
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.databases import environment
from tests.support.people import new_email, new_member
from tests.support.routes import require_error
from tests.support.runtime import Org
from tests.support.server import PROJECT, running_server
from web.app import create_app
from web.proxy_auth import proxy_auth_of
from web.state import state

SECRET = "the secret of the proxy"
PEER, STRANGER = "10.9.8.7", "10.9.9.7"
BY_SECRET = {"proxy_auth_secret": SECRET}
BY_ADDRESS = {"proxy_auth_from": "192.0.2.1, 10.9.8.0/24"}
STORES = {
    "DATABASE_URL": "postgresql://a/b",
    "REDIS_URL": "redis://a",
    "CLICKHOUSE_URL": "clickhouse://a",
}

Ask = Callable[..., TestResponse]


@pytest.fixture(scope="module")
def apps(web_runtime: Runtime) -> Iterator[Callable[..., Flask]]:
    """`apps(**fields)` returns the application behind a proxy that is known by these."""
    made: dict[str, Flask] = {}

    def serve(**fields: str) -> Flask:
        name = repr(fields)
        if name not in made:
            settings = msgspec.structs.replace(
                web_runtime.settings, proxy_auth_header="X-Forwarded-Email", **fields
            )
            made[name] = create_app(replace(web_runtime, settings=settings))
        return made[name]

    yield serve
    for app in made.values():
        with app.app_context():
            state().queries.close()


def ask(
    app: Flask, email: str | None, path: str = "/v1/auth/session", **options: Any
) -> TestResponse:
    """Sends a request through the proxy, without its headers that `options` remove."""
    headers = {"X-Service-Proxy-Secret": SECRET, **options.pop("headers", {})}
    if email is not None:
        headers["X-Forwarded-Email"] = email
    peer = {"REMOTE_ADDR": options.pop("peer", PEER)}
    method = options.pop("method", "GET")
    sent = {name: value for name, value in headers.items() if value is not None}
    client = app.test_client(use_cookies=False)
    return client.open(path, method=method, headers=sent, environ_base=peer, **options)


@pytest.mark.parametrize("known_by", [BY_SECRET, BY_ADDRESS, BY_SECRET | BY_ADDRESS])
def test_the_proxy_names_a_member(
    apps: Callable[..., Flask], org: Org, email: str, known_by: dict[str, str]
) -> None:
    answer = ask(apps(**known_by), f" {email.upper()} ")
    assert answer.get_json()["email"] == email
    assert "Set-Cookie" not in answer.headers
    assert ask(apps(**known_by), email, "/v1/keys").status_code == 200


@pytest.mark.parametrize(
    ("known_by", "options"),
    [
        (BY_SECRET, {"headers": {"X-Service-Proxy-Secret": None}}),
        (BY_SECRET, {"headers": {"X-Service-Proxy-Secret": ""}}),
        (BY_SECRET, {"headers": {"X-Service-Proxy-Secret": SECRET + "x"}}),
        (BY_ADDRESS, {"peer": STRANGER}),
        (BY_ADDRESS, {"peer": "::1"}),
        (BY_ADDRESS, {"peer": ""}),
        (BY_ADDRESS, {"peer": STRANGER, "headers": {"X-Forwarded-For": PEER}}),
        (BY_SECRET | BY_ADDRESS, {"peer": STRANGER}),
        (BY_SECRET | BY_ADDRESS, {"headers": {"X-Service-Proxy-Secret": None}}),
    ],
)
def test_the_same_header_of_somebody_else_is_ignored(
    apps: Callable[..., Flask], email: str, known_by: dict[str, str], options: dict[str, Any]
) -> None:
    require_error(ask(apps(**known_by), email, **options), 401, "unauthorized")


def test_an_address_inside_ipv6_is_the_same(apps: Callable[..., Flask], email: str) -> None:
    assert ask(apps(**BY_ADDRESS), email, peer=f"::ffff:{PEER}").status_code == 200


@pytest.mark.parametrize("value", ["", "nobody", "a@example.com, b@example.com", "a@b@c"])
def test_what_is_no_address_is_refused(apps: Callable[..., Flask], value: str) -> None:
    require_error(ask(apps(**BY_SECRET), value), 401)


def test_only_members_count(
    runtime: Runtime, apps: Callable[..., Flask], org: Org, email: str
) -> None:
    app = apps(**BY_SECRET)
    require_error(ask(app, new_email()), 401)
    user_id = ask(app, email).get_json()["id"]
    with at_once(runtime.postgres, runtime.redis) as session:
        users.disable(session, org.uuid, user_id)
    require_error(ask(app, email), 401)


def test_allowed_sign_ins_stay_in_force(
    runtime: Runtime, apps: Callable[..., Flask], org: Org, email: str
) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        setting = {"key": "allowed_sign_ins", "value": ["*@elsewhere.example"], "updated_by": "t"}
        session.add(OrganizationSetting(org_id=org.uuid, **setting))
    require_error(ask(apps(**BY_SECRET), email), 401)


def test_beside_a_key_the_key_alone_counts(
    runtime: Runtime, apps: Callable[..., Flask], org: Org, key: Callable[..., Headers], email: str
) -> None:
    """The member holds `keys:read`, the key does not: nothing is mixed."""
    app = apps(**BY_SECRET)
    refused = ask(app, email, "/v1/keys", headers=key("events:read"))
    assert require_error(refused, 403)["required_permission"] == "keys:read"
    wide = ask(app, new_email(), "/v1/auth/introspect", headers=key("keys:read"))
    assert wide.get_json()["permissions"] == ["keys:read"]
    wrong = ask(app, email, "/v1/keys", headers={"Authorization": "Bearer nobodys-secret-at-all"})
    require_error(wrong, 401)
    require_error(ask(app, email, "/v1/keys", headers={"Authorization": "Bearer "}), 401)


def test_beside_a_cookie_the_header_counts(
    runtime: Runtime, apps: Callable[..., Flask], org: Org, email: str
) -> None:
    other = new_member(runtime, org)["Authorization"].removeprefix("Bearer ")
    cookie = {"Cookie": f"service_session={other}"}
    app = apps(**BY_SECRET)
    assert ask(app, email, headers=cookie).get_json()["email"] == email
    assert ask(app, None, headers=cookie).get_json()["email"] != email


def test_a_page_of_another_host_cannot_write(apps: Callable[..., Flask], email: str) -> None:
    app, foreign = apps(**BY_SECRET), {"Origin": "https://elsewhere.example"}
    body = {"name": "n", "key": "k" * 20, "permissions": ["events:read"]}
    refused = ask(app, email, "/v1/keys", method="POST", json=body, headers=foreign)
    require_error(refused, 403, "csrf")
    assert ask(app, email, "/v1/keys", method="POST", json=body).status_code == 201


def test_it_opens_neither_session_mode_nor_the_list_of_sessions(
    apps: Callable[..., Flask], email: str
) -> None:
    app = apps(**BY_SECRET)
    require_error(ask(app, email, "/api/auth/session"), 401)
    require_error(ask(app, email, "/v1/auth/sessions"), 401)


def test_a_header_that_only_looks_like_it_is_dropped(
    migrated_stack: DevStack, email: str, tmp_path: Path
) -> None:
    """The proxy removes `X-Forwarded-Email` from what clients send, and no other spelling."""
    environ = {
        **environment(migrated_stack.urls),
        "PROXY_AUTH_HEADER": "X-Forwarded-Email",
        "PROXY_AUTH_FROM": "127.0.0.1",
        "WEB_CONCURRENCY": "1",
    }
    with running_server(environ, tmp_path / "web.log") as server:
        for name, status in (("X-Forwarded-Email", 200), ("X_Forwarded_Email", 401)):
            connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("GET", "/v1/auth/session", headers={name: email})
            assert connection.getresponse().status == status, name
            connection.close()
    config = (PROJECT / "web" / "gunicorn.py").read_text()
    assert '\nheader_map = "drop"\n' in config


def test_without_the_variable_no_header_counts(app: Flask, email: str) -> None:
    require_error(ask(app, email), 401)


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"PROXY_AUTH_HEADER": "X-Email"}, "needs PROXY_AUTH_SECRET, PROXY_AUTH_FROM or both"),
        ({"PROXY_AUTH_SECRET": SECRET}, "PROXY_AUTH_HEADER is not set"),
        ({"PROXY_AUTH_HEADER": "X Email", "PROXY_AUTH_FROM": "10.0.0.1"}, "PROXY_AUTH_HEADER"),
        ({"PROXY_AUTH_HEADER": "Cookie", "PROXY_AUTH_FROM": "10.0.0.1"}, "another meaning"),
        ({"PROXY_AUTH_HEADER": "X-Email", "PROXY_AUTH_FROM": "proxy"}, "PROXY_AUTH_FROM"),
        ({"PROXY_AUTH_HEADER": "X-Email", "PROXY_AUTH_FROM": "10.0.0.1/8"}, "PROXY_AUTH_FROM"),
        ({"PROXY_AUTH_HEADER": "X-Email", "PROXY_AUTH_SECRET": "short"}, "PROXY_AUTH_SECRET"),
    ],
    ids=str,
)
def test_what_everybody_could_send_is_refused_at_start(
    variables: dict[str, str], named: str
) -> None:
    with pytest.raises(ConfigurationError, match=named):
        proxy_auth_of(load_settings({**STORES, **variables}))

"""API keys over HTTP: create, list, disable, regenerate, and refusals."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import Any

import pytest
from flask.testing import FlaskClient
from structlog.testing import capture_logs
from werkzeug.test import TestResponse

from shared.access.identity import bootstrap
from shared.access.keys.rules import new_secret
from shared.foundation.cache import renew_epoch
from shared.foundation.core.clock import now
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import ADMIN_KEY, Headers, bearer, new_key
from tests.support.runtime import make_org
from tests.support.statements import counted_statements

KeyFactory = Callable[..., Headers]


def make(client: FlaskClient, headers: Headers, **body: Any) -> TestResponse:
    """Sends POST /keys, by default with a fresh name and secret."""
    body = {"name": f"made-{new_secret()[:12]}", "key": new_secret(), **body}
    # Buffered, so that the response is closed, and thereby logged, before the test reads the log.
    return client.post("/v1/keys", json=body, headers=headers, buffered=True)


def error(response: TestResponse) -> tuple[int, str]:
    """Returns status and code."""
    return response.status_code, response.get_json()["code"]


def test_a_made_key_works(client: FlaskClient, admin: Headers) -> None:
    secret = new_secret()
    response = make(client, admin, name="collector", key=secret, permissions=["events:read"])
    assert response.status_code == 201
    row = response.get_json()
    assert set(row) == {
        "id", "name", "permissions", "created_at", "revoked_at", "expires_at", "last_used_at",
        "is_protected",
    }  # fmt: skip
    assert row["name"] == "collector"
    assert row["permissions"] == ["events:read"]
    assert (row["revoked_at"], row["expires_at"], row["is_protected"]) == (None, None, False)
    assert datetime.fromisoformat(row["created_at"]).tzinfo is not None
    assert row["created_at"].endswith("Z")
    assert client.get("/v1/events", headers=bearer(secret)).status_code == 200
    assert client.get("/v1/keys", headers=bearer(secret)).status_code == 403


def test_a_key_adds_events_and_nothing_else_by_default(client: FlaskClient, admin: Headers) -> None:
    assert make(client, admin).get_json()["permissions"] == ["events:add"]
    assert make(client, admin, permissions=[]).get_json()["permissions"] == []


def test_keys_are_listed_newest_first_without_secrets(client: FlaskClient, admin: Headers) -> None:
    secrets = [new_secret() for _ in range(3)]
    for number, secret in enumerate(secrets):
        make(client, admin, name=f"key {number}", key=secret)
    response = client.get("/v1/keys", headers=admin)
    assert [row["name"] for row in response.get_json()] == ["key 2", "key 1", "key 0"]
    assert not any(secret in response.get_data(as_text=True) for secret in secrets)


def test_instance_keys_are_listed_in_the_default_organization_only(
    client: FlaskClient, admin: Headers
) -> None:
    default = client.get("/v1/keys", headers=bearer(ADMIN_KEY)).get_json()
    protected = {row["name"] for row in default if row["is_protected"]}
    assert protected == {"admin", "dashboard-assistant"}
    assert client.get("/v1/keys", headers=admin).get_json() == []


def test_a_caller_grants_only_what_it_holds(client: FlaskClient, key: KeyFactory) -> None:
    granter = key("keys:create", "events:read")
    assert make(client, granter, permissions=["events:read"]).status_code == 201
    for permissions in (["events:read", "queries:run"], ["queries:run"]):
        response = make(client, granter, permissions=permissions)
        assert response.status_code == 403
        assert response.get_json()["required_permission"] == "queries:run"
    # The default grant is checked too.
    assert make(client, granter).get_json()["required_permission"] == "events:add"


def test_names_are_unique_among_live_keys_of_an_organization(
    client: FlaskClient, admin: Headers, runtime: Runtime
) -> None:
    first = make(client, admin, name="twin").get_json()
    assert error(make(client, admin, name="twin")) == (409, "key_name_taken")
    elsewhere = bearer(ADMIN_KEY, make_org(runtime).slug)
    assert make(client, elsewhere, name="twin").status_code == 201
    assert client.post(f"/v1/keys/{first['id']}/disable", headers=admin).status_code == 200
    assert make(client, admin, name="twin").status_code == 201


def test_a_secret_of_an_example_is_refused(client: FlaskClient, admin: Headers) -> None:
    response = make(client, admin, key="change-me-to-32-random-characters")
    assert error(response) == (422, "invalid")
    assert "example" in response.get_json()["fields"]["key"][0]


def test_a_secret_is_used_once_for_good(
    client: FlaskClient, admin: Headers, runtime: Runtime
) -> None:
    secret = new_secret()
    row = make(client, admin, key=secret).get_json()
    elsewhere = bearer(ADMIN_KEY, make_org(runtime).slug)
    assert error(make(client, elsewhere, key=secret)) == (409, "secret_in_use")
    client.post(f"/v1/keys/{row['id']}/disable", headers=admin)
    assert error(make(client, admin, key=secret)) == (409, "secret_in_use")
    assert error(make(client, admin, key=ADMIN_KEY)) == (409, "secret_in_use")


def test_a_disabled_key_is_refused_at_once_and_kept(client: FlaskClient, admin: Headers) -> None:
    secret = new_secret()
    row = make(client, admin, key=secret, permissions=["events:read"]).get_json()
    assert client.get("/v1/events", headers=bearer(secret)).status_code == 200
    disabled = client.post(f"/v1/keys/{row['id']}/disable", headers=admin)
    assert disabled.status_code == 200
    changed = {name: disabled.get_json()[name] for name in ("revoked_at", "last_used_at")}
    assert disabled.get_json() == {**row, **changed}
    assert disabled.get_json()["revoked_at"] > row["created_at"]
    assert error(client.get("/v1/events", headers=bearer(secret))) == (401, "unauthorized")
    assert client.get("/v1/keys", headers=admin).get_json() == [disabled.get_json()]
    for action in ("disable", "regenerate"):
        response = client.post(f"/v1/keys/{row['id']}/{action}", headers=admin)
        assert error(response) == (409, "key_disabled")


def test_the_last_use_is_noted_to_the_minute(
    web_runtime: Runtime, client: FlaskClient, admin: Headers
) -> None:
    secret = new_secret()
    row = make(client, admin, key=secret, permissions=["events:read"]).get_json()
    assert row["last_used_at"] is None
    started = now().replace(second=0, microsecond=0)
    with counted_statements(web_runtime) as seen:
        for _ in range(3):
            renew_epoch(web_runtime.redis)
            assert client.get("/v1/events", headers=bearer(secret)).status_code == 200
    notes = [one for one in seen if one.startswith("UPDATE api_keys")]
    # The minute may end meanwhile.
    assert len(notes) <= 2
    [used] = client.get("/v1/keys", headers=admin).get_json()
    at = datetime.fromisoformat(used["last_used_at"])
    assert at in (started, started + timedelta(minutes=1))
    assert used == {**row, "last_used_at": used["last_used_at"]}


def test_a_regenerated_key_has_one_secret(client: FlaskClient, admin: Headers) -> None:
    secret = new_secret()
    row = make(client, admin, key=secret, permissions=["events:read"]).get_json()
    assert client.get("/v1/events", headers=bearer(secret)).status_code == 200
    response = client.post(f"/v1/keys/{row['id']}/regenerate", headers=admin)
    assert response.status_code == 200
    renewed = response.get_json()
    assert renewed.keys() == {"id", "name", "permissions", "created_at", "key"}
    assert {name: renewed[name] for name in renewed if name != "key"}.items() <= row.items()
    assert client.get("/v1/events", headers=bearer(secret)).status_code == 401
    assert client.get("/v1/events", headers=bearer(renewed["key"])).status_code == 200


@pytest.mark.parametrize("action", ["disable", "regenerate"])
def test_protected_keys_stay(client: FlaskClient, admin: Headers, action: str) -> None:
    rows = client.get("/v1/keys", headers=bearer(ADMIN_KEY)).get_json()
    for row in (row for row in rows if row["is_protected"]):
        for headers in (bearer(ADMIN_KEY), admin):
            response = client.post(f"/v1/keys/{row['id']}/{action}", headers=headers)
            assert error(response) == (403, "protected_key")


@pytest.mark.parametrize("action", ["disable", "regenerate"])
def test_foreign_missing_and_malformed_ids_are_the_same(
    client: FlaskClient, admin: Headers, runtime: Runtime, action: str
) -> None:
    row = make(client, admin).get_json()
    stranger = new_key(runtime, make_org(runtime))
    foreign = client.post(f"/v1/keys/{row['id']}/{action}", headers=stranger)
    assert error(foreign) == (404, "not_found")
    for malformed in ("00000000-0000-4000-8000-000000000000", "x", "%00", row["id"] + "0"):
        response = client.post(f"/v1/keys/{malformed}/{action}", headers=admin)
        assert error(response) == (404, "not_found")


def test_a_key_expires(
    client: FlaskClient, admin: Headers, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = new_secret()
    expires_at = datetime.now(UTC) + timedelta(hours=1)
    row = make(client, admin, key=secret, expires_at=expires_at.isoformat()).get_json()
    assert datetime.fromisoformat(row["expires_at"]) == expires_at
    assert client.get("/v1/auth/introspect", headers=bearer(secret)).status_code == 200
    monkeypatch.setattr("shared.access.identity.loading.now", lambda: expires_at)
    assert error(client.get("/v1/auth/introspect", headers=bearer(secret))) == (401, "unauthorized")


def test_no_secret_is_ever_logged(
    client: FlaskClient, admin: Headers, web_runtime: Runtime
) -> None:
    secret, short = new_secret(), "too-short"
    with capture_logs() as logs:
        row = make(client, admin, key=secret).get_json()
        client.get("/v1/auth/introspect", headers=bearer(secret), buffered=True)
        make(client, admin, key=secret)
        make(client, admin, key=short)
        client.get("/v1/events", headers=bearer("unknown-secret-of-somebody"), buffered=True)
        path = f"/v1/keys/{row['id']}/regenerate"
        new = client.post(path, headers=admin, buffered=True).get_json()["key"]
        bootstrap(web_runtime)
    assert len(logs) >= 6
    for text in (secret, short, new, ADMIN_KEY, "unknown-secret-of-somebody"):
        assert text not in str(logs)


@pytest.mark.parametrize("length", [16, 256])
def test_a_secret_has_16_to_256_characters(
    client: FlaskClient, key: KeyFactory, length: int
) -> None:
    secret = token_hex(length // 2)
    assert make(client, key(), key=secret, permissions=["keys:read"]).status_code == 201
    assert client.get("/v1/keys", headers=bearer(secret)).status_code == 200


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("name", "n", 201),
        ("name", "ö" * 100, 201),
        ("name", "n" * 101, 422),
        ("name", "", 422),
        ("name", "   ", 422),
        ("name", "a\nb", 422),
        ("name", "a\x00b", 422),
        ("key", "k" * 15, 422),
        ("key", "k" * 257, 422),
        ("key", "sixteen chars and spaces", 422),
        ("key", "schlüssel-mit-umlaut", 422),
        ("permissions", ["events:read", "events:read"], 201),
        ("permissions", ["no:such"], 422),
        ("permissions", ["alerts:ack"], 422),
        ("permissions", ["events:add", ""], 422),
        ("permissions", None, 422),
        ("expires_at", None, 201),
        ("expires_at", "2000-01-01T00:00:00Z", 422),
        ("expires_at", "2999-01-01", 422),
        ("expires_at", "2999-01-01T00:00:00", 422),
        ("expires_at", 4102444800, 422),
    ],
)
def test_the_bounds_of_a_new_key(
    client: FlaskClient, admin: Headers, field: str, value: object, status: int
) -> None:
    answer = make(client, admin, **{field: value})
    assert answer.status_code == status, answer.data
    if status == 422:
        assert answer.get_json()["fields"].keys() == {field}


def test_what_no_key_can_hold_is_refused_before_what_the_caller_lacks(
    client: FlaskClient, key: KeyFactory
) -> None:
    granter = key("keys:create")
    for permissions, status in ((["orgs:admin", "events:add"], 422), (["events:add"], 403)):
        assert make(client, granter, permissions=permissions).status_code == status


def test_a_bearer_counts_where_a_cookie_comes_along(client: FlaskClient, key: KeyFactory) -> None:
    # Set in the client's jar: the client drops a Cookie header.
    client.set_cookie("service_session", "wps_nobodys")
    assert client.get("/v1/keys", headers=key("keys:read")).status_code == 200
    assert client.get("/v1/keys").status_code == 401


def test_a_key_is_no_cookie(client: FlaskClient, key: KeyFactory) -> None:
    headers = key("keys:read")
    client.set_cookie("service_session", headers["Authorization"].removeprefix("Bearer "))
    assert client.get("/v1/keys").status_code == 401
    assert client.get("/v1/keys", headers=headers).status_code == 200

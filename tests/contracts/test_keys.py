"""Credentials, the identities they stand for, and the routes of keys."""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import update
from werkzeug.test import TestResponse

from shared.access.keys.models import ApiKey
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import ADMIN_KEY, AGENT_API_KEY, Headers, bearer
from tests.support.document import Document

Key = Callable[..., Headers]

DISABLE, REGENERATE = "/v1/keys/{key_id}/disable", "/v1/keys/{key_id}/regenerate"

# The fixed permissions of `AGENT_API_KEY`.
ASSISTANT = (
    "dashboards:read dashboards:write evaluations:read events:read"
    " queries:read queries:run queries:write"
)


def make(client: FlaskClient, headers: Headers, **body: Any) -> TestResponse:
    secret = secrets.token_hex(20)
    return client.post(
        "/v1/keys", json={"name": secret[:20], "key": secret, **body}, headers=headers
    )


def test_every_answer_about_keys_is_what_the_document_says(
    client: FlaskClient, document: Document, key: Key
) -> None:
    headers = key()
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    row = document.require(make(client, headers, name="a"), "POST", "/v1/keys")
    assert (row["permissions"], row["expires_at"]) == (["events:add"], None)
    answer = make(client, headers, name="b", expires_at=tomorrow.isoformat())
    row = document.require(answer, "POST", "/v1/keys")
    assert datetime.fromisoformat(row["expires_at"]) == tomorrow
    answer = client.post(f"/v1/keys/{row['id']}/regenerate", headers=headers)
    renewed = document.require(answer, "POST", REGENERATE)
    assert (renewed["id"], renewed["name"]) == (row["id"], "b")
    answer = client.post(f"/v1/keys/{row['id']}/disable", headers=headers)
    assert document.require(answer, "POST", DISABLE)["revoked_at"] is not None
    for action, template in (("disable", DISABLE), ("regenerate", REGENERATE)):
        answer = client.post(f"/v1/keys/{row['id']}/{action}", headers=headers)
        assert answer.status_code == 409
        document.require(answer, "POST", template)
    listed = document.require(client.get("/v1/keys", headers=headers), "GET", "/v1/keys")
    assert [one["name"] for one in listed][:2] == ["b", "a"]
    assert renewed["key"] not in str(listed)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": "n"}, 201),
        ({"name": "n" * 100}, 201),
        ({"name": "ö" * 100}, 201),
        ({"name": "n" * 101}, 422),
        ({"name": ""}, 422),
        ({"name": "   "}, 422),
        ({"name": "a\nb"}, 422),
        ({"name": "a\x00b"}, 422),
        ({"key": "k" * 15}, 422),
        ({"key": "k" * 257}, 422),
        ({"key": "sixteen chars and spaces"}, 422),
        ({"key": "schlüssel-mit-umlaut"}, 422),
        ({"permissions": ["events:read", "events:read"]}, 201),
        ({"permissions": ["orgs:admin"]}, 422),
        ({"permissions": ["keys:update"]}, 422),
        ({"permissions": ["no:such"]}, 422),
        ({"permissions": ["events:write"]}, 422),
        ({"permissions": ["alerts:ack"]}, 422),
        ({"permissions": ["events:add", ""]}, 422),
        ({"permissions": None}, 422),
        ({"expires_at": None}, 201),
        ({"expires_at": "2000-01-01T00:00:00Z"}, 422),
        ({"expires_at": "2999-01-01"}, 422),
        ({"expires_at": "2999-01-01T00:00:00"}, 422),
        ({"expires_at": 4102444800}, 422),
    ],
)
def test_the_bounds_of_a_new_key(
    client: FlaskClient, document: Document, key: Key, body: dict[str, Any], status: int
) -> None:
    answer = make(client, key(), **body)
    assert answer.status_code == status, answer.data
    told = document.require(answer, "POST", "/v1/keys")
    if status == 422:
        assert (told["code"], told["fields"].keys()) == ("invalid", body.keys())


@pytest.mark.parametrize("length", [16, 256])
def test_a_secret_has_16_to_256_characters(client: FlaskClient, key: Key, length: int) -> None:
    secret = secrets.token_hex(length // 2)
    assert make(client, key(), key=secret, permissions=["keys:read"]).status_code == 201
    assert client.get("/v1/keys", headers=bearer(secret)).status_code == 200


def test_granting_what_no_key_can_hold_is_422_before_it_is_403(
    client: FlaskClient, key: Key
) -> None:
    granter = key("keys:create")
    for permissions, status in ((["orgs:admin", "events:add"], 422), (["events:add"], 403)):
        answer = make(client, granter, permissions=permissions)
        assert answer.status_code == status
    assert answer.get_json()["required_permission"] == "events:add"


def test_people_change_what_a_key_may_do_and_keys_do_not(
    client: FlaskClient, document: Document, key: Key, person: Key
) -> None:
    row = make(client, key()).get_json()
    for headers, permissions, status in (
        (person(), ["events:read"], 200),
        (key(), ["events:read"], 403),
        (person("keys:update"), ["queries:run"], 403),
        (person(), ["orgs:admin"], 422),
        (person(), ["keys:update"], 422),
    ):
        body = {"permissions": permissions}
        answer = client.patch(f"/v1/keys/{row['id']}", json=body, headers=headers)
        assert answer.status_code == status
        told = document.require(answer, "PATCH", "/v1/keys/{key_id}")
        if status == 200:
            assert told == {**row, "permissions": permissions}


def test_a_key_is_seeded_from_a_set_without_what_no_key_can_hold(
    client: FlaskClient, document: Document, key: Key
) -> None:
    row = document.require(make(client, key(), permission_set="admin"), "POST", "/v1/keys")
    assert "keys:read" in row["permissions"]
    assert {"keys:update", "orgs:admin"}.isdisjoint(row["permissions"])


def test_introspection_describes_a_key(client: FlaskClient, document: Document, key: Key) -> None:
    told: dict[str, dict[str, Any]] = {}
    for name, headers in (
        ("own", key("keys:read")),
        ("admin", bearer(ADMIN_KEY)),
        ("assistant", bearer(AGENT_API_KEY)),
    ):
        answer = client.get("/v1/auth/introspect", headers=headers)
        told[name] = document.require(answer, "GET", "/v1/auth/introspect")
    assert told["own"]["org_slug"]
    assert told["own"]["instance_scoped"] is False
    for name in ("admin", "assistant"):
        assert told[name]["instance_scoped"] is True
        assert (told[name]["org_id"], told[name]["org_slug"]) == (None, None)
    assert told["assistant"]["permissions"] == ASSISTANT.split()
    assert set(ASSISTANT.split()) < set(told["admin"]["permissions"])


def test_a_stored_alerts_ack_is_read_as_incidents_ack(
    client: FlaskClient, runtime: Runtime, key: Key
) -> None:
    secret = secrets.token_hex(20)
    row = make(client, key(), key=secret).get_json()
    with runtime.postgres.transaction() as session:
        of_old = update(ApiKey).where(ApiKey.id == UUID(row["id"]))
        session.execute(of_old.values(permissions=["alerts:ack"]))
    told = client.get("/v1/auth/introspect", headers=bearer(secret)).get_json()
    assert told["permissions"] == ["incidents:ack"]


def test_a_bearer_counts_where_a_cookie_comes_along(client: FlaskClient, key: Key) -> None:
    # Set in the client's jar: the client drops a Cookie header.
    client.set_cookie("service_session", "wps_nobodys")
    assert client.get("/v1/keys", headers=key("keys:read")).status_code == 200
    assert client.get("/v1/keys").status_code == 401


def test_a_key_is_no_cookie(client: FlaskClient, key: Key) -> None:
    headers = key("keys:read")
    client.set_cookie("service_session", headers["Authorization"].removeprefix("Bearer "))
    assert client.get("/v1/keys").status_code == 401
    assert client.get("/v1/keys", headers=headers).status_code == 200

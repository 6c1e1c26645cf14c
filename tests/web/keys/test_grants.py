"""The grant of a key: seeded from a set, changed by people, and read with today's names."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import update
from werkzeug.test import TestResponse

from shared.access.keys.models import ApiKey
from shared.access.keys.rules import new_secret
from shared.access.permissions import BUILTIN_SETS, FOR_KEYS
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import ADMIN_KEY, Headers, bearer, new_key
from tests.support.people import acting_as, new_email
from tests.support.runtime import Org, make_org
from tests.web.keys.test_keys import error, make

Make = Callable[..., Headers]


def new_set(client: FlaskClient, headers: Headers, name: str, *permissions: str) -> None:
    body = {"name": name, "permissions": list(permissions)}
    assert client.post("/v1/permission-sets", json=body, headers=headers).status_code == 201


def patch(client: FlaskClient, headers: Headers, key_id: str, *permissions: Any) -> TestResponse:
    body = {"permissions": list(permissions)}
    return client.patch(f"/v1/keys/{key_id}", json=body, headers=headers)


@pytest.mark.parametrize(
    ("body", "permissions"),
    [
        ({"permission_set": "mixed"}, ["queries:run", "events:read"]),
        (
            {"permission_set": "mixed", "permissions": ["events:add", "events:read"]},
            ["queries:run", "events:read", "events:add"],
        ),
        ({"permission_set": "mixed", "permissions": []}, ["queries:run", "events:read"]),
        ({"permission_set": "for people"}, []),
        ({"permission_set": None}, ["events:add"]),
        ({"permission_set": "standard"}, sorted(BUILTIN_SETS["standard"].permissions)),
        ({"permission_set": "admin"}, sorted(FOR_KEYS)),
    ],
)
def test_a_key_gets_of_a_set_what_a_key_can_hold(
    client: FlaskClient, admin: Headers, body: dict[str, Any], permissions: list[str]
) -> None:
    new_set(client, admin, "mixed", "queries:run", "keys:update", "events:read")
    new_set(client, admin, "for people", "keys:update")
    made = make(client, admin, **body)
    assert (made.status_code, made.get_json()["permissions"]) == (201, permissions)


def test_only_what_is_named_is_refused_for_being_no_keys(
    client: FlaskClient, admin: Headers
) -> None:
    for token in ("keys:update", "orgs:admin"):
        response = make(client, admin, permission_set="admin", permissions=[token])
        assert error(response) == (422, "invalid")
        assert response.get_json()["fields"].keys() == {"permissions"}


@pytest.mark.parametrize("name", ["no such set", "", "a\x00b", "theirs"])
def test_an_unknown_set_is_refused(
    client: FlaskClient, admin: Headers, runtime: Runtime, name: str
) -> None:
    new_set(client, bearer(ADMIN_KEY, make_org(runtime).slug), "theirs", "events:read")
    response = make(client, admin, permission_set=name)
    assert error(response) == (422, "invalid")
    assert response.get_json()["fields"].keys() == {"permission_set"}


def test_later_changes_of_the_set_do_not_reach_the_key(client: FlaskClient, admin: Headers) -> None:
    new_set(client, admin, "seed", "events:read")
    row = make(client, admin, permission_set="seed").get_json()
    body = {"permissions": ["queries:run"]}
    assert client.put("/v1/permission-sets/seed", json=body, headers=admin).status_code == 200
    assert client.delete("/v1/permission-sets/seed", headers=admin).status_code == 200
    assert client.get("/v1/keys", headers=admin).get_json() == [row]


def test_a_change_holds_from_the_next_request_on(
    client: FlaskClient, admin: Headers, person: Make
) -> None:
    secret, email = new_secret(), new_email()
    row = make(client, admin, key=secret, permissions=["keys:read"]).get_json()
    signed_in = person(email=email)
    for who, permissions, status in (
        (signed_in, ["events:read", "events:add", "events:read"], 403),
        (acting_as(email), ["keys:read"], 200),
        (signed_in, [], 403),
    ):
        changed = patch(client, who, row["id"], *permissions)
        used = {"last_used_at": changed.get_json()["last_used_at"]}
        expected = {**row, **used, "permissions": list(dict.fromkeys(permissions))}
        assert (changed.status_code, changed.get_json()) == (200, expected)
        assert client.get("/v1/keys", headers=bearer(secret)).status_code == status


def test_keys_change_no_keys(client: FlaskClient, admin: Headers, key: Make) -> None:
    row = make(client, admin).get_json()
    for headers in (admin, key()):
        answer = patch(client, headers, row["id"], "events:add")
        assert error(answer) == (403, "user_required")
        assert answer.get_json()["required_permission"] == "keys:update"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"permissions": None},
        {"permissions": "events:add"},
        {"permissions": [1]},
        {"permissions": ["events:write"]},
        {"permissions": ["alerts:ack"]},
        {"permissions": ["events:add", "orgs:admin"]},
        {"permissions": ["keys:update"]},
    ],
)
def test_bad_values_are_refused(
    client: FlaskClient, admin: Headers, person: Make, body: dict[str, Any]
) -> None:
    row = make(client, admin).get_json()
    answer = client.patch(f"/v1/keys/{row['id']}", json=body, headers=person())
    assert error(answer) == (422, "invalid")
    assert next(iter(answer.get_json()["fields"])).partition(".")[0] == "permissions"
    assert client.get("/v1/keys", headers=admin).get_json() == [row]


def test_refused_changes(
    client: FlaskClient, admin: Headers, person: Make, runtime: Runtime
) -> None:
    headers = person()
    for row in client.get("/v1/keys", headers=bearer(ADMIN_KEY)).get_json():
        if row["is_protected"]:
            answer = patch(client, headers, row["id"], "events:add")
            assert error(answer) == (403, "protected_key")
    row = make(client, admin).get_json()
    client.post(f"/v1/keys/{row['id']}/disable", headers=admin)
    assert error(patch(client, headers, row["id"], "events:add")) == (409, "key_disabled")
    elsewhere = bearer(ADMIN_KEY, make_org(runtime).slug)
    foreign = make(client, elsewhere).get_json()["id"]
    for key_id in (foreign, foreign.replace("-", ""), "1", str(UUID(int=0))):
        assert error(patch(client, headers, key_id, "events:add")) == (404, "not_found")


def test_only_what_is_gained_is_asked_for(
    client: FlaskClient, admin: Headers, person: Make
) -> None:
    row = make(client, admin, permissions=["queries:run", "events:read"]).get_json()
    headers = person("keys:update", "events:add")
    kept = patch(client, headers, row["id"], "queries:run", "events:add")
    assert kept.get_json()["permissions"] == ["queries:run", "events:add"]
    answer = patch(client, headers, row["id"], "queries:run", "events:read")
    assert answer.get_json()["required_permission"] == "events:read"


def test_grants_of_before_are_read_as_what_they_are_today(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org, person: Make
) -> None:
    new_key(runtime, org)
    of_old = ["alerts:ack", "events:read", "gone:long-ago", "incidents:ack"]
    with runtime.postgres.transaction() as session:
        session.execute(update(ApiKey).where(ApiKey.org_id == org.uuid).values(permissions=of_old))
    [row] = client.get("/v1/keys", headers=admin).get_json()
    assert row["permissions"] == ["incidents:ack", "events:read"]
    # The key holds it already, so writing it again adds nothing.
    changed = patch(client, person("keys:update"), row["id"], "incidents:ack")
    assert changed.get_json()["permissions"] == ["incidents:ack"]

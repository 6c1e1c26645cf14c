"""The routes of users, and GET /access-granters."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from shared.access.permissions import BUILTIN_SETS
from tests.support.app import Headers
from tests.support.document import Document
from tests.support.people import new_email

Make = Callable[..., Headers]

USERS, USER = "/v1/users", "/v1/users/{user_id}"
ENABLE, DEFAULTS = "/v1/users/{user_id}/enable", "/v1/users/defaults"


def invite(client: FlaskClient, headers: Headers, **body: Any) -> TestResponse:
    return client.post(USERS, json={"email": new_email(), **body}, headers=headers)


@pytest.fixture(params=["key", "person"])
def headers(request: pytest.FixtureRequest, key: Make, person: Make) -> Headers:
    """A key with all permissions: the routes of users are not for people alone."""
    makes: dict[str, Make] = {"key": key, "person": person}
    return makes[request.param]()


def test_every_answer_about_users_is_what_the_document_says(
    client: FlaskClient, document: Document, headers: Headers
) -> None:
    row = document.require(invite(client, headers), "POST", USERS)
    path = f"{USERS}/{row['id']}"
    assert document.require(client.get(path, headers=headers), "GET", USER) == row
    assert row in document.require(client.get(USERS, headers=headers), "GET", USERS)
    given = {"permission_set": None, "permission_added": ["events:read"]}
    row = document.require(client.put(path, json=given, headers=headers), "PUT", USER)
    assert (row["permission_set"], row["permissions"]) == (None, ["events:read"])
    disabled = document.require(client.delete(path, headers=headers), "DELETE", USER)
    assert disabled["disabled_at"] is not None
    for answer, method in (
        (client.delete(path, headers=headers), "DELETE"),
        (client.put(path, json=given, headers=headers), "PUT"),
    ):
        assert answer.status_code == 409
        assert document.require(answer, method, USER)["code"] == "user_disabled"
    answer = invite(client, headers, email=row["email"])
    assert document.require(answer, "POST", USERS)["code"] == "user_disabled"
    answer = client.post(f"{path}/enable", headers=headers)
    assert document.require(answer, "POST", ENABLE)["disabled_at"] is None
    answer = client.post(f"{path}/enable", headers=headers)
    assert (answer.status_code, document.require(answer, "POST", ENABLE)["code"]) == (
        409,
        "user_enabled",
    )
    answer = invite(client, headers, email=row["email"])
    assert document.require(answer, "POST", USERS)["code"] == "user_exists"


def test_an_invitation_gives_the_defaults(
    client: FlaskClient, document: Document, headers: Headers
) -> None:
    told = document.require(client.get(DEFAULTS, headers=headers), "GET", DEFAULTS)
    assert told["permission_set"] == "standard"
    assert set(told["permissions"]) == BUILTIN_SETS["standard"].permissions
    row = document.require(invite(client, headers), "POST", USERS)
    assert row["permission_set"] == told["permission_set"]
    assert row["permissions"] == told["permissions"]
    assert row["permission_added"] == row["permission_removed"] == []
    assert (row["disabled_at"], row["is_protected"]) == (None, False)


def test_permissions_of_before_are_added_to_no_set(
    client: FlaskClient, document: Document, key: Make
) -> None:
    row = document.require(invite(client, key(), permissions=["events:read"]), "POST", USERS)
    assert (row["permission_set"], row["permission_added"]) == (None, ["events:read"])


def test_effective_permissions_are_the_set_and_what_is_added_without_what_is_removed(
    client: FlaskClient, document: Document, key: Make
) -> None:
    answer = invite(
        client,
        key(),
        permission_set="read-only",
        permission_added=["queries:run", "agent:use"],
        permission_removed=["agent:use", "events:read"],
    )
    row = document.require(answer, "POST", USERS)
    expected = BUILTIN_SETS["read-only"].permissions | {"queries:run"}
    assert set(row["permissions"]) == expected - {"events:read"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"email": "nobody"}, "email"),
        ({"permission_set": "none"}, "permission_set"),
        ({"permission_added": ["no:such"]}, "permission_added"),
        ({"permission_removed": ["no:such"]}, "permission_removed"),
        ({"permissions": ["no:such"]}, "permissions"),
        ({"permission_added": ["alerts:ack"]}, "permission_added"),
    ],
)
def test_refusals_name_the_field(
    client: FlaskClient, document: Document, key: Make, body: dict[str, Any], field: str
) -> None:
    answer = invite(client, key(), **body)
    assert answer.status_code == 422
    assert document.require(answer, "POST", USERS)["fields"].keys() == {field}


def test_granting_more_than_one_holds_names_the_permission(
    client: FlaskClient, document: Document, key: Make
) -> None:
    given = {"permission_set": None, "permission_added": ["queries:run"]}
    answer = invite(client, key("users:create"), **given)
    assert answer.status_code == 403
    assert document.require(answer, "POST", USERS)["required_permission"] == "queries:run"


def test_anybody_may_list_access_granters(
    client: FlaskClient, document: Document, key: Make, person: Make
) -> None:
    email = new_email()
    person("users:update", email=email)
    person("users:read")
    answer = client.get("/v1/access-granters", headers=key("events:add"))
    assert document.require(answer, "GET", "/v1/access-granters") == [{"email": email}]

"""Permission sets: the three built-in ones, and custom ones."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.access.permissions import ALL
from tests.support.app import Headers
from tests.support.document import Document
from tests.support.people import new_email

Make = Callable[..., Headers]

SETS, SET = "/v1/permission-sets", "/v1/permission-sets/{name}"

# The built-in sets (docs/use/people.md).
READ_ONLY = (
    "events:read keys:read users:read evaluations:read dashboards:read queries:read"
    " settings:read alerts:read audits:read incidents:read"
)
STANDARD = f"{READ_ONLY} evaluations:trigger queries:run incidents:ack agent:use"


def test_built_in_sets_have_their_permissions(
    client: FlaskClient, document: Document, key: Make
) -> None:
    rows = document.require(client.get(SETS, headers=key()), "GET", SETS)
    assert {row["name"]: set(row["permissions"]) for row in rows} == {
        "read-only": set(READ_ONLY.split()),
        "standard": set(STANDARD.split()),
        "admin": ALL - {"orgs:admin"},
    }
    assert all(row["is_builtin"] for row in rows)


def test_every_answer_about_sets_is_what_the_document_says(
    client: FlaskClient, document: Document, key: Make, person: Make
) -> None:
    headers, email = key(), new_email()
    body: dict[str, Any] = {"name": "guests", "permissions": ["events:read"]}
    made = document.require(client.post(SETS, json=body, headers=headers), "POST", SETS)
    assert made == {**body, "description": "", "is_builtin": False, "user_count": 0}
    answer = client.post(SETS, json=body, headers=headers)
    assert (answer.status_code, document.require(answer, "POST", SETS)["code"]) == (
        409,
        "set_exists",
    )
    person(permission_set="guests", email=email)
    path = f"{SETS}/guests"
    assert document.require(client.get(path, headers=headers), "GET", SET)["user_count"] == 1
    body = {"permissions": ["keys:read"], "description": "d"}
    edited = document.require(client.put(path, json=body, headers=headers), "PUT", SET)
    assert edited == {**made, **body, "user_count": 1}
    [_, _, _, last] = document.require(client.get(SETS, headers=headers), "GET", SETS)
    assert last == edited
    [user] = client.get("/v1/users", headers=headers).get_json()
    assert user["permissions"] == ["keys:read"]
    deleted = document.require(client.delete(path, headers=headers), "DELETE", SET)
    assert deleted == {"affected_users": 1}
    answer = client.get(path, headers=headers)
    assert answer.status_code == 404
    document.require(answer, "GET", SET)


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_built_in_sets_are_refused(
    client: FlaskClient, document: Document, key: Make, method: str
) -> None:
    body = {"permissions": ["events:read"]}
    answer = client.open(f"{SETS}/standard", method=method, json=body, headers=key())
    assert answer.status_code == 409
    assert document.require(answer, method, SET)["code"] == "builtin_set"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": "n"}, 201),
        ({"name": "n" * 64}, 201),
        ({"name": "n" * 65}, 422),
        ({"name": ""}, 422),
        ({"permissions": ["orgs:admin"]}, 403),
        ({"permissions": ["keys:update"]}, 201),
        ({"permissions": ["no:such"]}, 422),
        ({"permissions": ["alerts:ack"]}, 422),
    ],
)
def test_the_bounds_of_a_new_set(
    client: FlaskClient, document: Document, key: Make, body: dict[str, Any], status: int
) -> None:
    body = {"name": "set", "permissions": ["events:read"], **body}
    answer = client.post(SETS, json=body, headers=key())
    assert answer.status_code == status, answer.data
    document.require(answer, "POST", SETS)

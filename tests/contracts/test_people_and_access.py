"""Unusual requests to the routes of people and access, as foreign clients may send them."""

import secrets
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.support.app import Headers
from tests.support.document import Document
from tests.support.people import new_email
from tests.support.routes import routes_of

Make = Callable[..., Headers]

NOBODY = "00000000-0000-4000-8000-000000000000"
SETS, USERS = "/v1/permission-sets", "/v1/users"


def test_head_is_get_without_the_body(app: Flask, client: FlaskClient, person: Make) -> None:
    headers = person()
    for route in routes_of(app):
        if route.method != "GET" or "{" in route.template:
            continue
        read = client.get(route.path, headers=headers)
        told = client.head(route.path, headers=headers)
        assert (told.status_code, told.data) == (read.status_code, b""), str(route)
        assert told.content_type == read.content_type, str(route)
        if route.access is not None and not route.access.public:
            assert client.head(route.path).status_code == 401, str(route)


def test_options_lists_the_methods_and_nothing_else(app: Flask, client: FlaskClient) -> None:
    for route in routes_of(app):
        told = client.options(route.path)
        assert (told.status_code, told.data) == (200, b""), str(route)
        assert route.method in told.allow, str(route)


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"1", b"true", b"null", b"[1]"])
@pytest.mark.parametrize(
    ("method", "template"),
    [
        ("POST", "/v1/keys"),
        ("PATCH", "/v1/keys/{key_id}"),
        ("POST", USERS),
        ("PUT", "/v1/users/{user_id}"),
        ("POST", SETS),
        ("PUT", "/v1/permission-sets/{name}"),
        ("PUT", "/v1/settings/model-context-windows"),
        ("POST", "/v1/agent/conversations"),
        ("PATCH", "/v1/agent/conversations/{conversation_id}"),
        ("PUT", "/v1/agent/conversations/{conversation_id}/messages"),
        ("POST", "/v1/auth/otp/request"),
        ("POST", "/v1/auth/otp/verify"),
    ],
)
def test_a_body_that_is_no_object_is_a_bad_body(
    client: FlaskClient,
    document: Document,
    person: Make,
    method: str,
    template: str,
    body: bytes,
) -> None:
    path = template.format(key_id=NOBODY, user_id=NOBODY, name="none", conversation_id=NOBODY)
    answer = client.open(
        path, method=method, data=body, content_type="application/json", headers=person()
    )
    assert answer.status_code == 422, answer.data
    assert document.require(answer, method, template)["fields"].keys() == {"body"}


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"disabled": false}'])
def test_a_body_is_not_read_where_none_is_asked_for(
    client: FlaskClient, key: Make, body: bytes
) -> None:
    headers = key()
    sent: dict[str, Any] = {"headers": headers, "data": body, "content_type": "text/plain"}
    made = client.post(USERS, json={"email": new_email()}, headers=headers).get_json()
    assert client.delete(f"{USERS}/{made['id']}", **sent).status_code == 200
    assert client.post(f"{USERS}/{made['id']}/enable", **sent).status_code == 200
    wanted = {"name": "n", "key": secrets.token_hex(20)}
    made = client.post("/v1/keys", json=wanted, headers=headers).get_json()
    assert client.post(f"/v1/keys/{made['id']}/regenerate", **sent).status_code == 200
    assert client.post(f"/v1/keys/{made['id']}/disable", **sent).status_code == 200


def test_a_uuid_in_capitals_is_the_same_id(client: FlaskClient, key: Make) -> None:
    headers = key()
    made = client.post(USERS, json={"email": new_email()}, headers=headers).get_json()
    assert client.get(f"{USERS}/{made['id'].upper()}", headers=headers).get_json() == made


@pytest.mark.parametrize(
    ("name", "sent"),
    [("a/b", "a%2Fb"), ("100 %", "100%20%25"), ("?#", "%3F%23"), ("käse", "k%C3%A4se")],
)
def test_the_name_of_a_set_is_percent_encoded_in_a_path(
    client: FlaskClient, key: Make, name: str, sent: str
) -> None:
    headers, path = key(), f"{SETS}/{sent}"
    made = client.post(SETS, json={"name": name, "permissions": []}, headers=headers).get_json()
    assert client.get(path, headers=headers).get_json() == made
    changed = client.put(path, json={"permissions": ["events:read"]}, headers=headers).get_json()
    assert changed == {**made, "permissions": ["events:read"]}
    assert client.delete(path, headers=headers).get_json() == {"affected_users": 0}


@pytest.mark.parametrize(
    ("given", "permission_set", "permissions"),
    [
        ({"permissions": ["events:read"]}, None, ["events:read"]),
        ({"permissions": []}, None, []),
        ({"permissions": ["events:read"], "permission_set": None}, None, ["events:read"]),
        (
            {"permissions": ["events:read"], "permission_added": ["keys:read"]},
            None,
            ["events:read", "keys:read"],
        ),
        (
            {"permissions": ["events:read", "keys:read"], "permission_removed": ["keys:read"]},
            None,
            ["events:read"],
        ),
        ({"permission_set": None}, None, []),
        ({"permission_set": None, "permission_added": ["keys:read"]}, None, ["keys:read"]),
    ],
)
def test_the_grant_of_an_invitation_of_each_age(
    client: FlaskClient,
    document: Document,
    key: Make,
    given: dict[str, Any],
    permission_set: str | None,
    permissions: list[str],
) -> None:
    answer = client.post(USERS, json={"email": new_email(), **given}, headers=key())
    row = document.require(answer, "POST", USERS)
    assert (row["permission_set"], row["permissions"]) == (permission_set, permissions)

"""Unusual requests to the routes of people and access, as foreign clients may send them."""

import secrets
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.support.app import Headers
from tests.support.people import new_email

Make = Callable[..., Headers]

USERS = "/v1/users"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"disabled": false}'])
def test_a_body_is_not_read_where_none_is_asked_for(
    client: FlaskClient, key: Make, body: bytes
) -> None:
    headers = key()
    sent: dict[str, Any] = {"headers": headers, "data": body, "content_type": "text/plain"}
    made = client.post(USERS, json={"email": new_email()}, headers=headers).get_json()
    assert client.delete(f"{USERS}/{made['id']}", **sent).status_code == 200
    assert client.post(f"{USERS}/{made['id']}/enable", **sent).status_code == 200
    # Nobody protects a key by sending the field.
    wanted = {"name": "n", "key": secrets.token_hex(20), "is_protected": True, "id": made["id"]}
    row = client.post("/v1/keys", json=wanted, headers=headers).get_json()
    assert (row["is_protected"], row["id"] == made["id"]) == (False, False)
    assert client.post(f"/v1/keys/{row['id']}/regenerate", **sent).status_code == 200
    assert client.post(f"/v1/keys/{row['id']}/disable", **sent).status_code == 200


def test_a_uuid_in_capitals_is_the_same_id(client: FlaskClient, key: Make) -> None:
    headers = key()
    made = client.post(USERS, json={"email": new_email()}, headers=headers).get_json()
    assert client.get(f"{USERS}/{made['id'].upper()}", headers=headers).get_json() == made

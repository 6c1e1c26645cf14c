"""Permission sets over HTTP: create, read, change for all of their members, and delete."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update
from werkzeug.test import TestResponse

from shared.access.permissions import BUILTIN_SETS
from shared.access.permissions.custom_sets.models import PermissionSet
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import ADMIN_KEY, Headers, bearer
from tests.support.people import acting_as, add_member, new_email, new_member
from tests.support.runtime import Org, make_org
from tests.web.users.api import disable, error, invite, mails, put, row_of

SETS = "/v1/permission-sets"


def make(client: FlaskClient, headers: Headers, **body: Any) -> TestResponse:
    """Sends POST /permission-sets, by default for `guests` with events:read."""
    body = {"name": "guests", "permissions": ["events:read"], **body}
    return client.post(SETS, json=body, headers=headers)


def edit(
    client: FlaskClient, headers: Headers, name: str = "guests", /, **body: Any
) -> TestResponse:
    """Sends PUT /permission-sets/{name}."""
    return client.put(f"{SETS}/{quote(name, safe='')}", json=body, headers=headers)


def get(client: FlaskClient, headers: Headers, name: str = "guests") -> TestResponse:
    """Sends GET /permission-sets/{name}."""
    return client.get(f"{SETS}/{quote(name, safe='')}", headers=headers)


def delete(client: FlaskClient, headers: Headers, name: str = "guests") -> TestResponse:
    """Sends DELETE /permission-sets/{name}."""
    return client.delete(f"{SETS}/{quote(name, safe='')}", headers=headers)


def test_built_in_sets_come_first_then_the_others_by_name(
    client: FlaskClient, admin: Headers
) -> None:
    for name in ("zebra", "ant", "mule"):
        assert make(client, admin, name=name).status_code == 201
    rows = client.get(SETS, headers=admin).get_json()
    assert [row["name"] for row in rows] == [
        "read-only", "standard", "admin", "ant", "mule", "zebra",
    ]  # fmt: skip
    assert [row["is_builtin"] for row in rows] == [True] * 3 + [False] * 3
    for row, builtin in zip(rows, BUILTIN_SETS.values(), strict=False):
        assert row["permissions"] == sorted(builtin.permissions)
    for row in rows:
        assert get(client, admin, row["name"]).get_json() == row


def test_a_made_set(client: FlaskClient, admin: Headers) -> None:
    made = make(
        client,
        admin,
        name="  night shift ",
        description="two\nlines",
        permissions=["queries:run", "events:read", "queries:run"],
    )
    assert made.status_code == 201
    assert made.get_json() == {
        "name": "night shift",
        "description": "two\nlines",
        "permissions": ["queries:run", "events:read"],
        "is_builtin": False,
        "user_count": 0,
    }
    assert make(client, admin, permissions=[]).get_json()["description"] == ""


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "  "),
        ("name", "n" * 65),
        ("name", "a\nb"),
        ("name", "a\x00b"),
        ("name", "."),
        ("name", ".."),
        ("name", 1),
        ("description", "a\x00b"),
        ("description", "d" * 1001),
        ("description", None),
        ("permissions", ["events:write"]),
        ("permissions", ["alerts:ack"]),
        ("permissions", "events:read"),
        ("permissions", None),
    ],
)
def test_bad_values_are_refused(
    client: FlaskClient, admin: Headers, field: str, value: object
) -> None:
    response = make(client, admin, **{field: value})
    assert error(response) == (422, "invalid")
    assert response.get_json()["fields"].keys() == {field}
    if field != "name":
        make(client, admin)
        response = edit(client, admin, **{field: value})
        assert response.get_json()["fields"].keys() == {field}


@pytest.mark.parametrize(
    "name", ["n", "a/b", "ä ö", "100%", "a?b#c", "%2F", "n" * 64, "'--", "a\\b"]
)
def test_a_name_may_hold_any_character(client: FlaskClient, admin: Headers, name: str) -> None:
    assert make(client, admin, name=name).status_code == 201
    assert get(client, admin, name).get_json()["name"] == name
    assert edit(client, admin, name, description="d").get_json()["description"] == "d"
    assert delete(client, admin, name).get_json() == {"affected_users": 0}


def test_names_are_unique_in_an_organization(
    client: FlaskClient, admin: Headers, runtime: Runtime
) -> None:
    assert make(client, admin).status_code == 201
    for name in ("guests", " guests ", "standard"):
        assert error(make(client, admin, name=name)) == (409, "set_exists")
    elsewhere = bearer(ADMIN_KEY, make_org(runtime).slug)
    assert get(client, elsewhere).status_code == 404
    assert make(client, elsewhere).status_code == 201


def test_of_many_sets_of_one_name_at_once_one_is_made(app: Flask, admin: Headers) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda _: make(app.test_client(), admin).status_code, range(8))
        assert sorted(answers) == [201] + [409] * 7


@pytest.mark.parametrize("name", ["nothing", "a\x00b", "n" * 65, " guests"])
def test_missing_resources_are_not_found(client: FlaskClient, admin: Headers, name: str) -> None:
    make(client, admin)
    for response in (
        get(client, admin, name),
        edit(client, admin, name, description="d"),
        delete(client, admin, name),
    ):
        assert error(response) == (404, "not_found")


@pytest.mark.parametrize("name", BUILTIN_SETS)
def test_built_in_sets_stay(client: FlaskClient, admin: Headers, name: str) -> None:
    before = get(client, admin, name).get_json()
    assert error(edit(client, admin, name, permissions=[])) == (409, "builtin_set")
    assert error(delete(client, admin, name)) == (409, "builtin_set")
    assert get(client, admin, name).get_json() == before


def test_an_edit_replaces_what_it_names(client: FlaskClient, admin: Headers) -> None:
    made = make(client, admin, description="visitors").get_json()
    for body, expected in (
        ({}, made),
        ({"name": "others"}, made),
        ({"permissions": ["agent:use"]}, {**made, "permissions": ["agent:use"]}),
        ({"description": ""}, {**made, "permissions": ["agent:use"], "description": ""}),
    ):
        response = edit(client, admin, **body)
        assert response.status_code == 200
        assert response.get_json() == expected == get(client, admin).get_json()


def test_an_edit_reaches_every_member_at_once(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org
) -> None:
    make(client, admin, permissions=["keys:read"])
    email = new_email()
    members = [
        new_member(runtime, org, permission_set="guests"),
        new_member(runtime, org, "events:read", permission_set="guests", email=email),
    ]
    others = new_member(runtime, org, "keys:read")
    for permissions, status in ((["agent:use"], 403), (["keys:read"], 200)):
        edit(client, admin, permissions=permissions)
        for headers in (*members, acting_as(email)):
            assert client.get("/v1/keys", headers=headers).status_code == status
        assert client.get("/v1/keys", headers=others).status_code == 200
        row = row_of(client, admin, email)
        assert row["permissions"] == sorted({"events:read", *permissions})


def test_an_edit_mails_the_members_whose_permissions_change(
    client: FlaskClient, runtime: Runtime, org: Org
) -> None:
    editor = new_member(runtime, org, permission_set="admin", email=(by := new_email()))
    make(client, editor, permissions=["keys:read", "agent:use"])
    guest, keeper, disabled, other = (new_email() for _ in range(4))
    add_member(runtime, org, permission_set="guests", email=guest)
    add_member(runtime, org, "keys:read", permission_set="guests", email=keeper)
    gone = add_member(runtime, org, permission_set="guests", email=disabled)
    disable(client, editor, str(gone))
    add_member(runtime, org, "keys:read", email=other)
    edit(client, editor, permissions=["agent:use"])
    [(kind, recipient, context)] = mails(runtime, org)
    assert (kind, recipient) == ("permissions_changed", guest)
    assert context == {
        "org_name": org.slug,
        "changed_by": by,
        "permissions": ["agent:use"],
        "gained": [],
        "lost": ["keys:read"],
    }
    edit(client, editor, description="visitors")
    edit(client, editor, permissions=["agent:use"])
    assert len(mails(runtime, org)) == 1
    edit(client, editor, permissions=["agent:use", "events:read"])
    told = mails(runtime, org)[1:]
    assert {recipient for _, recipient, _ in told} == {guest, keeper}
    assert [context["gained"] for _, _, context in told] == [["events:read"]] * 2


def test_a_refused_edit_sends_no_mail(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org
) -> None:
    make(client, admin)
    add_member(runtime, org, permission_set="guests", email=new_email())
    narrow = new_member(runtime, org, "settings:write")
    assert edit(client, narrow, permissions=["keys:read"]).status_code == 403
    assert mails(runtime, org) == []


def test_deleting_a_set_mails_the_members_whose_permissions_change(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org
) -> None:
    make(client, admin, permissions=["keys:read", "agent:use"])
    guest, keeper = new_email(), new_email()
    add_member(runtime, org, "events:read", permission_set="guests", email=guest)
    add_member(runtime, org, "keys:read", "agent:use", permission_set="guests", email=keeper)
    assert delete(client, admin).get_json() == {"affected_users": 2}
    [(kind, recipient, context)] = mails(runtime, org)
    assert (kind, recipient) == ("permissions_changed", guest)
    assert context["lost"] == ["agent:use", "keys:read"]
    assert context["permissions"] == ["events:read"]


def test_active_members_are_counted(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org
) -> None:
    make(client, admin)
    ids = [invite(client, admin, permission_set="guests").get_json()["id"] for _ in range(3)]
    invite(client, admin, permission_set=None)
    invite(client, bearer(ADMIN_KEY, make_org(runtime).slug))
    disable(client, admin, ids[0])
    put(client, admin, ids[1], permission_set="standard")
    rows = client.get(SETS, headers=admin).get_json()
    counts = {row["name"]: row["user_count"] for row in rows}
    assert counts == {"read-only": 0, "standard": 1, "admin": 0, "guests": 1}
    assert get(client, admin).get_json()["user_count"] == 1
    assert edit(client, admin, description="d").get_json()["user_count"] == 1


def test_members_of_a_deleted_set_have_none(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org
) -> None:
    make(client, admin, permissions=["keys:read"])
    elsewhere = bearer(ADMIN_KEY, make_org(runtime).slug)
    make(client, elsewhere)
    theirs = invite(client, elsewhere, permission_set="guests").get_json()
    email = new_email()
    headers = new_member(runtime, org, "events:read", permission_set="guests", email=email)
    disabled = invite(client, admin, permission_set="guests").get_json()
    disable(client, admin, disabled["id"])
    assert client.get("/v1/keys", headers=headers).status_code == 200
    deleted = delete(client, admin)
    assert (deleted.status_code, deleted.get_json()) == (200, {"affected_users": 2})
    assert client.get("/v1/keys", headers=headers).status_code == 403
    for address in (email, disabled["email"]):
        assert row_of(client, admin, address)["permission_set"] is None
    assert row_of(client, admin, email)["permissions"] == ["events:read"]
    assert error(get(client, admin)) == (404, "not_found")
    assert row_of(client, elsewhere, theirs["email"]) == theirs
    # A new set of that name has no members.
    make(client, admin, permissions=["keys:read"])
    assert client.get("/v1/keys", headers=headers).status_code == 403


def test_the_set_of_new_members_is_not_deleted(client: FlaskClient, admin: Headers) -> None:
    make(client, admin)
    path = "/v1/settings/default_user_permissions"
    client.put(path, json={"value": "guests"}, headers=admin)
    assert error(delete(client, admin)) == (409, "set_is_default")
    assert get(client, admin).status_code == 200
    client.put(path, json={"value": "standard"}, headers=admin)
    assert delete(client, admin).status_code == 200


def test_a_set_deleted_during_an_assignment_has_no_members(
    app: Flask, client: FlaskClient, admin: Headers
) -> None:
    """Otherwise a later set of that name would be given to them."""
    for _ in range(5):
        make(client, admin)
        with ThreadPoolExecutor(4) as pool:
            given = [
                pool.submit(invite, app.test_client(), admin, permission_set="guests")
                for _ in range(3)
            ]
            deleted = pool.submit(delete, app.test_client(), admin)
        assert deleted.result().status_code == 200
        assert {one.result().status_code for one in given} <= {201, 422}
        rows = client.get("/v1/users", headers=admin).get_json()
        assert {row["permission_set"] for row in rows} <= {None}


def test_sets_of_before_are_read_as_what_they_are_today(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org
) -> None:
    make(client, admin)
    of_old = ["alerts:ack", "events:read", "gone:long-ago", "incidents:ack"]
    with runtime.postgres.transaction() as session:
        session.execute(
            update(PermissionSet).where(PermissionSet.org_id == org.uuid).values(permissions=of_old)
        )
    assert get(client, admin).get_json()["permissions"] == ["incidents:ack", "events:read"]
    user_id = add_member(runtime, org, permission_set="guests")
    row = client.get(f"/v1/users/{user_id}", headers=admin).get_json()
    assert row["permissions"] == ["events:read", "incidents:ack"]


def test_reading_and_writing_are_two_permissions(
    client: FlaskClient, key: Callable[..., Headers]
) -> None:
    writer, reader = key("settings:write", "events:read"), key("users:read")
    assert make(client, writer).status_code == 201
    assert get(client, reader).status_code == 200
    assert get(client, writer).get_json()["required_permission"] == "users:read"
    for response in (make(client, reader), edit(client, reader), delete(client, reader)):
        assert response.get_json()["required_permission"] == "settings:write"

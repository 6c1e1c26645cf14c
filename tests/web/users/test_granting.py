"""Callers cannot grant permissions that they do not hold, to others or to themselves."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from shared.access.keys.rules import new_secret
from shared.access.permissions import BUILTIN_SETS
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import ADMIN_KEY, Headers, bearer
from tests.support.people import acting_as, add_member, new_email, signed_in
from tests.support.runtime import Org
from tests.web.users.api import enable, error, invite, put, refused_for, row_of

Make = Callable[..., Headers]


def new_set(client: FlaskClient, headers: Headers, *permissions: str) -> TestResponse:
    """Sends POST /permission-sets, named `made`."""
    body = {"name": "made", "permissions": list(permissions)}
    return client.post("/v1/permission-sets", json=body, headers=headers)


def edit_set(client: FlaskClient, headers: Headers, *permissions: str) -> TestResponse:
    """Sends PUT /permission-sets/made."""
    body = {"permissions": list(permissions)}
    return client.put("/v1/permission-sets/made", json=body, headers=headers)


def new_key(client: FlaskClient, headers: Headers, **body: Any) -> TestResponse:
    """Sends POST /keys."""
    body = {"name": new_secret()[:20], "key": new_secret(), **body}
    return client.post("/v1/keys", json=body, headers=headers)


@pytest.mark.parametrize("kind", ["key", "person"])
@pytest.mark.parametrize(
    "body",
    [
        {"permission_set": None, "permission_added": ["events:read", "queries:run"]},
        {"permissions": ["queries:run"]},
        {"permission_set": "made"},
    ],
)
def test_an_invitation_gives_what_the_caller_holds(
    client: FlaskClient, admin: Headers, key: Make, person: Make, kind: str, body: dict[str, Any]
) -> None:
    make = {"key": key, "person": person}[kind]
    assert new_set(client, admin, "events:read", "queries:run").status_code == 201
    caller = make("users:create", "events:read")
    assert refused_for(invite(client, caller, **body)) == "queries:run"
    without = invite(client, caller, **body, permission_removed=["queries:run"])
    assert without.status_code == 201
    assert "queries:run" not in without.get_json()["permissions"]
    assert (
        invite(client, make("users:create", "events:read", "queries:run"), **body).status_code
        == 201
    )


def test_the_default_set_is_a_grant_too(client: FlaskClient, key: Make) -> None:
    assert refused_for(invite(client, key("users:create"))) == "events:read"
    standard = BUILTIN_SETS["standard"].permissions
    assert invite(client, key("users:create", *standard)).status_code == 201


def test_only_what_is_gained_is_asked_for(client: FlaskClient, admin: Headers, key: Make) -> None:
    """A caller can change a member with more permissions, as long as the change adds none."""
    row = invite(client, admin, permission_set="admin").get_json()
    caller = key("users:update", "events:add")
    less = {"permission_set": "admin", "permission_removed": ["queries:run", "events:add"]}
    assert put(client, caller, row["id"], **less).status_code == 200
    # Undoing a removal adds a permission: once one that the caller holds, once another one.
    less["permission_removed"] = ["queries:run"]
    assert put(client, caller, row["id"], **less).status_code == 200
    less["permission_removed"] = []
    assert refused_for(put(client, caller, row["id"], **less)) == "queries:run"
    other = {"permission_added": ["users:read", "users:create"]}
    assert put(client, caller, row["id"], **other).status_code == 200
    assert refused_for(put(client, caller, row["id"], permission_set="admin")) == "events:read"
    left = client.get(f"/v1/users/{row['id']}", headers=admin).get_json()["permissions"]
    assert left == ["users:create", "users:read"]


def test_members_cannot_grant_themselves_more(
    client: FlaskClient, admin: Headers, person: Make
) -> None:
    email = new_email()
    assert (
        new_set(client, admin, "users:update", "settings:write", "events:read").status_code == 201
    )
    headers = person(permission_set="made", email=email)
    user_id = row_of(client, admin, email)["id"]
    for who in (headers, acting_as(email)):
        for given in (
            {"permission_set": "admin"},
            {"permission_set": "made", "permission_added": ["queries:run"]},
            {"permission_added": ["orgs:admin"]},
        ):
            assert put(client, who, user_id, **given).status_code == 403
        wider = ("users:update", "settings:write", "events:read", "queries:run")
        assert refused_for(edit_set(client, who, *wider)) == "queries:run"
        new_name = {"name": "wider", "permissions": ["queries:run"]}
        answer = client.post("/v1/permission-sets", json=new_name, headers=who)
        assert refused_for(answer) == "queries:run"
    assert row_of(client, admin, email)["permissions"] == [
        "events:read",
        "settings:write",
        "users:update",
    ]
    # Everybody may choose less, and cannot undo it.
    less = ("users:update", "settings:write")
    assert edit_set(client, headers, *less).status_code == 200
    assert refused_for(edit_set(client, headers, *less, "events:read")) == "events:read"


def test_a_removed_permission_cannot_be_restored(
    client: FlaskClient, runtime: Runtime, org: Org, admin: Headers
) -> None:
    email = new_email()
    user_id = add_member(runtime, org, email=email)
    taken = {"permission_set": "admin", "permission_removed": ["keys:create"]}
    assert put(client, admin, str(user_id), **taken).status_code == 200
    headers = signed_in(runtime, user_id)
    for given in (
        {"permission_set": "admin"},
        {"permission_set": "admin", "permission_removed": ["keys:read"]},
        {"permission_added": ["keys:create"]},
    ):
        assert refused_for(put(client, headers, str(user_id), **given)) == "keys:create"
    # An ineffective entry adds nothing, and does not take effect later.
    hidden = {**taken, "permission_added": ["keys:create"]}
    assert put(client, headers, str(user_id), **hidden).status_code == 200
    hidden["permission_removed"] = []
    assert refused_for(put(client, headers, str(user_id), **hidden)) == "keys:create"


def test_no_route_grants_instance_administration(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org, person: Make
) -> None:
    """403 without it, 422 with it. A member who has it keeps it through a change."""
    user_id = add_member(runtime, org, "orgs:admin", permission_set="admin")
    instance_admin = signed_in(runtime, user_id)
    for headers, status in ((admin, 403), (person(), 403), (instance_admin, 422)):
        answers = [
            invite(client, headers, permission_added=["orgs:admin"]),
            new_set(client, headers, "orgs:admin"),
        ]
        assert [answer.status_code for answer in answers] == [status] * 2
        if status == 403:
            assert [refused_for(answer) for answer in answers] == ["orgs:admin"] * 2
    kept = put(
        client, admin, str(user_id), permission_set="standard", permission_added=["orgs:admin"]
    )
    assert kept.status_code == 200
    assert "orgs:admin" in kept.get_json()["permissions"]


def test_keys_update_is_not_ruled(client: FlaskClient, key: Make) -> None:
    """No key can hold it.

    Checked like others, it would keep every key from making an administrator.
    """
    caller = key("users:create", "settings:write")
    given = {"permission_set": None, "permission_added": ["keys:update"]}
    assert invite(client, caller, **given).status_code == 201
    assert new_set(client, caller, "keys:update").status_code == 201


def test_a_set_is_given_by_who_holds_all_of_it(
    client: FlaskClient, admin: Headers, key: Make
) -> None:
    row = invite(client, admin, permission_set=None).get_json()
    assert new_set(client, admin, "events:read", "queries:run").status_code == 201
    caller = key("users:update", "events:read")
    assert refused_for(put(client, caller, row["id"], permission_set="made")) == "queries:run"
    for removed, status in ((["queries:run"], 200), ([], 403)):
        given = {"permission_set": "made", "permission_removed": removed}
        assert put(client, caller, row["id"], **given).status_code == status


def test_no_key_makes_a_wider_one(client: FlaskClient, admin: Headers, key: Make) -> None:
    assert new_set(client, admin, "events:read", "queries:run").status_code == 201
    caller = key("keys:create", "keys:regenerate", "events:read")
    assert refused_for(new_key(client, caller, permission_set="made")) == "queries:run"
    assert refused_for(new_key(client, caller, permission_set="admin")) == "events:add"
    own = new_key(client, caller, permissions=["events:read"]).get_json()
    assert client.post(f"/v1/keys/{own['id']}/regenerate", headers=caller).status_code == 200
    # The new secret of a key with more permissions would be as good as the key.
    wider = new_key(client, admin, permission_set="made").get_json()
    answer = client.post(f"/v1/keys/{wider['id']}/regenerate", headers=caller)
    assert refused_for(answer) == "queries:run"


def test_a_person_makes_keys_of_what_the_person_holds(client: FlaskClient, person: Make) -> None:
    headers = person("keys:create", "keys:update", "keys:read", "events:read")
    assert refused_for(new_key(client, headers, permissions=["events:add"])) == "events:add"
    row = new_key(client, headers, permissions=["events:read"]).get_json()
    path = f"/v1/keys/{row['id']}"
    for permissions, missing in (
        (["events:read", "queries:run"], "queries:run"),
        (["keys:disable"], "keys:disable"),
    ):
        answer = client.patch(path, json={"permissions": permissions}, headers=headers)
        assert refused_for(answer) == missing
    answer = client.patch(path, json={"permissions": ["keys:read"]}, headers=headers)
    assert answer.get_json()["permissions"] == ["keys:read"]


def test_enabling_gives_back_what_others_gave(
    client: FlaskClient, admin: Headers, key: Make
) -> None:
    """Enabling grants nothing new: it can undo an administrator's accidental removal."""
    row = invite(client, admin, permission_set="admin").get_json()
    caller = key("users:delete")
    assert client.delete(f"/v1/users/{row['id']}", headers=caller).status_code == 200
    assert enable(client, caller, row["id"]).get_json()["permissions"] == row["permissions"]


def test_people_act_for_an_organization_of_theirs(
    client: FlaskClient, admin: Headers, person: Make
) -> None:
    headers = {**person(), "X-Service-Org": "default"}
    for answer in (invite(client, headers), new_set(client, headers, "events:read")):
        assert error(answer) == (403, "foreign_org")
    assert client.get("/v1/permission-sets/made", headers=bearer(ADMIN_KEY)).status_code == 404

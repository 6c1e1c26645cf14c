"""PUT, DELETE and enable: a member's permissions from the next request on."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import update

from shared.access.permissions import BUILTIN_SETS
from shared.access.users import Membership, operator
from shared.foundation.cache import at_once
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import ADMIN_KEY, Headers, bearer
from tests.support.people import acting_as, add_member, new_email, new_member, signed_in
from tests.support.runtime import Org, make_org
from tests.web.users.api import disable, enable, error, invite, mails, put, row_of

Person = Callable[..., Headers]

KEYS = "/v1/keys"


def test_put_replaces_all_three(client: FlaskClient, admin: Headers) -> None:
    given = {
        "permission_set": "read-only",
        "permission_added": ["queries:run"],
        "permission_removed": ["keys:read"],
    }
    row = invite(client, admin, **given).get_json()
    changed = put(client, admin, row["id"], permission_added=["agent:use"]).get_json()
    expected = {
        **row,
        "permission_set": None,
        "permission_added": ["agent:use"],
        "permission_removed": [],
        "permissions": ["agent:use"],
        "updated_at": changed["updated_at"],
    }
    assert changed == expected == client.get(f"/v1/users/{row['id']}", headers=admin).get_json()
    assert changed["updated_at"] > row["updated_at"]
    assert put(client, admin, row["id"]).get_json()["permissions"] == []
    again = put(client, admin, row["id"], **given).get_json()
    assert again["permissions"] == row["permissions"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("permission_set", "no such set"),
        ("permission_set", 1),
        ("permission_added", ["events:write"]),
        ("permission_removed", ["alerts:ack"]),
        ("permission_removed", "events:read"),
    ],
)
def test_bad_values_are_refused(
    client: FlaskClient, admin: Headers, field: str, value: object
) -> None:
    row = invite(client, admin).get_json()
    response = put(client, admin, row["id"], **{field: value})
    assert error(response) == (422, "invalid")
    assert next(iter(response.get_json()["fields"])).partition(".")[0] == field
    assert client.get("/v1/users", headers=admin).get_json() == [row]


def test_a_change_holds_from_the_next_request_on_without_signing_in_again(
    client: FlaskClient, admin: Headers, person: Person
) -> None:
    email = new_email()
    headers = person("keys:read", email=email)
    user_id = row_of(client, admin, email)["id"]
    for given, status in (([], 403), (["keys:read"], 200), (["events:read"], 403)):
        put(client, admin, user_id, permission_added=given)
        for who in (headers, acting_as(email)):
            assert client.get(KEYS, headers=who).status_code == status


def test_a_change_is_mailed_when_it_is_one(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org
) -> None:
    email = new_email()
    add_member(runtime, org, "events:read", "keys:read", email=email)
    user_id = row_of(client, admin, email)["id"]
    # Another spelling of the same grant, and the removal of a permission that is not held.
    same = {"permission_added": ["keys:read", "events:read"], "permission_removed": ["queries:run"]}
    assert put(client, admin, user_id, **same).status_code == 200
    assert mails(runtime, org) == []
    put(client, admin, user_id, permission_added=["events:read", "agent:use"])
    [(kind, recipient, context)] = mails(runtime, org)
    assert (kind, recipient) == ("permissions_changed", email)
    assert context == {
        "org_name": org.slug,
        "changed_by": "admin",
        "permissions": ["agent:use", "events:read"],
        "gained": ["agent:use"],
        "lost": ["keys:read"],
    }


def test_a_disabled_user_is_out_at_once_and_signed_out_for_good(
    client: FlaskClient, admin: Headers, person: Person
) -> None:
    email = new_email()
    headers = person("keys:read", email=email)
    row = row_of(client, admin, email)
    assert client.get(KEYS, headers=headers).status_code == 200
    disabled = disable(client, admin, row["id"])
    assert disabled.status_code == 200
    told = disabled.get_json()
    changed = {"disabled_at": told["disabled_at"], "updated_at": told["updated_at"]}
    assert told == {**row, **changed}
    assert told["updated_at"] == told["disabled_at"] > row["updated_at"]
    assert client.get(KEYS, headers=headers).status_code == 401
    assert error(client.get(KEYS, headers=acting_as(email))) == (403, "actor_not_member")
    assert client.get("/v1/users", headers=admin).get_json() == [told]
    assert error(disable(client, admin, row["id"])) == (409, "user_disabled")
    assert error(put(client, admin, row["id"])) == (409, "user_disabled")
    enabled = enable(client, admin, row["id"]).get_json()
    assert enabled == {**row, "updated_at": enabled["updated_at"]}
    assert error(enable(client, admin, row["id"])) == (409, "user_enabled")
    assert client.get(KEYS, headers=acting_as(email)).status_code == 200
    # The earlier session stays closed.
    assert client.get(KEYS, headers=headers).status_code == 401


def test_a_member_disabled_in_one_organization_stays_in_the_others(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org
) -> None:
    email, other = new_email(), make_org(runtime)
    user_id = add_member(runtime, org, "keys:read", email=email)
    add_member(runtime, other, "keys:read", email=email)
    headers = signed_in(runtime, user_id, other.slug)
    assert client.get(KEYS, headers=headers).status_code == 200
    disable(client, admin, str(user_id))
    # Only one organization is left, so the request does not have to name it.
    for one in (headers, signed_in(runtime, user_id)):
        assert client.get(KEYS, headers=one).status_code == 200
    assert error(client.get(KEYS, headers=signed_in(runtime, user_id, org.slug))) == (
        403,
        "foreign_org",
    )
    assert row_of(client, bearer(ADMIN_KEY, other.slug), email)["disabled_at"] is None
    # The session stays closed for the organization that ended it.
    enable(client, admin, str(user_id))
    of_both = {**headers, "X-Service-Org": org.slug}
    assert error(client.get(KEYS, headers=of_both)) == (403, "foreign_org")
    assert client.get(KEYS, headers=signed_in(runtime, user_id, org.slug)).status_code == 200


def test_each_organization_has_its_own_permissions_of_an_account(
    client: FlaskClient, runtime: Runtime, org: Org
) -> None:
    email, other = new_email(), make_org(runtime)
    user_id = add_member(runtime, org, "keys:read", email=email)
    add_member(runtime, other, permission_set="standard", email=email)
    ours, theirs = (signed_in(runtime, user_id, one.slug) for one in (org, other))
    assert client.get(KEYS, headers=ours).status_code == 200
    assert client.get("/v1/users", headers=ours).status_code == 403
    users = client.get("/v1/users", headers=theirs).get_json()
    assert [row["permissions"] for row in users] == [sorted(BUILTIN_SETS["standard"].permissions)]
    elsewhere = bearer(ADMIN_KEY, other.slug)
    assert put(client, elsewhere, str(user_id)).get_json()["permissions"] == []
    assert client.get("/v1/users", headers=theirs).status_code == 403
    assert client.get(KEYS, headers=ours).status_code == 200


def test_protected_users_stay(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org
) -> None:
    user_id = add_member(runtime, org, permission_set="standard")
    with runtime.postgres.transaction() as session:
        session.execute(
            update(Membership).where(Membership.user_id == user_id).values(is_protected=True)
        )
    row = client.get(f"/v1/users/{user_id}", headers=admin).get_json()
    assert row["is_protected"] is True
    for response in (
        put(client, admin, row["id"], permission_set="standard"),
        disable(client, admin, row["id"]),
    ):
        assert error(response) == (403, "protected_user")
    assert client.get("/v1/users", headers=admin).get_json() == [row]


def test_a_member_protected_while_disabled_stays_disabled(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org
) -> None:
    """An operator protects a member to keep its state."""
    row = invite(client, admin, permission_set="admin").get_json()
    disabled = disable(client, admin, row["id"]).get_json()
    with runtime.postgres.transaction() as session:
        operator.protect(session, org.uuid, row["email"], is_protected=True)
    assert error(enable(client, admin, row["id"])) == (403, "protected_user")
    assert row_of(client, admin, row["email"])["disabled_at"] == disabled["disabled_at"]
    with at_once(runtime.postgres, runtime.redis) as session:
        operator.change(session, org.uuid, row["email"], operator.Change(enable=True))
    assert row_of(client, admin, row["email"])["disabled_at"] is None


def test_users_of_others_are_not_there(
    client: FlaskClient, admin: Headers, runtime: Runtime
) -> None:
    foreign = add_member(runtime, make_org(runtime))
    for user_id in (str(foreign), str(new_id()), "1", str(foreign).replace("-", "")):
        answers: list[Any] = [
            client.get(f"/v1/users/{user_id}", headers=admin),
            put(client, admin, user_id),
            disable(client, admin, user_id),
            enable(client, admin, user_id),
        ]
        assert [error(answer) for answer in answers] == [(404, "not_found")] * 4
    assert client.get("/v1/users", headers=admin).get_json() == []


def test_users_are_listed_by_address(client: FlaskClient, admin: Headers) -> None:
    emails = [invite(client, admin).get_json()["email"] for _ in range(4)]
    disable(client, admin, row_of(client, admin, emails[1])["id"])
    rows = client.get("/v1/users", headers=admin).get_json()
    assert [row["email"] for row in rows] == sorted(emails)


def test_grants_of_before_are_read_as_what_they_are_today(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org
) -> None:
    user_id = add_member(runtime, org, "alerts:ack", "gone:long-ago", "events:read")
    row = client.get(f"/v1/users/{user_id}", headers=admin).get_json()
    assert row["permission_added"] == ["incidents:ack", "events:read"]
    assert row["permissions"] == ["events:read", "incidents:ack"]


def test_access_granters_are_active_members_who_can_update_users(
    client: FlaskClient, admin: Headers, key: Person, runtime: Runtime, org: Org
) -> None:
    emails = sorted(new_email() for _ in range(53))
    for email in emails:
        add_member(runtime, org, "users:update", email=email)
    disable(client, admin, row_of(client, admin, emails[0])["id"])
    put(client, admin, row_of(client, admin, emails[1])["id"], permission_set="read-only")
    new_member(runtime, make_org(runtime))
    # Any credential of the organization will do, whatever its permissions.
    for headers in (key("events:add"), new_member(runtime, org, "events:add")):
        told = client.get("/v1/access-granters", headers=headers).get_json()
        assert [row["email"] for row in told] == emails[2:52]

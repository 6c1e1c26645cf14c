"""POST /users: the new member, its grant, and its mail."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from shared.access.mail.models import Mail
from shared.access.permissions import BUILTIN_SETS
from shared.foundation.core.clock import now
from shared.foundation.deployment.runtime import Runtime
from tests.support.alerts import SPECS
from tests.support.app import ADMIN_KEY, Headers, bearer
from tests.support.people import acting_as, add_member, new_email, signed_in
from tests.support.runtime import Org, make_org
from tests.web.users.api import disable, error, invite, mails, put, row_of
from web.app import create_app
from web.state import state

STANDARD = sorted(BUILTIN_SETS["standard"].permissions)
READ_ONLY = sorted(BUILTIN_SETS["read-only"].permissions)

Person = Callable[..., Headers]


@pytest.mark.parametrize(
    ("body", "permission_set", "added", "permissions"),
    [
        ({}, "standard", [], STANDARD),
        ({"permission_set": "read-only"}, "read-only", [], READ_ONLY),
        ({"permission_set": None}, None, [], []),
        ({"permissions": ["queries:run"]}, None, ["queries:run"], ["queries:run"]),
        ({"permissions": []}, None, [], []),
        (
            {"permissions": ["events:read"], "permission_set": None},
            None,
            ["events:read"],
            ["events:read"],
        ),
        (
            {"permission_set": None, "permission_added": ["keys:read"]},
            None,
            ["keys:read"],
            ["keys:read"],
        ),
        (
            {"permissions": ["events:read", "keys:read"], "permission_removed": ["keys:read"]},
            None,
            ["events:read", "keys:read"],
            ["events:read"],
        ),
        (
            {"permissions": ["queries:run"], "permission_added": ["events:add", "queries:run"]},
            None,
            ["queries:run", "events:add"],
            ["events:add", "queries:run"],
        ),
        (
            {"permissions": ["events:add"], "permission_set": "standard"},
            "standard",
            ["events:add"],
            sorted([*STANDARD, "events:add"]),
        ),
        (
            {"permission_added": ["keys:update"]},
            "standard",
            ["keys:update"],
            sorted([*STANDARD, "keys:update"]),
        ),
    ],
)
def test_the_grant_of_a_member(
    client: FlaskClient,
    admin: Headers,
    body: dict[str, Any],
    permission_set: str | None,
    added: list[str],
    permissions: list[str],
) -> None:
    row = invite(client, admin, **body).get_json()
    assert (row["permission_set"], row["permission_added"]) == (permission_set, added)
    assert row["permissions"] == permissions


def test_a_removed_permission_is_not_granted(client: FlaskClient, admin: Headers) -> None:
    removed = ["queries:run", "agent:use", "queries:run"]
    row = invite(client, admin, permission_removed=removed).get_json()
    assert row["permission_removed"] == ["queries:run", "agent:use"]
    assert set(row["permissions"]) == set(STANDARD) - set(removed)


def test_the_address_has_one_form(client: FlaskClient, admin: Headers) -> None:
    email = new_email()
    row = invite(client, admin, email=f" {email.upper()} ").get_json()
    assert row["email"] == email
    assert error(invite(client, admin, email=email.title())) == (409, "user_exists")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("email", "nobody"),
        ("email", ""),
        ("email", "a b@example.com"),
        ("email", "a\x00@example.com"),
        ("email", "a@example.com\nBcc: b@example.com"),
        ("email", None),
        ("permission_set", "no such set"),
        ("permission_set", "a\x00b"),
        ("permission_set", ""),
        ("permission_added", ["events:write"]),
        ("permission_added", ["alerts:ack"]),
        ("permission_added", None),
        ("permission_removed", ["a\x00b"]),
        ("permissions", ["events:write"]),
        ("permissions", "events:read"),
        ("permissions", None),
    ],
)
def test_bad_values_are_refused(
    client: FlaskClient, admin: Headers, field: str, value: object
) -> None:
    response = invite(client, admin, **{field: value})
    assert error(response) == (422, "invalid")
    name = next(iter(response.get_json()["fields"]))
    assert name.partition(".")[0] == field
    assert client.get("/v1/users", headers=admin).get_json() == []


def test_an_invitation_is_mailed_with_the_name_of_who_sent_it(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org, person: Person
) -> None:
    host, first, second = (new_email() for _ in range(3))
    assert invite(client, person(email=host), email=first).status_code == 201
    assert invite(client, acting_as(host, org.slug), email=second).status_code == 201
    third = invite(client, admin).get_json()["email"]
    assert mails(runtime, org) == [
        ("invitation", first, {"org_name": org.slug, "invited_by": host}),
        ("invitation", second, {"org_name": org.slug, "invited_by": host}),
        ("invitation", third, {"org_name": org.slug, "invited_by": "A key"}),
    ]


def test_an_organization_sends_so_many_mails_a_day(web_runtime: Runtime) -> None:
    settings = msgspec.structs.replace(web_runtime.settings, org_mails_per_day=2)
    app = create_app(replace(web_runtime, settings=settings))
    org = make_org(web_runtime)
    client, own = app.test_client(), bearer(ADMIN_KEY, org.slug)
    assert [invite(client, own).status_code for _ in range(2)] == [201, 201]
    refused = invite(client, own)
    assert error(refused) == (429, "mails_used_up")
    member, sent = client.get("/v1/users", headers=own).get_json()[0]["id"], mails(web_runtime, org)
    for permission_set in ("admin", "read-only"):
        # Mails must not keep anybody from taking access away.
        assert put(client, own, member, permission_set=permission_set).status_code == 200
    assert mails(web_runtime, org) == sent
    assert 86_300 < int(refused.headers["Retry-After"]) <= 86_400
    channels = [{"kind": "email", "recipients": [new_email()]}]
    rule = {"name": "any", "trigger_kind": "per_event", "trigger_spec": SPECS["per_event"]}
    alert = client.post("/v1/alerts", json={**rule, "channels": channels}, headers=own)
    assert alert.status_code == 201, alert.get_json()
    tested = client.post(f"/v1/alerts/{alert.get_json()['id']}/test", headers=own, json={})
    assert error(tested) == (429, "mails_used_up")
    with web_runtime.postgres.transaction() as session:
        age = update(Mail).where(Mail.org_id == org.uuid)
        session.execute(age.values(created_at=now() - timedelta(days=1)))
    assert invite(client, own).status_code == 201
    with app.app_context():
        state().queries.close()


def test_nothing_is_mailed_for_an_invitation_that_is_refused(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org, key: Person
) -> None:
    assert invite(client, admin, permission_set="none").status_code == 422
    assert invite(client, key("users:create")).status_code == 403
    assert mails(runtime, org) == []
    assert client.get("/v1/users", headers=admin).get_json() == []


def test_a_member_is_not_invited_twice(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org
) -> None:
    row = invite(client, admin).get_json()
    assert error(invite(client, admin, email=row["email"])) == (409, "user_exists")
    # The answer does not show other memberships of the account.
    elsewhere = bearer(ADMIN_KEY, make_org(runtime).slug)
    disable(client, elsewhere, invite(client, elsewhere, email=row["email"]).get_json()["id"])
    assert error(invite(client, admin, email=row["email"])) == (409, "user_exists")
    disable(client, admin, row["id"])
    assert error(invite(client, admin, email=row["email"])) == (409, "user_disabled")
    assert len(mails(runtime, org)) == 1


def test_an_account_of_another_organization_looks_like_a_new_one(
    client: FlaskClient, admin: Headers, runtime: Runtime
) -> None:
    """Otherwise an invitation would reveal other memberships of an address."""
    email = new_email()
    elsewhere = bearer(ADMIN_KEY, make_org(runtime).slug)
    theirs = invite(client, elsewhere, email=email, permission_set="read-only").get_json()
    known, fresh = invite(client, admin, email=email), invite(client, admin)
    assert known.status_code == fresh.status_code == 201
    row, other = known.get_json(), fresh.get_json()
    own = {"id", "email", "created_at", "updated_at"}
    assert {name: row[name] for name in row.keys() - own} == {
        name: other[name] for name in other.keys() - own
    }
    # The times are those of the membership, not of the account.
    assert row["created_at"] > theirs["updated_at"]
    assert row_of(client, elsewhere, email) == theirs


def test_of_many_invitations_at_once_one_counts(
    app: Flask, admin: Headers, runtime: Runtime, org: Org
) -> None:
    email = new_email()
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(lambda _: invite(app.test_client(), admin, email=email).status_code, range(8))
        )
    assert sorted(answers) == [201] + [409] * 7
    assert len(mails(runtime, org)) == 1


def test_a_second_organization_is_noticed_at_once(
    client: FlaskClient, runtime: Runtime, org: Org
) -> None:
    """A session without X-Service-Org needs the header, once the person uses the second one."""
    email, other = new_email(), make_org(runtime)
    headers = signed_in(runtime, add_member(runtime, org, "keys:read", email=email))
    assert client.get("/v1/keys", headers=headers).status_code == 200
    elsewhere = bearer(ADMIN_KEY, other.slug)
    assert invite(client, elsewhere, email=email, permissions=["keys:read"]).status_code == 201
    assert client.get("/v1/keys", headers=headers).status_code == 200
    for slug in (other.slug, org.slug):
        named = {**headers, "X-Service-Org": slug}
        assert client.get("/v1/keys", headers=named).status_code == 200
    assert error(client.get("/v1/keys", headers=headers)) == (422, "org_required")


def test_the_default_set_is_the_one_that_is_set(
    client: FlaskClient, admin: Headers, runtime: Runtime
) -> None:
    body = {"name": "guests", "permissions": ["events:read"]}
    assert client.post("/v1/permission-sets", json=body, headers=admin).status_code == 201
    path = "/v1/settings/default_user_permissions"
    assert client.put(path, json={"value": "guests"}, headers=admin).status_code == 200
    told = client.get("/v1/users/defaults", headers=admin).get_json()
    assert told == {"permission_set": "guests", "permissions": ["events:read"]}
    row = invite(client, admin).get_json()
    assert (row["permission_set"], row["permissions"]) == ("guests", ["events:read"])
    elsewhere = bearer(ADMIN_KEY, make_org(runtime).slug)
    told = client.get("/v1/users/defaults", headers=elsewhere).get_json()
    assert told == {"permission_set": "standard", "permissions": STANDARD}

"""Sign-in: four routes, by mail, cookie, bearer and proxy."""

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import AGENT_API_KEY, Headers, bearer
from tests.support.people import acting_as, add_member, new_email, signed_in
from tests.support.runtime import Org, make_org
from tests.support.sign_in import Visitor, new_code, other_than

SESSION = "/v1/auth/session"


@pytest.fixture
def visitor(app: Flask) -> Visitor:
    """A new browser without cookies."""
    return Visitor.of(app)


def test_sign_in_from_its_code_to_its_end(runtime: Runtime, org: Org, visitor: Visitor) -> None:
    email = new_email()
    user_id = add_member(runtime, org, email=email)
    for address in (email, new_email()):
        assert visitor.ask(address).get_json() == {"sent": True}
    wrong = visitor.enter(email, other_than(new_code(runtime, email)))
    assert wrong.status_code == 401
    opened = visitor.enter(email, new_code(runtime, email)).get_json()
    assert opened == {"user": {"id": str(user_id), "email": email}, "expires_in_secs": 86400}
    told = visitor.session().get_json()
    assert (told["id"], told["email"], told["is_instance_admin"]) == (str(user_id), email, False)
    [membership] = told["memberships"]
    assert membership["permissions"] == sorted(membership["permissions"])
    assert "users:update" in membership["permissions"]
    assert {name: membership[name] for name in membership if name != "permissions"} == {
        "org_id": org.id,
        "org_slug": org.slug,
        "org_name": org.slug,
        "permission_set": "admin",
        "is_pending": False,
        "feature_flags": [],
    }
    assert visitor.leave().get_json() == {"ok": True}
    assert visitor.session().status_code == 401


def test_an_address_gets_five_codes_and_a_client_ten_tries(visitor: Visitor) -> None:
    email = new_email()
    answers = [visitor.ask(email) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    tries = [visitor.enter(email, "000000") for _ in range(11)]
    assert [answer.status_code for answer in tries] == [401] * 10 + [429]


def test_a_cookie_opens_what_the_members_permissions_open(
    runtime: Runtime, org: Org, visitor: Visitor
) -> None:
    email = new_email()
    add_member(runtime, org, "keys:read", email=email)
    visitor.sign_in(runtime, email)
    assert visitor.client.get("/v1/keys").status_code == 200
    refused = visitor.client.get("/v1/events")
    assert refused.status_code == 403
    assert refused.get_json()["required_permission"] == "events:read"


def test_a_session_describes_itself_to_its_holder(
    runtime: Runtime, client: FlaskClient, org: Org, key: Callable[..., Headers]
) -> None:
    """A session's token, and an instance key for its member. No organization has to be named."""
    email = new_email()
    second = make_org(runtime)
    user_id = add_member(runtime, org, email=email)
    add_member(runtime, second, "events:read", email=email)
    told = [
        client.get(SESSION, headers=headers)
        for headers in (
            signed_in(runtime, user_id),
            acting_as(email),
            acting_as(f" {email.upper()}", org.slug),
        )
    ]
    assert [answer.status_code for answer in told] == [200] * 3
    assert told[0].get_json() == told[1].get_json() == told[2].get_json()
    memberships = told[0].get_json()["memberships"]
    assert [one["org_slug"] for one in memberships] == sorted([org.slug, second.slug])
    of_second = next(one for one in memberships if one["org_slug"] == second.slug)
    assert (of_second["permissions"], of_second["permission_set"]) == (["events:read"], None)
    assert client.get("/v1/keys", headers=signed_in(runtime, user_id)).status_code == 422
    bare: tuple[Headers, ...] = (
        {},
        key(),
        bearer("nobodys-secret-at-all"),
        {**key(), "X-Service-Actor": email},
    )
    assert [client.get(SESSION, headers=headers).status_code for headers in bare] == [401] * 4
    assert client.get(SESSION, headers=acting_as(new_email())).status_code == 403


def test_a_key_shows_no_more_than_it_lends(runtime: Runtime, client: FlaskClient, org: Org) -> None:
    email = new_email()
    add_member(runtime, org, "events:read", "keys:read", "orgs:admin", email=email)
    headers = {**bearer(AGENT_API_KEY), "X-Service-Actor": email}
    told = client.get(SESSION, headers=headers).get_json()
    assert told["is_instance_admin"] is False
    assert told["memberships"][0]["permissions"] == ["events:read"]


def test_orgs_admin_in_any_organization_administers_the_instance(
    runtime: Runtime, client: FlaskClient, org: Org
) -> None:
    email = new_email()
    add_member(runtime, org, "orgs:admin", email=email)
    user_id = add_member(runtime, make_org(runtime), "events:read", email=email)
    for headers in (signed_in(runtime, user_id), acting_as(email)):
        assert client.get(SESSION, headers=headers).get_json()["is_instance_admin"] is True

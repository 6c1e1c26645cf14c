"""X-Service-Actor: a dashboard acts for its members with one key of the instance."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from flask.testing import FlaskClient
from sqlalchemy import update

from shared.access.identity.bootstrap import ASSISTANT_PERMISSIONS
from shared.access.keys.models import ApiKey
from shared.access.organizations import get
from shared.access.permissions import ADMIN_SET
from shared.access.users.sign_in.models import SignInSession
from shared.foundation.cache import at_once
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import AGENT_API_KEY, Headers, bearer
from tests.support.people import acting_as, add_member, new_email, new_member, signed_in
from tests.support.runtime import Org, make_org
from tests.web.users.api import disable, error, invite, mails, row_of

Make = Callable[..., Headers]


@pytest.fixture
def default_org(runtime: Runtime) -> Org:
    """The default organization of instance keys."""
    with runtime.postgres.transaction() as session:
        found = get(session, "default")
        assert found is not None
        return Org(found.id, found.slug)


def test_the_permissions_are_the_members(client: FlaskClient, org: Org, person: Make) -> None:
    email = new_email()
    own = person("keys:read", email=email)
    for headers in (own, acting_as(email), acting_as(f" {email.upper()} ", org.slug)):
        assert client.get("/v1/keys", headers=headers).status_code == 200
        refused = client.get("/v1/events", headers=headers)
        assert refused.status_code == 403
        assert refused.get_json()["required_permission"] == "events:read"


def test_changes_are_attributed_to_the_member(
    client: FlaskClient, runtime: Runtime, org: Org
) -> None:
    email = new_email()
    add_member(runtime, org, email=email)
    headers = acting_as(email, org.slug)
    assert invite(client, headers).status_code == 201
    [(_, _, context)] = mails(runtime, org)
    assert context["invited_by"] == email
    path = "/v1/settings/otp_ttl_secs"
    changed = client.put(path, json={"value": 300}, headers=headers).get_json()
    assert changed["updated_by"] == email


def test_routes_for_people_are_open_to_an_actor(
    client: FlaskClient, runtime: Runtime, org: Org, admin: Headers
) -> None:
    path = "/v1/agent/conversations"
    assert error(client.get(path, headers=admin)) == (403, "user_required")
    email = new_email()
    add_member(runtime, org, "agent:use", email=email)
    assert client.get(path, headers=acting_as(email)).status_code == 200


@pytest.mark.parametrize("actor", ["known", "unknown"])
def test_keys_of_organizations_and_sessions_act_as_no_member(
    client: FlaskClient, runtime: Runtime, org: Org, key: Make, person: Make, actor: str
) -> None:
    email = new_email()
    if actor == "known":
        add_member(runtime, org, email=email)
    for make in (key, person):
        headers = {**make("keys:read"), "X-Service-Actor": email}
        assert client.get("/v1/keys", headers=headers).status_code == 200
        assert client.get("/v1/events", headers=headers).status_code == 403


def test_only_active_members_are_acted_for(
    client: FlaskClient, runtime: Runtime, org: Org, admin: Headers
) -> None:
    email = new_email()
    assert error(client.get("/v1/keys", headers=acting_as(email))) == (403, "actor_not_member")
    user_id = add_member(runtime, org, email=email)
    assert client.get("/v1/keys", headers=acting_as(email)).status_code == 200
    disable(client, admin, str(user_id))
    for slug in (None, org.slug):
        answer = client.get("/v1/keys", headers=acting_as(email, slug))
        assert error(answer) == (403, "actor_not_member")


def test_a_member_of_another_organization_is_none_of_this_one(
    client: FlaskClient, runtime: Runtime, org: Org
) -> None:
    email = new_email()
    add_member(runtime, org, email=email)
    foreign = client.get("/v1/keys", headers=acting_as(email, make_org(runtime).slug))
    assert error(foreign) == (403, "foreign_org")


@pytest.mark.parametrize("email", [None, "nobody@example.com"])
def test_an_unknown_organization_is_not_found_for_an_actor_either(
    client: FlaskClient, runtime: Runtime, org: Org, email: str | None
) -> None:
    if email is None:
        add_member(runtime, org, email=(email := new_email()))
    for slug in ("no-such-organization", ""):
        unknown = client.get("/v1/keys", headers=acting_as(email, slug))
        assert error(unknown) == (404, "org_not_found")


@pytest.mark.parametrize("nobody", ["", " ", "\xa0"])
def test_an_empty_actor_is_refused(
    client: FlaskClient, admin: Headers, key: Make, nobody: str
) -> None:
    """A proxy that forwards an empty address must not act with its key's own rights."""
    for path in ("/v1/keys", "/v1/auth/session"):
        refused = client.get(path, headers={**admin, "X-Service-Actor": nobody})
        assert error(refused) == (403, "actor_not_member")
    own = {**key("keys:read"), "X-Service-Actor": nobody}
    assert client.get("/v1/keys", headers=own).status_code == 200


def test_the_assistants_key_lends_no_more_than_it_holds(
    client: FlaskClient, runtime: Runtime, org: Org
) -> None:
    email = new_email()
    add_member(runtime, org, permission_set=ADMIN_SET, email=email)
    headers = {**bearer(AGENT_API_KEY, org.slug), "X-Service-Actor": email}
    assert client.get("/v1/events", headers=headers).status_code == 200
    assert "keys:read" not in ASSISTANT_PERMISSIONS
    refused = client.get("/v1/keys", headers=headers)
    assert refused.get_json()["required_permission"] == "keys:read"
    # It can do no more than the member, either.
    add_member(runtime, org, "keys:read", email=(other := new_email()))
    headers["X-Service-Actor"] = other
    for path in ("/v1/events", "/v1/keys"):
        assert client.get(path, headers=headers).status_code == 403


def test_the_organization_of_an_actor(
    client: FlaskClient, runtime: Runtime, default_org: Org
) -> None:
    """`default` as for every instance key, else the actor's only one, else the one named."""
    first, second = make_org(runtime), make_org(runtime)
    email = new_email()

    def emails(slug: str | None = None) -> list[str]:
        rows = client.get("/v1/users", headers=acting_as(email, slug)).get_json()
        return [row["email"] for row in rows]

    add_member(runtime, first, email=email)
    assert emails() == emails(first.slug) == [email]
    neighbour = new_email()
    add_member(runtime, second, email=email)
    add_member(runtime, second, email=neighbour)
    answer = client.get("/v1/users", headers=acting_as(email))
    assert error(answer) == (422, "org_required")
    assert emails(second.slug) == sorted([email, neighbour])
    host = new_email()
    add_member(runtime, default_org, email=email)
    add_member(runtime, default_org, email=host)
    assert host in emails()
    assert emails(first.slug) == [email]


def test_a_person_of_several_organizations_names_one(
    client: FlaskClient, runtime: Runtime, org: Org, default_org: Org
) -> None:
    """Unlike an instance key's, a person's organization is not `default` by default."""
    email = new_email()
    user_id = add_member(runtime, org, email=email)
    headers = signed_in(runtime, user_id)
    assert client.get("/v1/keys", headers=headers).status_code == 200
    add_member(runtime, default_org, email=email)
    assert error(client.get("/v1/keys", headers=headers)) == (422, "org_required")
    for slug, status in ((org.slug, 200), ("default", 200), (make_org(runtime).slug, 403)):
        named = {**headers, "X-Service-Org": slug}
        assert client.get("/v1/keys", headers=named).status_code == status


def test_a_person_sees_no_other_organization(
    client: FlaskClient, runtime: Runtime, org: Org
) -> None:
    headers = new_member(runtime, org)
    other = make_org(runtime)
    answers = [
        client.get("/v1/keys", headers={**headers, "X-Service-Org": slug})
        for slug in (other.slug, "no-such-organization", "")
    ]
    assert [error(answer) for answer in answers] == [(403, "foreign_org")] * 3
    assert len({answer.get_json()["error"] for answer in answers}) == 1


def test_a_change_of_the_actor_holds_at_once(
    client: FlaskClient, runtime: Runtime, org: Org, admin: Headers
) -> None:
    email = new_email()
    add_member(runtime, org, "keys:read", email=email)
    path = f"/v1/users/{row_of(client, admin, email)['id']}"
    for permissions, status in ((["keys:read"], 200), ([], 403), (["keys:read"], 200)):
        client.put(path, json={"permission_added": permissions}, headers=admin)
        assert client.get("/v1/keys", headers=acting_as(email)).status_code == status


def test_an_expired_session_is_refused_for_any_organization(
    client: FlaskClient, runtime: Runtime, org: Org, key: Make
) -> None:
    """A person with an expired session has to sign in again, rather than name an organization."""
    email, of_key = new_email(), key("keys:read")
    user_id = add_member(runtime, org, email=email)
    add_member(runtime, make_org(runtime), email=email)
    headers = signed_in(runtime, user_id)
    past = {"expires_at": datetime.now(UTC) - timedelta(seconds=1)}
    with at_once(runtime.postgres, runtime.redis) as session:
        session.execute(update(SignInSession).where(SignInSession.user_id == user_id).values(past))
        session.execute(update(ApiKey).where(ApiKey.org_id == org.uuid).values(past))
    for credential in (headers, of_key):
        for slug in ({}, {"X-Service-Org": org.slug}, {"X-Service-Org": "default"}):
            answer = client.get("/v1/keys", headers={**credential, **slug})
            assert error(answer) == (401, "unauthorized")
    assert client.get("/v1/auth/session", headers=headers).status_code == 401

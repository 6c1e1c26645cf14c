"""DELETE /users/me: a person leaves an organization."""

from typing import Any

from flask.testing import FlaskClient

from shared.access.users import operator
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import ADMIN_KEY, Headers, bearer
from tests.support.people import acting_as, add_member, new_email, new_member, signed_in
from tests.support.routes import require_error
from tests.support.runtime import Org, make_org
from tests.web.users.api import invite

ME = "/v1/users/me"


def actions(client: FlaskClient, admin: Headers) -> list[tuple[str, str]]:
    lines: list[dict[str, Any]] = client.get("/v1/audit-log", headers=admin).get_json()["lines"]
    return [(line["action"], line["actor"]) for line in lines]


def test_who_leaves_is_no_member_and_stays_in_the_others(
    client: FlaskClient, admin: Headers, runtime: Runtime, org: Org
) -> None:
    email, other = new_email(), make_org(runtime)
    user_id = add_member(runtime, org, "keys:read", email=email)
    add_member(runtime, other, "keys:read", email=email)
    headers = signed_in(runtime, user_id, org.slug)
    left = client.delete(ME, headers=headers)
    assert (left.status_code, left.get_json()["email"]) == (200, email)
    assert client.get("/v1/users", headers=admin).get_json() == []
    assert actions(client, admin)[0] == ("user.leave", email)
    require_error(client.get("/v1/keys", headers=headers), 403, "foreign_org")
    at_other = {**headers, "X-Service-Org": other.slug}
    assert client.get("/v1/keys", headers=at_other).status_code == 200
    # Nobody can enable the membership again. An invitation waits for the person.
    assert invite(client, admin, email=email).status_code == 201
    without = {"Authorization": headers["Authorization"]}
    assert client.get("/v1/keys", headers=without).status_code == 200


def test_an_account_goes_with_its_last_membership(
    client: FlaskClient, runtime: Runtime, org: Org
) -> None:
    headers = new_member(runtime, org, "keys:read")
    assert client.delete(ME, headers=headers).status_code == 200
    require_error(client.get("/v1/auth/session", headers=headers), 401)


def test_an_invitation_can_be_refused(
    client: FlaskClient, admin: Headers, runtime: Runtime
) -> None:
    email = new_email()
    add_member(runtime, make_org(runtime), "keys:read", email=email)
    slug = admin["X-Service-Org"]
    assert invite(client, admin, email=email, permission_set="admin").status_code == 201
    host = new_email()
    assert invite(client, admin, email=host, permission_set="admin").status_code == 201
    assert client.delete(ME, headers=acting_as(email, slug)).status_code == 200
    assert [row["email"] for row in client.get("/v1/users", headers=admin).get_json()] == [host]


def test_the_only_administrator_and_protected_people_stay(
    client: FlaskClient, runtime: Runtime, org: Org
) -> None:
    email = new_email()
    headers = new_member(runtime, org, email=email)
    require_error(client.delete(ME, headers=headers), 409, "last_administrator")
    add_member(runtime, org, "users:update")
    with runtime.postgres.transaction() as session:
        operator.protect(session, org.uuid, email, is_protected=True)
    require_error(client.delete(ME, headers=headers), 403, "protected_user")


def test_keys_have_nothing_to_leave(client: FlaskClient, runtime: Runtime, org: Org) -> None:
    require_error(client.delete(ME, headers=bearer(ADMIN_KEY, org.slug)), 403, "user_required")

"""A credential's description of itself, and the organization that it acts for."""

from collections.abc import Callable

from flask.testing import FlaskClient

from shared.access.identity.bootstrap import ASSISTANT_PERMISSIONS
from shared.access.permissions import ALL
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import ADMIN_KEY, AGENT_API_KEY, Headers, bearer, new_key
from tests.support.runtime import Org, make_org


def test_a_key_of_an_organization(
    client: FlaskClient, key: Callable[..., Headers], org: Org
) -> None:
    body = client.get("/v1/auth/introspect", headers=key("keys:read", "events:add")).get_json()
    assert body == {
        "id": body["id"],
        "name": body["name"],
        "org_id": org.id,
        "org_slug": org.slug,
        "instance_scoped": False,
        "permissions": ["events:add", "keys:read"],
        "expires_at": None,
    }


def test_the_bootstrap_keys(client: FlaskClient) -> None:
    admin = client.get("/v1/auth/introspect", headers=bearer(ADMIN_KEY)).get_json()
    assert (admin["name"], admin["instance_scoped"]) == ("admin", True)
    assert (admin["org_id"], admin["org_slug"]) == (None, None)
    assert set(admin["permissions"]) == ALL - {"keys:update", "orgs:admin"}
    assistant = client.get("/v1/auth/introspect", headers=bearer(AGENT_API_KEY)).get_json()
    assert (assistant["name"], assistant["instance_scoped"]) == ("dashboard-assistant", True)
    assert set(assistant["permissions"]) == ASSISTANT_PERMISSIONS


def test_organizations_do_not_see_each_other(client: FlaskClient, runtime: Runtime) -> None:
    ours, theirs = make_org(runtime), make_org(runtime)
    our_key, their_key = new_key(runtime, ours), new_key(runtime, theirs)
    for headers, own, other in ((our_key, ours, theirs), (their_key, theirs, ours)):
        named = {**headers, "X-Service-Org": own.slug}
        assert (
            client.get("/v1/keys", headers=named).get_json()
            == client.get("/v1/keys", headers=headers).get_json()
        )
        foreign = client.get("/v1/keys", headers={**headers, "X-Service-Org": other.slug})
        assert foreign.status_code == 403
        assert other.slug not in foreign.get_data(as_text=True)
        unknown = client.get("/v1/keys", headers={**headers, "X-Service-Org": "unknown"})
        assert unknown.get_json()["error"] == foreign.get_json()["error"]
    ids = [
        {row["id"] for row in client.get("/v1/keys", headers=headers).get_json()}
        for headers in (our_key, their_key)
    ]
    assert ids[0].isdisjoint(ids[1])


def test_instance_keys_choose_an_organization(
    client: FlaskClient, runtime: Runtime, org: Org
) -> None:
    new_key(runtime, org)
    chosen = client.get("/v1/keys", headers=bearer(ADMIN_KEY, org.slug)).get_json()
    assert len(chosen) == 1
    by_default = client.get("/v1/keys", headers=bearer(ADMIN_KEY)).get_json()
    named = client.get("/v1/keys", headers=bearer(ADMIN_KEY, "default")).get_json()
    assert by_default == named != chosen

"""The permissions that groups at the provider give and take, and those that they never touch."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import select, update

from shared.access.audit_log.models import AuditLine
from shared.access.permissions.custom_sets.models import PermissionSet
from shared.access.settings.models import OrganizationSetting
from shared.access.users import Membership, User
from shared.access.users.sign_in.oidc.groups import PROVIDER
from shared.foundation.cache import at_once
from shared.foundation.core.clock import now
from shared.foundation.deployment.runtime import Runtime
from tests.support.oidc import Browser, Provider
from tests.support.people import add_member, new_email
from tests.support.runtime import Org, make_org
from tests.web.users.api import mails
from tests.web.users.sign_in.oidc.conftest import Serve, person


@dataclass
class Desk:
    """A person at the provider, and a deployment with rules for `org`."""

    runtime: Runtime
    provider: Provider
    browser: Browser
    org: Org
    email: str

    def sign_in(self, *groups: str, claim: str = "groups") -> int:
        """Signs in with these groups; returns the status."""
        self.provider.person = {**self.provider.person, claim: list(groups)}
        return self.browser.sign_in().status_code

    def member(self) -> Membership | None:
        with self.runtime.postgres.transaction() as session:
            session.expire_on_commit = False
            query = (
                select(Membership)
                .join(User)
                .where(Membership.org_id == self.org.uuid, User.email == self.email)
            )
            return session.scalars(query).one_or_none()

    def change(self, **values: Any) -> None:
        """Changes the membership as people or the operator do."""
        found = self.member()
        assert found is not None
        with at_once(self.runtime.postgres, self.runtime.redis) as session:
            session.execute(
                update(Membership)
                .where(Membership.org_id == self.org.uuid, Membership.user_id == found.user_id)
                .values(**values)
            )

    def permission_set(self) -> str | None:
        found = self.member()
        assert found is not None
        return found.permission_set

    def is_active(self) -> bool:
        found = self.member()
        return found is not None and found.disabled_at is None


@pytest.fixture
def desk(runtime: Runtime, serve: Serve, provider: Provider, org: Org) -> Desk:
    """The groups `admins` and `staff` give the sets `admin` and `standard`. There is an owner."""
    add_member(runtime, org)
    return _desk(runtime, serve, provider, org, {"admins": "admin", "staff": "standard"})


def _desk(
    runtime: Runtime, serve: Serve, provider: Provider, org: Org, rules: dict[str, str]
) -> Desk:
    values = {group: {org.slug: name} for group, name in rules.items()}
    app = serve(oidc_groups=json.dumps({"groups": values}))
    email = new_email()
    provider.person = person(email)
    return Desk(runtime, provider, Browser.of(app, provider), org, email)


def test_a_group_makes_a_member_and_the_first_rule_counts(desk: Desk) -> None:
    assert desk.sign_in("other") == 403
    assert desk.member() is None
    assert desk.sign_in("other", "staff", "admins") == 303
    assert desk.permission_set() == "admin"
    told = desk.browser.session().get_json()["memberships"]
    assert "orgs:admin" not in told[0]["permissions"]
    assert "users:update" in told[0]["permissions"]


def test_without_groups_that_a_rule_names_nobody_becomes_a_member(desk: Desk) -> None:
    for groups in ((), ("Staff",), ("staff ",), ("admin",)):
        assert desk.sign_in(*groups) == 403
    assert desk.sign_in("staff", claim="roles") == 403
    assert desk.member() is None


def test_a_claim_may_be_one_text(desk: Desk) -> None:
    desk.provider.person["groups"] = "staff"
    assert desk.browser.sign_in().status_code == 303
    assert desk.permission_set() == "standard"


def test_the_set_follows_the_groups(desk: Desk) -> None:
    assert desk.sign_in("admins") == 303
    assert desk.sign_in("staff") == 303
    assert desk.permission_set() == "standard"
    held = desk.browser.session().get_json()["memberships"][0]["permissions"]
    assert "users:update" not in held


def test_an_open_session_loses_what_the_group_gave(desk: Desk) -> None:
    desk.sign_in("admins")
    other = Browser.of(desk.browser.client.application, desk.provider)
    desk.provider.person["groups"] = ["staff"]
    assert other.sign_in().status_code == 303
    assert desk.browser.client.get("/v1/users").status_code == 200
    refused = desk.browser.client.post("/v1/users", json={"email": new_email()})
    assert refused.status_code == 403


def test_without_the_group_the_membership_ends_and_so_do_the_sessions(desk: Desk) -> None:
    desk.sign_in("staff")
    other = Browser.of(desk.browser.client.application, desk.provider)
    desk.provider.person["groups"] = []
    assert other.sign_in().status_code == 403
    assert not desk.is_active()
    assert desk.browser.session().status_code == 401
    # It comes back with the group, with everything that belongs to it.
    assert desk.sign_in("staff") == 303
    assert desk.is_active()


def test_a_missing_claim_means_no_groups_and_a_distributed_one_is_refused(desk: Desk) -> None:
    desk.sign_in("staff")
    del desk.provider.person["groups"]
    desk.provider.claims = {"_claim_names": {"groups": "src1"}}
    assert desk.browser.sign_in().status_code == 401
    assert desk.is_active()
    desk.provider.claims = {}
    assert desk.browser.sign_in().status_code == 403
    assert not desk.is_active()


def test_whom_people_invited_gets_back_what_people_gave(desk: Desk) -> None:
    add_member(desk.runtime, desk.org, permission_set="read-only", email=desk.email)
    assert desk.sign_in("staff") == 303
    assert desk.permission_set() == "standard"
    assert desk.sign_in() == 303
    assert desk.permission_set() == "read-only"
    assert desk.is_active()


def test_single_permissions_stay_with_people(desk: Desk) -> None:
    desk.sign_in("staff")
    desk.change(permission_added=["keys:create"], permission_removed=["agent:use"])
    desk.sign_in("admins")
    found = desk.member()
    assert found is not None
    assert (found.permission_set, found.permission_added) == ("admin", ["keys:create"])
    assert found.permission_removed == ["agent:use"]


def test_a_set_that_people_changed_is_the_groups_again_at_the_next_sign_in(desk: Desk) -> None:
    desk.sign_in("staff")
    desk.change(permission_set="admin")
    desk.sign_in("staff")
    assert desk.permission_set() == "standard"


@pytest.mark.parametrize("groups", [("staff",), ()])
def test_whom_people_disabled_stays_disabled(desk: Desk, groups: tuple[str, ...]) -> None:
    desk.sign_in("staff")
    desk.change(disabled_at=now())
    for _ in range(2):
        assert desk.sign_in(*groups) == 403
        assert not desk.is_active()


def test_whom_people_enabled_again_stays_without_the_group(desk: Desk) -> None:
    desk.sign_in("staff")
    assert desk.sign_in() == 403
    desk.change(disabled_at=None)
    assert desk.sign_in() == 303
    assert desk.sign_in("admins") == 303
    assert desk.sign_in() == 303
    assert desk.permission_set() == "standard"


@pytest.mark.parametrize("groups", [("staff",), ()])
def test_a_protected_member_stays_as_the_operator_wants(
    desk: Desk, groups: tuple[str, ...]
) -> None:
    desk.sign_in("admins")
    desk.change(is_protected=True)
    assert desk.sign_in(*groups) == 303
    assert desk.permission_set() == "admin"
    assert desk.is_active()


@pytest.mark.parametrize("groups", [("staff",), ()])
def test_the_last_administrator_is_not_locked_out(
    runtime: Runtime, serve: Serve, provider: Provider, org: Org, groups: tuple[str, ...]
) -> None:
    desk = _desk(runtime, serve, provider, org, {"admins": "admin", "staff": "standard"})
    assert desk.sign_in("admins") == 303
    assert desk.sign_in(*groups) == 303
    assert desk.permission_set() == "admin"
    # With another administrator the groups count.
    add_member(runtime, org)
    assert desk.sign_in("staff") == 303
    assert desk.permission_set() == "standard"


def custom(name: str, *permissions: str) -> Callable[[Runtime, Org], None]:
    def make(runtime: Runtime, org: Org) -> None:
        with runtime.postgres.transaction() as session:
            session.add(PermissionSet(org_id=org.uuid, name=name, permissions=list(permissions)))

    return make


def test_an_own_set_of_the_organization_gives_exactly_its_permissions(
    runtime: Runtime, serve: Serve, provider: Provider, org: Org
) -> None:
    custom("reviewers", "events:read", "keys:read")(runtime, org)
    desk = _desk(runtime, serve, provider, org, {"staff": "reviewers"})
    assert desk.sign_in("staff") == 303
    [told] = desk.browser.session().get_json()["memberships"]
    assert told["permissions"] == ["events:read", "keys:read"]


@pytest.mark.parametrize("make", [None, custom("wide", "events:read", "orgs:admin")])
def test_a_set_that_is_missing_or_administers_the_instance_gives_nothing(
    runtime: Runtime,
    serve: Serve,
    provider: Provider,
    org: Org,
    make: Callable[[Runtime, Org], None] | None,
) -> None:
    if make is not None:
        make(runtime, org)
    desk = _desk(runtime, serve, provider, org, {"staff": "wide", "other": "read-only"})
    assert desk.sign_in("staff") == 403
    assert desk.member() is None
    assert desk.sign_in("staff", "other") == 303
    assert desk.permission_set() == "read-only"


def test_a_rule_names_its_organization_and_reaches_no_other(
    runtime: Runtime, serve: Serve, provider: Provider, org: Org
) -> None:
    second = make_org(runtime)
    rules = {"groups": {"a": {org.slug: "admin"}, "b": {second.slug: "read-only"}}}
    app = serve(oidc_groups=json.dumps(rules))
    provider.person = person(new_email(), groups=["a", "b", "c"])
    browser = Browser.of(app, provider)
    assert browser.sign_in().status_code == 303
    told = browser.session().get_json()["memberships"]
    assert {one["org_slug"]: one["permission_set"] for one in told} == {
        org.slug: "admin",
        second.slug: "read-only",
    }
    provider.person["groups"] = ["b"]
    add_member(runtime, org)
    assert browser.sign_in().status_code == 303
    assert [one["org_slug"] for one in browser.session().get_json()["memberships"]] == [second.slug]


def test_an_organization_that_does_not_admit_the_address_gets_no_member(desk: Desk) -> None:
    with at_once(desk.runtime.postgres, desk.runtime.redis) as session:
        setting = {"key": "allowed_sign_ins", "value": ["*@elsewhere.example"], "updated_by": "t"}
        session.add(OrganizationSetting(org_id=desk.org.uuid, **setting))
    assert desk.sign_in("staff") == 403
    assert desk.member() is None


def test_a_sign_in_that_changes_nothing_clears_no_cache(desk: Desk) -> None:
    desk.sign_in("staff")
    before = desk.runtime.redis.get("auth:generation")
    assert desk.sign_in("staff") == 303
    assert desk.runtime.redis.get("auth:generation") == before


def test_the_audit_log_says_what_groups_gave_and_took(desk: Desk) -> None:
    desk.sign_in("staff")
    desk.sign_in("admins")
    desk.sign_in()
    desk.sign_in("staff")
    with desk.runtime.postgres.transaction() as session:
        query = select(AuditLine).where(AuditLine.org_id == desk.org.uuid).order_by(AuditLine.at)
        lines = [(one.action, one.actor, one.target, one.after) for one in session.scalars(query)]
    of_provider = [(action, after) for action, actor, _, after in lines if actor == PROVIDER]
    assert [action for action, _ in of_provider] == [
        "user.create",
        "user.update",
        "user.disable",
        "user.enable",
    ]
    created, changed = of_provider[0][1], of_provider[1][1]
    assert created is not None
    assert created["permission_set"] == "standard"
    assert changed == {"permission_set": "admin"}
    assert {target for _, _, target, _ in lines} == {desk.email}
    own = [action for action, actor, _, _ in lines if actor == desk.email]
    assert own == ["user.sign_in"] * 3


def test_a_mail_says_what_groups_gained_and_lost(desk: Desk) -> None:
    desk.sign_in("staff")
    assert mails(desk.runtime, desk.org) == []
    desk.sign_in("admins")
    desk.sign_in("staff")
    more, less = mails(desk.runtime, desk.org)
    for kind, recipient, context in (more, less):
        assert (kind, recipient) == ("permissions_changed", desk.email)
        assert context["changed_by"] == "The sign-in provider"
    assert "users:update" in more[2]["gained"]
    assert more[2]["gained"] == less[2]["lost"]
    assert more[2]["lost"] == less[2]["gained"] == []
    desk.sign_in("staff")
    assert len(mails(desk.runtime, desk.org)) == 2

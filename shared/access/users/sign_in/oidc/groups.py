"""Memberships and sets that groups at the provider give, renewed at each sign-in.

A group decides about the set of a membership, and never about single permissions, which people add
and take by hand. It changes nothing for protected members, nor for those whom people disabled.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.access import audit_log, organizations
from shared.access.permissions import INSTANCE_ADMIN
from shared.access.permissions.custom_sets import service as permission_sets
from shared.access.settings import reading as settings
from shared.access.settings.rules import lets_in
from shared.access.users import mails
from shared.access.users.accounts import join
from shared.access.users.grants import Granter
from shared.access.users.members import effective_permissions, members_of
from shared.access.users.models import Membership
from shared.access.users.records import MemberRecord, log_change, record
from shared.access.users.sign_in.oidc.configuration import GroupRule
from shared.access.users.sign_in.oidc.models import GroupGrant
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import Invalid, NotFound
from shared.foundation.core.logs import get_logger
from shared.foundation.postgres import lock_until_commit, transaction_time
from shared.foundation.queue import Queue

log = get_logger(__name__)

# Its holders can give everybody else their permissions.
_ADMINISTERS = "users:update"
# The actor in the audit log.
PROVIDER = "sign-in provider"
# The author in mails.
_BY = Granter("The sign-in provider", None)


class Step(Enum):
    """A change of one membership."""

    JOIN = "join"
    GIVE = "give"
    RETURN = "return"
    RESTORE = "restore"
    WITHDRAW = "withdraw"


# In the audit log, beside the same changes by people.
_ACTIONS = {
    Step.JOIN: "user.create",
    Step.GIVE: "user.update",
    Step.RETURN: "user.enable",
    Step.RESTORE: "user.update",
    Step.WITHDRAW: "user.disable",
}


@dataclass(frozen=True)
class Wish:
    """The permission set that groups give in an organization; None: no group of the person does."""

    org_id: uuid.UUID
    slug: str
    permission_set: str | None


@dataclass(frozen=True)
class Groups:
    """The groups of one person, about to be applied in a transaction."""

    session: Session
    config: Settings
    queue: Queue
    rules: tuple[GroupRule, ...]
    held: frozenset[tuple[str, str]]

    def pending(self, user_id: uuid.UUID | None, address: str) -> bool:
        """Returns whether `apply` would change anything."""
        return any(True for _ in self._steps(user_id, address))

    def apply(self, user_id: uuid.UUID | None, address: str) -> list[Step]:
        """Makes the changes, and returns them; run it in `cache.at_once`.

        A person who has no account gets one with the first membership.
        """
        for slug in sorted({rule.slug for rule in self.rules}):
            lock_until_commit(self.session, f"groups of {slug}")
        return [
            self._take(wish, step, address, membership)
            for wish, step, membership in self._steps(user_id, address)
        ]

    def _steps(
        self, user_id: uuid.UUID | None, address: str
    ) -> Iterator[tuple[Wish, Step, Membership | None]]:
        for wish in self._wishes():
            membership = self._membership(wish.org_id, user_id)
            grant = None if membership is None else self._grant(membership)
            step = step_of(membership, grant, wish.permission_set)
            if step is None:
                continue
            if membership is None and not self._admits(wish, address):
                continue
            if membership is not None and self._locks_out(membership, grant, wish, step):
                log.warning("oidc_last_administrator_kept", org=wish.slug)
                continue
            yield wish, step, membership

    def _wishes(self) -> Iterator[Wish]:
        for slug in dict.fromkeys(rule.slug for rule in self.rules):
            organization = organizations.get(self.session, slug)
            if organization is None:
                log.warning("oidc_group_rule_skipped", org=slug, reason="no such organization")
                continue
            names = (
                rule.permission_set
                for rule in self.rules
                if rule.slug == slug
                and (rule.claim, rule.value) in self.held
                and self._is_usable(organization.id, rule)
            )
            yield Wish(organization.id, slug, next(names, None))

    def _is_usable(self, org_id: uuid.UUID, rule: GroupRule) -> bool:
        try:
            # Locks the set before any membership, as its deletion does.
            found = permission_sets.chosen(self.session, org_id, rule.permission_set)
        except Invalid:
            reason = "no such permission set"
        else:
            if INSTANCE_ADMIN not in found.permissions:
                return True
            reason = f"it holds {INSTANCE_ADMIN}"
        log.warning("oidc_group_rule_skipped", org=rule.slug, reason=reason)
        return False

    def _membership(self, org_id: uuid.UUID, user_id: uuid.UUID | None) -> Membership | None:
        query = select(Membership).where(Membership.org_id == org_id, Membership.user_id == user_id)
        return self.session.scalars(query.with_for_update()).one_or_none()

    def _grant(self, membership: Membership) -> GroupGrant | None:
        query = select(GroupGrant).where(
            GroupGrant.org_id == membership.org_id, GroupGrant.user_id == membership.user_id
        )
        return self.session.scalars(query).one_or_none()

    def _admits(self, wish: Wish, address: str) -> bool:
        allowed = settings.value(self.session, self.config, wish.org_id, "allowed_sign_ins")
        return lets_in(allowed, address)

    def _locks_out(
        self, membership: Membership, grant: GroupGrant | None, wish: Wish, step: Step
    ) -> bool:
        """Returns whether the step takes the organization's last administrator away."""
        if step in (Step.JOIN, Step.RETURN) or membership.disabled_at is not None:
            return False
        members = {one.user_id: one.permissions for one in members_of(self.session, wish.org_id)}
        own = members.pop(membership.user_id, frozenset())
        if _ADMINISTERS not in own or any(_ADMINISTERS in other for other in members.values()):
            return False
        if step is Step.WITHDRAW:
            return True
        name = wish.permission_set
        if name is None and grant is not None:
            name = grant.previous_set
        of_set = None if name is None else permission_sets.find(self.session, wish.org_id, name)
        after = effective_permissions(
            name,
            None if of_set is None else of_set.permissions,
            membership.permission_added,
            membership.permission_removed,
        )
        return _ADMINISTERS not in after

    def _take(self, wish: Wish, step: Step, address: str, membership: Membership | None) -> Step:
        if membership is None:
            membership = join(self.session, wish.org_id, address)
            if membership is None:
                # Somebody invited the person a moment ago. The next sign-in applies the groups.
                return step
        before = None if step is Step.JOIN else self._record(membership)
        grant = self._grant(membership)
        if wish.permission_set is not None:
            self._give(membership, grant, wish.permission_set, step)
        elif grant is not None:
            self._take_back(membership, grant, step)
        membership.updated_at = transaction_time(self.session)
        self.session.flush()
        after = self._record(membership)
        by = replace(audit_log.current_caller(), kind="system", name=PROVIDER)
        log_change(self.session, wish.org_id, _ACTIONS[step], after, before, by)
        if before is not None:
            sets = (frozenset(before.permissions), frozenset(after.permissions))
            mails.tell(self.session, self.queue, self.config, wish.org_id, after.email, *sets, _BY)
        log.info("oidc_groups_applied", org=wish.slug, step=step.value)
        return step

    def _record(self, membership: Membership) -> MemberRecord:
        self.session.flush()
        found = record(self.session, membership.org_id, membership.user_id)
        if found is None:
            raise NotFound("there is no such member")
        return found

    def _give(
        self, membership: Membership, grant: GroupGrant | None, name: str, step: Step
    ) -> None:
        if grant is None:
            grant = GroupGrant(
                org_id=membership.org_id,
                user_id=membership.user_id,
                permission_set=name,
                previous_set=membership.permission_set,
                made_membership=step is Step.JOIN,
            )
            self.session.add(grant)
        elif membership.permission_set != grant.permission_set:
            grant.previous_set = membership.permission_set
        if step is Step.GIVE and grant.withdrawn_at is not None:
            # People enabled the member after the group had gone, so the membership is theirs.
            grant.made_membership, grant.previous_set = False, membership.permission_set
        grant.permission_set = membership.permission_set = name
        grant.withdrawn_at = None
        if step is Step.RETURN:
            membership.disabled_at = None

    def _take_back(self, membership: Membership, grant: GroupGrant, step: Step) -> None:
        if step is Step.WITHDRAW:
            membership.disabled_at = grant.withdrawn_at = transaction_time(self.session)
            return
        if membership.permission_set == grant.permission_set:
            previous = grant.previous_set
            known = previous and permission_sets.find(self.session, membership.org_id, previous)
            membership.permission_set = previous if known else None
        self.session.delete(grant)


def step_of(
    membership: Membership | None, grant: GroupGrant | None, wanted: str | None
) -> Step | None:
    """Returns the change that brings a membership in line with `wanted`; None: there is none."""
    if membership is None:
        return None if wanted is None else Step.JOIN
    if membership.is_protected:
        return None
    is_withdrawn = grant is not None and grant.withdrawn_at is not None
    if wanted is not None:
        return _to_give(membership, grant, wanted, is_withdrawn=is_withdrawn)
    if grant is None or is_withdrawn or membership.disabled_at is not None:
        return None
    return Step.WITHDRAW if grant.made_membership else Step.RESTORE


def _to_give(
    membership: Membership, grant: GroupGrant | None, wanted: str, *, is_withdrawn: bool
) -> Step | None:
    if membership.disabled_at is not None:
        # Whom people disabled stays disabled.
        return Step.RETURN if is_withdrawn else None
    is_given = grant is not None and not is_withdrawn and grant.permission_set == wanted
    return None if is_given and membership.permission_set == wanted else Step.GIVE

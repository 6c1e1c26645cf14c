"""The members that hold a permission set: counted, notified of its change, and released."""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from shared.access.users import mails
from shared.access.users.grants import Granter, default_set
from shared.access.users.members import members_of
from shared.access.users.models import Membership
from shared.foundation.core.config import Settings
from shared.foundation.postgres import transaction_time
from shared.foundation.queue import Queue


def active_by_set(session: Session, org_id: uuid.UUID) -> Mapping[str, int]:
    """Counts the active members of each set; leaves out sets without members."""
    query = (
        select(Membership.permission_set, func.count())
        .where(
            Membership.org_id == org_id,
            Membership.permission_set.is_not(None),
            Membership.disabled_at.is_(None),
        )
        .group_by(Membership.permission_set)
    )
    return {name: count for name, count in session.execute(query) if name is not None}


@dataclass(frozen=True)
class SetHolders:
    """The `Holders` of an organization's sets; `by` is the author of the change."""

    session: Session
    queue: Queue
    config: Settings
    org_id: uuid.UUID
    by: Granter

    def default_set(self) -> str:
        """Returns the name of the set that new members get."""
        return default_set(self.session, self.config, self.org_id).name

    @contextmanager
    def notified(self, name: str) -> Iterator[None]:
        """Compares the permissions of the set's active members before and after the block."""
        members = members_of(self.session, self.org_id)
        before = {one.email: one.permissions for one in members if one.permission_set == name}
        yield
        self.session.flush()
        for one in members_of(self.session, self.org_id) if before else ():
            if one.email in before:
                permissions = (before[one.email], one.permissions)
                mails.tell(
                    self.session,
                    self.queue,
                    self.config,
                    self.org_id,
                    one.email,
                    *permissions,
                    self.by,
                )

    def release(self, name: str) -> int:
        """Takes a set from its members, even disabled ones; returns their number."""
        without = (
            update(Membership)
            .where(Membership.org_id == self.org_id, Membership.permission_set == name)
            .values(permission_set=None, updated_at=transaction_time(self.session))
            .returning(Membership.user_id)
        )
        return len(self.session.scalars(without).all())

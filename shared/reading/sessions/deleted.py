"""Sessions that people deleted: events that arrive for them later are dropped.

A row holds a hash of the session's id, because an id may name a person. The hash begins with a salt
of the organization, which its export carries: an imported organization has another id, and knows
its deleted sessions all the same.
"""

import hashlib
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Index, LargeBinary, bindparam, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.access.organizations.models import Organization
from shared.foundation.core.errors import NotFound
from shared.foundation.postgres import Base, created_at_column
from shared.foundation.postgres.columns import KeyedInOrganization

_HASH_BYTES = 16
# Stands for a mention of what was deleted.
INSTEAD = "[deleted]"

# A session of an organization.
SessionOf = tuple[str, str]


class DeletedSession(KeyedInOrganization, Base):
    """A session that was deleted; `dropped` counts the events that arrived for it later."""

    __tablename__ = "deleted_sessions"

    session_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    deletion_id: Mapped[uuid.UUID]
    dropped: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    created_at = created_at_column()

    __table_args__ = (Index("ix_deleted_sessions_of_deletion", "org_id", "deletion_id"),)


class Hashing(NamedTuple):
    """The hashes by which an organization knows sessions and people after their deletion."""

    org_id: str
    salt: str

    def of(self, value: str) -> bytes:
        """Returns the hash of a session's id or a person's identifier."""
        salted = f"{self.salt}:{value}".encode(errors="replace")
        return hashlib.sha256(salted).digest()[:_HASH_BYTES]

    def sql(self, value: str) -> str:
        """Returns the SQL of ClickHouse for the same hash of an expression, in hexadecimal."""
        return f"lower(left(hex(SHA256(concat('{self.salt}', ':', {value}))), 32))"


def hashing_of(session: Session, org_id: uuid.UUID) -> Hashing:
    """Returns the hashing of an organization; raises `NotFound` if it was purged."""
    found = _hashings(session, {org_id})
    if not found:
        raise NotFound("there is no such organization", code="org_not_found")
    return found[str(org_id)]


def _hashings(session: Session, org_ids: Collection[uuid.UUID]) -> Mapping[str, Hashing]:
    query = select(Organization.id, Organization.deletion_salt).where(Organization.id.in_(org_ids))
    # The salt of an organization from before salts is its id, so its hashes stay valid.
    return {
        str(org_id): Hashing(str(org_id), salt or str(org_id))
        for org_id, salt in session.execute(query)
    }


def add(
    session: Session, org_id: uuid.UUID, session_ids: Iterable[str], deletion_id: uuid.UUID
) -> None:
    """Marks sessions as deleted. The caller holds the organization alone."""
    hashing = hashing_of(session, org_id)
    rows = [
        {
            "org_id": org_id,
            "session_hash": hashing.of(session_id),
            "deletion_id": deletion_id,
        }
        for session_id in session_ids
    ]
    if rows:
        session.execute(insert(DeletedSession).on_conflict_do_nothing(), rows)


def among(session: Session, sessions: Collection[SessionOf]) -> set[SessionOf]:
    """Returns those of the sessions that were deleted."""
    if not sessions:
        return set()
    org_ids = {uuid.UUID(org_id) for org_id in {org_id for org_id, _ in sessions}}
    hashings = _hashings(session, org_ids)
    # Copies of one organization have one salt, so a hash alone does not tell them apart.
    by_hash = {(one[0], hashings[one[0]].of(one[1])): one for one in sessions if one[0] in hashings}
    query = select(DeletedSession.org_id, DeletedSession.session_hash).where(
        DeletedSession.org_id.in_(org_ids),
        DeletedSession.session_hash.in_({found for _, found in by_hash}),
    )
    deleted = {(str(org_id), found) for org_id, found in session.execute(query)}
    return {one for key, one in by_hash.items() if key in deleted}


def mentioned(session: Session, org_id: uuid.UUID, value: Any) -> set[str]:
    """Returns the texts in a value of JSON that are the ids of deleted sessions."""
    texts = {(str(org_id), one) for one in _texts(value)}
    return {session_id for _, session_id in among(session, texts)}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _texts(one)


def count_dropped(session: Session, dropped: Counter[SessionOf]) -> None:
    """Adds events that were dropped to the rows of their sessions."""
    statement = (
        update(DeletedSession)
        .where(
            DeletedSession.org_id == bindparam("of_org"),
            DeletedSession.session_hash == bindparam("of_session"),
        )
        .values(dropped=DeletedSession.dropped + bindparam("more"))
    )
    hashings = _hashings(session, {uuid.UUID(org_id) for org_id, _ in dropped})
    for (org_id, session_id), more in sorted(dropped.items()):
        session.connection().execute(
            statement,
            {
                "of_org": uuid.UUID(org_id),
                "of_session": hashings[org_id].of(session_id),
                "more": more,
            },
        )

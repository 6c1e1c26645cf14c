"""Sessions that people deleted: events that arrive for them later are dropped.

A row holds a hash of the session's id, because an id may name a person.
"""

import hashlib
import uuid
from collections import Counter
from collections.abc import Collection, Iterable

from sqlalchemy import BigInteger, Index, LargeBinary, bindparam, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.postgres import Base, created_at_column
from shared.postgres.columns import KeyedInOrganization

# In ClickHouse: the same 32 characters for a value of SQL, with the organization's id as text.
HASH_SQL = "lower(left(hex(SHA256(concat({org_id}, ':', {value}))), 32))"
_HASH_BYTES = 16

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


def hash_of(org_id: uuid.UUID | str, value: str) -> bytes:
    """Returns the hash by which a session or a person's identifier is known after its deletion."""
    return hashlib.sha256(f"{org_id}:{value}".encode(errors="replace")).digest()[:_HASH_BYTES]


def add(
    session: Session, org_id: uuid.UUID, session_ids: Iterable[str], deletion_id: uuid.UUID
) -> None:
    """Marks sessions as deleted. The caller holds the organization alone."""
    rows = [
        {
            "org_id": org_id,
            "session_hash": hash_of(org_id, session_id),
            "deletion_id": deletion_id,
        }
        for session_id in session_ids
    ]
    if rows:
        session.execute(insert(DeletedSession).on_conflict_do_nothing(), rows)


def among(session: Session, sessions: Collection[SessionOf]) -> set[SessionOf]:
    """Returns those of the sessions that were deleted."""
    by_hash = {hash_of(*one): one for one in sessions}
    if not by_hash:
        return set()
    query = select(DeletedSession.session_hash).where(
        DeletedSession.org_id.in_({uuid.UUID(org_id) for org_id, _ in sessions}),
        DeletedSession.session_hash.in_(list(by_hash)),
    )
    return {by_hash[found] for found in session.scalars(query)}


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
    for (org_id, session_id), more in sorted(dropped.items()):
        session.connection().execute(
            statement,
            {
                "of_org": uuid.UUID(org_id),
                "of_session": hash_of(org_id, session_id),
                "more": more,
            },
        )

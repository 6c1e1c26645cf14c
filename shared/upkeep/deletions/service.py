"""Deletions as people see them: requested, previewed, listed."""

import uuid
from collections import Counter
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from shared.access import audit_log
from shared.foundation.core.errors import Conflict
from shared.foundation.core.ids import new_id, new_request_id
from shared.foundation.core.logs import current_request_id
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import after_commit
from shared.foundation.postgres.rows import require_row
from shared.foundation.queue import Queue
from shared.foundation.queue.jobs import DELETE_DATA
from shared.reading.sessions.deleted import Hashing, hashing_of
from shared.upkeep.deletions import in_clickhouse, in_postgres, in_redis
from shared.upkeep.deletions.mentions import Mentions
from shared.upkeep.deletions.models import LIVE, Deletion
from shared.upkeep.deletions.target import MAX_OF_USER, MAX_SESSIONS, DeletionTarget, NamedPerson

DEFAULT_PAGE, MAX_PAGE = 50, 200
# Deletions of an organization that are not finished.
_MAX_LIVE = 100


def request(
    session: Session, queue: Queue, org_id: uuid.UUID, target: DeletionTarget, created_by: str
) -> Deletion:
    """Queues a deletion; raises `Conflict` if too many are under way."""
    live = select(Deletion.id).where(Deletion.org_id == org_id, text(LIVE))
    if len(session.scalars(live.limit(_MAX_LIVE)).all()) >= _MAX_LIVE:
        raise Conflict(
            f"{_MAX_LIVE} deletions are under way: wait until some have ended",
            code="too_many_deletions",
        )
    deletion = Deletion(
        id=new_id(),
        org_id=org_id,
        field=target.field,
        value=target.value,
        value_hash=target.value and hashing_of(session, org_id).of(target.value).hex(),
        session_ids=list(target.session_ids) or None,
        sessions=len(target.session_ids),
        created_by=created_by,
        request_id=current_request_id() or new_request_id(),
    )
    session.add(deletion)
    session.flush()
    # Neither the sessions nor the value: the log keeps its lines for longer than the deletion does.
    audit_log.record(
        session,
        org_id,
        "deletion.create",
        target=deletion.id,
        after={
            "field": target.field,
            "value_sha": deletion.value_hash,
            "sessions": len(target.session_ids) or None,
        },
    )
    after_commit(session, lambda: queue.nudge_soon(DELETE_DATA))
    return deletion


def list_(session: Session, org_id: uuid.UUID, *, limit: int, offset: int) -> list[Deletion]:
    """Lists deletions, newest first."""
    query = (
        select(Deletion)
        .where(Deletion.org_id == org_id)
        .order_by(Deletion.created_at.desc(), Deletion.id)
        .limit(limit)
        .offset(offset)
    )
    return list(session.scalars(query))


def get(session: Session, org_id: uuid.UUID, deletion_id: str) -> Deletion:
    """Returns one deletion; raises `NotFound`."""
    rows = select(Deletion).where(Deletion.org_id == org_id)
    return require_row(session, rows, Deletion.id, deletion_id, "deletion")


def preview(runtime: Runtime, org_id: uuid.UUID, target: DeletionTarget) -> dict[str, Any]:
    """Counts what a deletion would remove and change now; changes nothing.

    Waiting events are not counted, and of a user's sessions the mentions of the first round only.
    Raises `Unavailable` if a store is down.
    """
    org, person = str(org_id), person_of(target)
    with runtime.postgres.transaction() as session:
        hashing = hashing_of(session, org_id)
    session_ids = list(target.session_ids)
    if person is not None:
        session_ids = in_clickhouse.sessions_naming(
            runtime.clickhouse,
            hashing,
            person.field,
            hashing.of(person.value).hex(),
            1 + (MAX_SESSIONS if person.user is None else MAX_OF_USER),
        )
    mentions = mentions_of(session_ids[: MAX_SESSIONS + 1], person)
    with runtime.postgres.transaction() as session:
        in_tables: Counter[str] = Counter(
            in_postgres.count_of_sessions(session, org_id, session_ids)
        )
        for tables in (in_postgres.REMOVED, in_postgres.CHANGED):
            in_tables.update(in_postgres.count_mentions(session, org_id, mentions, tables))
        remaining = in_postgres.count_mentions(session, org_id, mentions, in_postgres.COUNTED)
    return {
        "sessions": len(session_ids),
        "removed": {
            "clickhouse": _in_clickhouse(runtime, hashing, session_ids, person),
            "postgres": dict(in_tables),
            "redis": dict(
                in_redis.clean(runtime.redis, org, session_ids, person, mentions, remove=False)
            ),
        },
        "remaining": remaining,
    }


def _in_clickhouse(
    runtime: Runtime, hashing: Hashing, session_ids: list[str], person: NamedPerson | None
) -> dict[str, int]:
    clickhouse = runtime.clickhouse
    if person is not None and person.user is not None:
        # They may be too many for a list.
        value_hash = hashing.of(person.value).hex()
        return {
            table: in_clickhouse.count_naming(clickhouse, table, hashing, None, value_hash)
            for table in in_clickhouse.TABLES
        }
    hashes = in_clickhouse.hashes_of(hashing, session_ids)
    return {
        table: in_clickhouse.count(clickhouse, table, hashing, hashes)
        for table in in_clickhouse.TABLES
    }


def person_of(target: DeletionTarget | Deletion) -> NamedPerson | None:
    """Returns the person whom a deletion is about, None if it names sessions."""
    return None if target.value is None else NamedPerson(target.field, target.value)


def mentions_of(session_ids: list[str], person: NamedPerson | None) -> Mentions:
    """Returns the words whose mention counts as a quote."""
    if person is None:
        return Mentions(session_ids)
    return Mentions([*session_ids, person.value], user=person.user)

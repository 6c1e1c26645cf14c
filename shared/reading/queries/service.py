"""Saved queries of an organization.

Only `shared.reading.dashboards`, a layer above, knows which tiles show a query, so it deletes
queries (`dashboards.delete_query`).
"""

import uuid
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, collate, select
from sqlalchemy.orm import Session

from shared.access.audit_log import fields_of, record
from shared.access.organizations import creations
from shared.foundation.core import bounds
from shared.foundation.core.errors import Conflict, Invalid, NotFound
from shared.foundation.postgres import transaction_time
from shared.foundation.postgres.room import Room
from shared.foundation.postgres.rows import change, flush_unique, require_row, sizes
from shared.reading.queries.guard.statement import guard
from shared.reading.queries.models import SavedQuery

MAX_NAME_LENGTH = 200
MAX_DESCRIPTION_LENGTH = 10_000
MAX_PARAMS = 100
MAX_PARAMS_BYTES = 64 * 1024
# All queries of an organization are listed without pages.
ROOM = Room(rows=2000, total_bytes=16 * 1024 * 1024)


@dataclass(frozen=True)
class QueryContent:
    """The part of a saved query that people decide; only clients understand `params`."""

    name: str
    description: str
    sql_text: str
    params: list[dict[str, Any]]


def list_(session: Session, org_id: uuid.UUID) -> list[SavedQuery]:
    """Lists the organization's queries by name, in the order of code points."""
    by_name = collate(SavedQuery.name, "C")
    return list(session.scalars(_of(org_id).order_by(by_name)))


def get(session: Session, org_id: uuid.UUID, query_id: str) -> SavedQuery:
    """Returns one query; raises `NotFound`."""
    return _one(session, _of(org_id), query_id)


def changeable(session: Session, org_id: uuid.UUID, query_id: str) -> SavedQuery:
    """Locks one query until the transaction ends; raises `NotFound`."""
    return _one(session, _of(org_id).with_for_update(), query_id)


def chosen(session: Session, org_id: uuid.UUID, query_id: str, field: str) -> SavedQuery:
    """Returns the query that a request names in `field`, so that something can refer to it.

    Locks it against deletion until the session's transaction ends. Raises `Invalid` naming `field`.
    """
    lock = _of(org_id).with_for_update(read=True, key_share=True)
    try:
        return _one(session, lock, query_id)
    except NotFound:
        raise Invalid.field(field, "there is no saved query with this id") from None


def create(
    session: Session, org_id: uuid.UUID, wanted: QueryContent, *, schema: str, created_by: str
) -> SavedQuery:
    """Creates a query that the guard accepts; `schema` is the database of the published tables.

    Raises `Invalid` naming the field, `Conflict` if the name is taken or there is no room.
    """
    content, size = _checked(wanted, schema)
    ROOM.require(session, _sizes(org_id), size, what="saved queries")
    moment = transaction_time(session)
    query = SavedQuery(
        org_id=org_id, created_by=created_by, created_at=moment, updated_at=moment, **content
    )
    session.add(query)
    creations.record(session, org_id, "query")
    _flush(session)
    record(session, org_id, "query.create", of=query, after=logged(query))
    return query


def replace(
    session: Session, org_id: uuid.UUID, query_id: str, wanted: QueryContent, *, schema: str
) -> SavedQuery:
    """Replaces the content of a query; raises `NotFound`, and the errors of `create`."""
    content, size = _checked(wanted, schema)
    query = changeable(session, org_id, query_id)
    others = _sizes(org_id).where(SavedQuery.id != query.id)
    ROOM.require(session, others, size, what="saved queries")
    before = logged(query)
    change(session, query, content)
    _flush(session)
    record(session, org_id, "query.update", of=query, before=before, after=logged(query))
    return query


def logged(query: SavedQuery) -> dict[str, object]:
    """Returns the fields of a query for the audit log."""
    return fields_of(query, "name", "description", "sql_text", "params")


def _of(org_id: uuid.UUID) -> Select[SavedQuery]:
    return select(SavedQuery).where(SavedQuery.org_id == org_id)


def _one(session: Session, query: Select[SavedQuery], query_id: str) -> SavedQuery:
    return require_row(session, query, SavedQuery.id, query_id, "saved query")


def _checked(wanted: QueryContent, schema: str) -> tuple[dict[str, Any], int]:
    """Returns the columns and their total size in bytes."""
    name = bounds.require_name("name", wanted.name, most=MAX_NAME_LENGTH)
    description = bounds.require_text(
        "description", wanted.description, most=MAX_DESCRIPTION_LENGTH
    )
    if len(wanted.params) > MAX_PARAMS:
        raise Invalid.field("params", f"must have at most {MAX_PARAMS} entries")
    size = bounds.require_opaque("params", wanted.params, most=MAX_PARAMS_BYTES)
    _require_guarded(wanted.sql_text, schema)
    size += len(f"{name}{description}{wanted.sql_text}".encode())
    return {**vars(wanted), "name": name, "description": description}, size


def _require_guarded(sql_text: str, schema: str) -> None:
    """Raises `Invalid` naming `sql_text` with the guard's reasons."""
    try:
        guard(sql_text, None, schema=schema)
    except Invalid as refused:
        reasons = [reason for reasons in refused.fields.values() for reason in reasons]
        raise Invalid(
            f"sql_text: {'; '.join(reasons)}", fields={"sql_text": reasons}, code=refused.code
        ) from None
    # PostgreSQL cannot store U+0000, although ClickHouse might accept it.
    if "\x00" in sql_text:
        raise Invalid.field("sql_text", "must not contain U+0000")


def _sizes(org_id: uuid.UUID) -> Select[int]:
    one = SavedQuery
    of_each = sizes(one.name, one.description, one.sql_text, one.params)
    return of_each.where(one.org_id == org_id)


def _flush(session: Session) -> None:
    taken = Conflict("a query of this name exists: choose another name", code="query_name_taken")
    flush_unique(session, {"uq_saved_queries_name": taken})

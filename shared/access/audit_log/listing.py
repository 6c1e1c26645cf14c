"""Pages of the audit log, newest first, and its export."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, NamedTuple

import msgspec
from sqlalchemy import Select, select, tuple_
from sqlalchemy.orm import Session

from shared.access.audit_log.models import AuditLine
from shared.foundation.core.clock import from_us, to_us
from shared.foundation.core.cursor import Page, decode_cursor, encode_cursor
from shared.foundation.postgres import Postgres

# Lines that an export reads at a time.
CHUNK_LINES = 1000


class _LogPosition(NamedTuple):
    """A line in the list: its moment in microseconds, and its id."""

    us: Annotated[int, msgspec.Meta(ge=0, lt=2**52)]
    id: uuid.UUID


@dataclass(frozen=True)
class LineFilters:
    """Which lines to list: those of a range of time, with one of the values of each filter."""

    ts_from: datetime | None = None
    ts_to: datetime | None = None
    noun: Sequence[str] = ()
    action: Sequence[str] = ()
    actor: Sequence[str] = ()
    way: Sequence[str] = ()
    target_id: str | None = None


def list_(
    session: Session,
    org_id: uuid.UUID | None,
    filters: LineFilters,
    *,
    cursor: str | None,
    limit: int,
) -> Page[AuditLine]:
    """Lists lines of an organization, or of the operator's own log, newest first.

    Raises `Invalid` for a cursor that is none.
    """
    place = None if cursor is None else decode_cursor(cursor, _LogPosition)
    found = _after(session, _wanted(org_id, filters), place, limit + 1)
    more = len(found) > limit
    return Page(found[:limit], encode_cursor(_place_of(found[limit - 1])) if more else None)


def every(
    postgres: Postgres, org_id: uuid.UUID, filters: LineFilters
) -> Iterator[Sequence[AuditLine]]:
    """Yields all lines, newest first, some at a time, each time in a transaction of its own.

    A slow reader therefore keeps no connection. Lines that are written meanwhile are left out.
    """
    place: _LogPosition | None = None
    while True:
        with postgres.transaction() as session:
            found = _after(session, _wanted(org_id, filters), place, CHUNK_LINES)
        if found:
            yield found
        if len(found) < CHUNK_LINES:
            return
        place = _place_of(found[-1])


def _after(
    session: Session, query: Select[AuditLine], place: _LogPosition | None, limit: int
) -> list[AuditLine]:
    if place is not None:
        last = tuple_(from_us(place.us), place.id)
        query = query.where(tuple_(AuditLine.at, AuditLine.id) < last)
    newest_first = query.order_by(AuditLine.at.desc(), AuditLine.id.desc()).limit(limit)
    return list(session.scalars(newest_first))


def _wanted(org_id: uuid.UUID | None, filters: LineFilters) -> Select[AuditLine]:
    query = select(AuditLine).where(AuditLine.org_id == org_id)
    if filters.ts_from is not None:
        query = query.where(AuditLine.at >= filters.ts_from)
    if filters.ts_to is not None:
        query = query.where(AuditLine.at < filters.ts_to)
    if filters.target_id is not None:
        query = query.where(AuditLine.target_id == filters.target_id)
    for name in ("noun", "action", "actor", "way"):
        values = [value for value in getattr(filters, name) if "\0" not in value]
        if getattr(filters, name):
            query = query.where(getattr(AuditLine, name).in_(values))
    return query


def _place_of(line: AuditLine) -> _LogPosition:
    return _LogPosition(to_us(line.at), line.id)

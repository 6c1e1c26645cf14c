"""Pages of receipts, with those that Redis has not flushed yet."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, NamedTuple

import msgspec
from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.foundation.core.clock import from_us, now, to_us
from shared.foundation.core.cursor import Page, decode_cursor, encode_cursor
from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger
from shared.foundation.core.text import storable
from shared.foundation.deployment.runtime import Runtime
from shared.intake.receipts.flushing import flush
from shared.intake.receipts.lag import LARGEST, median_ms
from shared.intake.receipts.receipt import COUNTS, MAX_REASONS, NEWEST, REASON
from shared.intake.receipts.totals import Bucket, Total, Wanted, totals

log = get_logger(__name__)

DEFAULT_RANGE = timedelta(days=1)
_COLUMNS = ("source", "key_id", "sender", "machine_id", "service")
_Us = Annotated[int, msgspec.Meta(ge=0, le=2**52)]
_Text = Annotated[str, msgspec.Meta(max_length=200, pattern=r"^[^\x00]*$")]


class _Place(NamedTuple):
    """The sort key of the last row of a page."""

    last_us: _Us
    bucket_us: _Us
    source: _Text
    key_id: _Text
    sender: _Text
    machine_id: _Text
    service: _Text


@dataclass(frozen=True)
class ReceiptFilters:
    """The receipts to list; None means all, and for times the last 24 hours."""

    ts_from: datetime | None = None
    ts_to: datetime | None = None
    source: str | None = None
    key_id: str | None = None
    service: str | None = None


@dataclass(frozen=True)
class Lag:
    """Milliseconds from the answer to the stored batch; None if none is stored yet."""

    p50: int | None
    max: int | None


@dataclass(frozen=True)
class Receipts:
    """The arrivals from one origin and service in a bucket; None where requests did not say."""

    bucket_start: datetime | None
    source: str
    key_id: str | None
    key_name: str | None
    sender: str
    machine_id: str | None
    service: str | None
    counts: Mapping[str, int]
    reasons: list[Mapping[str, str | int]]
    first_at: datetime
    last_at: datetime
    lag_ms: Lag
    newest_event_at: datetime | None


def list_receipts(
    runtime: Runtime,
    org_id: uuid.UUID,
    filters: ReceiptFilters,
    *,
    bucket: Bucket,
    cursor: str | None,
    limit: int,
) -> Page[Receipts]:
    """Lists receipts, the newest last request first. Raises `Invalid` for a cursor that is none."""
    after = None if cursor is None else decode_cursor(cursor, _Place)
    flush_if_possible(runtime, org_id)
    with runtime.postgres.transaction() as session:
        found = totals(
            session,
            _wanted(org_id, filters),
            _COLUMNS,
            bucket=bucket,
            after=None if after is None else (from_us(after[0]), from_us(after[1]), *after[2:]),
            limit=limit + 1,
        )
        names = _key_names(session, {total.labels[1] for total in found})
    page = found[:limit]
    rows = [_row(total, names, has_bucket=bucket != "none") for total in page]
    return Page(rows, _cursor(page[-1]) if len(found) > limit else None)


def flush_if_possible(runtime: Runtime, org_id: uuid.UUID) -> None:
    """Brings the newest receipts into PostgreSQL, unless Redis is down."""
    try:
        flush(runtime.postgres, runtime.redis, str(org_id))
    except Unavailable as error:
        log.warning("receipts_not_flushed", reason=error.message)


def _wanted(org_id: uuid.UUID, filters: ReceiptFilters) -> Wanted:
    ts_to = filters.ts_to or now() + timedelta(hours=1)
    values = {
        name: [storable(given)]
        for name in ("source", "key_id", "service")
        if (given := getattr(filters, name)) is not None
    }
    return Wanted(org_id, filters.ts_from or now() - DEFAULT_RANGE, ts_to, values)


def _cursor(total: Total) -> str:
    return encode_cursor((to_us(total.last_at), to_us(total.bucket), *total.labels))


def _key_names(session: Session, key_ids: Iterable[str]) -> Mapping[str, str]:
    statement = text("SELECT CAST(id AS text) AS id, name FROM api_keys WHERE id = ANY(:ids)")
    ids = [uuid.UUID(key_id) for key_id in key_ids if key_id]
    return {row.id: row.name for row in session.execute(statement, {"ids": ids})}


def _row(total: Total, names: Mapping[str, str], *, has_bucket: bool) -> Receipts:
    source, key_id, sender, machine_id, service = total.labels
    tally = total.tally
    newest_us = tally.get(NEWEST)
    return Receipts(
        bucket_start=total.bucket if has_bucket else None,
        source=source,
        key_id=key_id or None,
        key_name=names.get(key_id),
        sender=sender,
        machine_id=machine_id or None,
        service=service or None,
        counts={name: tally.get(name, 0) for name in COUNTS},
        reasons=_reasons(tally),
        first_at=total.first_at,
        last_at=total.last_at,
        lag_ms=Lag(median_ms(tally), tally.get(LARGEST)),
        newest_event_at=None if newest_us is None else from_us(newest_us),
    )


def _reasons(tally: Mapping[str, int]) -> list[Mapping[str, str | int]]:
    counts = {name.removeprefix(REASON): n for name, n in tally.items() if name.startswith(REASON)}
    most = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:MAX_REASONS]
    return [{"reason": reason, "count": count} for reason, count in most]

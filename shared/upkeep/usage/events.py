"""Counts of the events that arrived in a billing window, exact although some are sent twice.

An event counts where its first copy arrived: `FINAL` keeps that copy. Arrival is neither in the key
nor in the partition of the table, but two bounds on `ts` follow from it, and only the rows between
them are read:

- No event is accepted that lies further ahead of its arrival than `MAX_FUTURE`.
- A session that received an event since some moment has a `last_arrival` at or after that moment,
  and none of its events is older than its `started_at`. There are far fewer sessions than events.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import POSITION_BITS, TABLE
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.where import Where, us
from shared.foundation.core.clock import from_us, to_us
from shared.intake.ingest.batch import MAX_FUTURE
from shared.upkeep.usage.billing_windows import LENGTH_MS, BillingWindow


class EventTotals(NamedTuple):
    """The numbers of distinct events and of their sessions, agents and environments."""

    events: int = 0
    sessions: int = 0
    agents: int = 0
    environments: int = 0


def event_totals(clickhouse: ClickHouse, org_id: str, window: BillingWindow) -> EventTotals:
    """Returns the totals of one window."""
    where = _arrived(clickhouse, org_id, window)
    if where is None:
        return EventTotals()
    [row] = clickhouse.rows(
        "SELECT count(), uniqExact(session_id), uniqExact(agent_id), uniqExact(environment)"
        f" FROM {TABLE} FINAL WHERE {where}",
        where.params,
        settings=PAGE,
    )
    return EventTotals(*row)


def events_by_window(clickhouse: ClickHouse, org_id: str, span: BillingWindow) -> Mapping[int, int]:
    """Counts the events in each window of `span`.

    Keys are window numbers from the start of `span`.
    """
    where = _arrived(clickhouse, org_id, span)
    if where is None:
        return {}
    return dict(
        clickhouse.rows(
            f"SELECT intDiv(bitShiftRight(arrival, {POSITION_BITS}) - {{start_ms:UInt64}},"
            f" {LENGTH_MS}) AS place, count()"
            f" FROM {TABLE} FINAL WHERE {where} GROUP BY place",
            {**where.params, "start_ms": _ms(span.start)},
            settings=PAGE,
        )
    )


def _arrived(clickhouse: ClickHouse, org_id: str, window: BillingWindow) -> Where | None:
    """Returns conditions for the events that arrived in a window, None if there are none."""
    since = _ms(window.start) << POSITION_BITS
    oldest = _oldest_since(clickhouse, org_id, since)
    if oldest is None:
        return None
    return (
        Where(org_id)
        .between("ts", oldest, window.end + MAX_FUTURE)
        .add("arrival >= {since:UInt64}", since=since)
        .add("arrival < {until:UInt64}", until=_ms(window.end) << POSITION_BITS)
    )


def _oldest_since(clickhouse: ClickHouse, org_id: str, since: int) -> datetime | None:
    """Returns a moment before all events that arrived since; None if there are none.

    Rows of a session that are not merged yet are read separately: each covers its own events.
    """
    where = Where(org_id).add("last_arrival >= {since:UInt64}", since=since)
    [(count, oldest)] = clickhouse.rows(
        f"SELECT count(), {us('min(started_at)')} FROM agent_sessions WHERE {where}",
        where.params,
        settings=PAGE,
    )
    return from_us(oldest) if count else None


def _ms(moment: datetime) -> int:
    """Cuts a moment to milliseconds, the precision of arrivals.

    Both ends of a window are cut alike.
    """
    return to_us(moment) // 1000

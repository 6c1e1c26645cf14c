"""One event of a session."""

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.settings import SMALL_PAGE
from shared.foundation.clickhouse.where import us
from shared.reading.dimensions.effective import filled
from shared.reading.sessions import facts as session_facts

_SELECTED = {"ts": us("ts")}


def find(
    clickhouse: ClickHouse,
    org_id: str,
    session_id: str,
    event_id: int,
    columns: tuple[str, ...],
) -> Row | None:
    """Returns `columns` of an event, `ts` in microseconds; None if the session has no such event.

    Its user and version are the effective ones. `event_id` must not be negative, and below 2^64.
    """
    facts = session_facts.find(clickhouse, org_id, session_id)
    if facts is None:
        return None
    where = session_facts.events_of(org_id, facts).add("id = {id:UInt64}", id=event_id)
    chosen = ", ".join(_SELECTED.get(name, name) for name in columns)
    rows = clickhouse.rows(
        f"SELECT {chosen} FROM {TABLE} FINAL PREWHERE {where} LIMIT 1",
        where.params,
        settings=SMALL_PAGE,
    )
    return next(iter(filled(clickhouse, org_id, columns, rows)), None)

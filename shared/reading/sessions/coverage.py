"""The events that a reading of a session covers: those that had arrived by then."""

from collections.abc import Sequence
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.where import Where, us
from shared.reading.sessions.facts import SessionFacts


class Coverage(NamedTuple):
    """The highest `arrival` of a session's events, their number, and the time of the last one.

    The time is in microseconds. An event that was sent again keeps its first arrival.
    """

    revision: int
    events: int
    until: int


_COVERAGE = f"""
SELECT session_id, max(arrival), count(), {us("max(ts)")}
FROM {TABLE} FINAL
PREWHERE {{where}}
GROUP BY session_id
SETTINGS do_not_merge_across_partitions_select_final = 1,
    use_skip_indexes_if_final_exact_mode = 0
"""


def of_sessions(
    clickhouse: ClickHouse, org_id: str, sessions: Sequence[SessionFacts]
) -> dict[str, Coverage]:
    """Returns what a reading of these sessions covers now, by session id."""
    if not sessions:
        return {}
    where = Where(org_id).any_of("session_id", [one.session_id for one in sessions])
    where.within(
        "ts",
        min(one.started_at for one in sessions),
        max(one.last_event_at for one in sessions) + 1,
    )
    rows = clickhouse.rows(_COVERAGE.format(where=where), where.params, settings=PAGE)
    return {row[0]: Coverage(*row[1:]) for row in rows}

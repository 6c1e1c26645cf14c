"""The content of periods in a few bytes: a file is out of date when its period's bytes differ.

Copies of a row that ClickHouse has not merged yet count too. So a fingerprint may change without a
change of rows, and the file is then written once more, with the same content.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.rewriting import IS_REWRITTEN
from shared.foundation.clickhouse.where import moment
from shared.foundation.core.clock import from_us, to_us
from shared.reading.exports.columns import What
from shared.reading.exports.schedules.periods import Every

# Reads a few narrow columns of a range, and no person waits for it.
_SETTINGS = {"max_execution_time": 120, "max_threads": 1}

_START: Mapping[Every, str] = {"hourly": "toStartOfHour", "daily": "toStartOfDay"}

# The time of a row, and a number that tells its content from that of other rows.
_ROWS: Mapping[What, tuple[str, str]] = {
    # An event that was not written again has the same text as before there were versions.
    "events": (
        "ts",
        f"if({IS_REWRITTEN}, cityHash64(id, arrival, version), cityHash64(id, arrival))",
    ),
    "evaluations": ("completed_at", "cityHash64(evaluation_id, status)"),
}


class Fingerprint(NamedTuple):
    """A period's rows: their number, copies included, and a text that tells them from others."""

    rows: int
    text: str


def of_periods(
    clickhouse: ClickHouse, org_id: str, what: What, every: Every, start: datetime, end: datetime
) -> dict[datetime, Fingerprint]:
    """Returns the fingerprint of each period from `start` to `end` that has rows, by its start."""
    found = clickhouse.rows(
        _of_sessions(every) if what == "sessions" else _of_rows(what, every),
        {"org_id": org_id, "start": to_us(start), "end": to_us(end)},
        settings=_SETTINGS,
    )
    return {
        from_us(secs * 1_000_000): Fingerprint(rows, f"{rows}:{hashed}")
        for secs, rows, hashed in found
    }


def _of_rows(what: What, every: Every) -> str:
    time, values = _ROWS[what]
    return f"""
SELECT toUnixTimestamp({_START[every]}({time})), count(), sum({values})
FROM {what} WHERE {_in_range(time)} GROUP BY 1"""


def _of_sessions(every: Every) -> str:
    """Returns the statement of sessions, which belong to the period of their newest event."""
    return f"""
SELECT toUnixTimestamp({_START[every]}(newest)), count(), sum(cityHash64(session_id, newest, seen))
FROM (
    SELECT session_id, max(last_event_at) AS newest, max(last_arrival) AS seen
    FROM agent_sessions
    WHERE org_id = {{org_id:String}}
        AND session_id IN (SELECT session_id FROM agent_sessions WHERE {_in_range("last_event_at")})
    GROUP BY session_id
)
WHERE newest < {moment("end")} GROUP BY 1"""


def _in_range(time: str) -> str:
    return (
        f"org_id = {{org_id:String}} AND {time} >= {moment('start')} AND {time} < {moment('end')}"
    )

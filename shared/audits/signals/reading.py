"""Reads that several signals share: comparisons with the window before, and citations.

Each number of a finding is one SQL expression. The signal evaluates it with bound values. Its
evidence query repeats it over the published views with literals; only the condition that a row lies
in the audit's window is written differently.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from shared.audits.signals import sql
from shared.audits.signals.interface import MAX_CITED, Look, Window
from shared.clickhouse import Row
from shared.clickhouse.settings import PAGE
from shared.clickhouse.where import Where, moment, us
from shared.core.clock import from_us, to_us

# A signal files only its strongest findings: the citations of each cost two more statements.
MAX_CANDIDATES = 20


class Cited(NamedTuple):
    """The sessions and events that meet a condition, newest first, and the number of sessions."""

    sessions: int
    first_seen_at: datetime
    last_seen_at: datetime
    session_ids: tuple[str, ...]
    event_ids: tuple[int, ...]


_SESSIONS = f"""
SELECT count(), min(first), max(last), groupArraySorted({MAX_CITED})((-last, session_id))
FROM (
    SELECT session_id, min({us("ts")}) AS first, max({us("ts")}) AS last
    FROM events FINAL
    PREWHERE {{where}}
    GROUP BY session_id
)
"""
_EVENTS = f"""
SELECT id FROM events FINAL PREWHERE {{where}}
ORDER BY ts DESC, arrival DESC, id DESC LIMIT {MAX_CITED}
"""
_LAST_EVENTS = """
SELECT id FROM events FINAL PREWHERE {where}
ORDER BY ts DESC, arrival DESC, id DESC LIMIT 1 BY session_id
"""


def rows(look: Look, statement: str, params: Mapping[str, object]) -> list[Row]:
    """Returns the rows of a signal's statement, under the same time limit as any other read."""
    return look.clickhouse.rows(statement, params, settings=PAGE)


def cited(look: Look, where: Where) -> Cited | None:
    """Returns the citations of a finding about the events of `where`, None if there are none."""
    [(count, first, last, newest)] = rows(look, _SESSIONS.format(where=where), where.params)
    if not count:
        return None
    return Cited(
        sessions=count,
        first_seen_at=from_us(first),
        last_seen_at=from_us(last),
        session_ids=tuple(session_id for _, session_id in newest),
        event_ids=newest_events(look, where),
    )


def newest_events(look: Look, where: Where) -> tuple[int, ...]:
    """Returns the ids of the newest events of `where`."""
    found = rows(look, _EVENTS.format(where=where), where.params)
    return tuple(event_id for (event_id,) in found)


def last_events(look: Look, session_ids: Sequence[str]) -> tuple[int, ...]:
    """Returns the id of the last event of each session, if both windows contain one."""
    window = with_before(look)
    where = Where(look.org_id).between("ts", window.start, window.stop)
    where.any_of("session_id", session_ids)
    found = rows(look, _LAST_EVENTS.format(where=where), where.params)
    return tuple(event_id for (event_id,) in found)


def with_before(look: Look) -> Window:
    """Joins the audit's window and the one before it."""
    return Window(look.window.before.start, look.window.stop)


def is_now(look: Look, where: Where, column: str = "ts") -> str:
    """Returns the SQL condition that a row lies in the audit's window.

    Binds the value in `where`.
    """
    where.params["start"] = to_us(look.window.start)
    return f"{column} >= {moment('start')}"


def is_now_literal(look: Look, column: str = "ts") -> str:
    """Returns the condition of `is_now` with a literal, for an evidence query."""
    return f"{column} >= {sql.moment(look.window.start)}"


def select_list(expressions: Mapping[str, str]) -> str:
    """Lists the expressions under their names."""
    return ", ".join(f"{expression} AS {name}" for name, expression in expressions.items())

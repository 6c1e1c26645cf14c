"""What several signals read in the same way: groups compared with the window before, citations.

A number of a finding is one expression of SQL. The signal evaluates it where it looks, with bound
values, and its evidence query states it again over the published views, with literals; only the
condition that a row lies in the audit's window is spelled differently.
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

# A signal files its strongest findings only: each costs two statements more for what it cites.
MAX_CANDIDATES = 20


class Cited(NamedTuple):
    """The sessions and events of some condition, newest first, and how many sessions there are."""

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
    """The rows of a statement of a signal, which is given as long as any other read."""
    return look.clickhouse.rows(statement, params, settings=PAGE)


def cited(look: Look, where: Where) -> Cited | None:
    """What a finding about the events of `where` cites, None when there are none."""
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
    """The ids of the newest events of `where`."""
    found = rows(look, _EVENTS.format(where=where), where.params)
    return tuple(event_id for (event_id,) in found)


def last_events(look: Look, session_ids: Sequence[str]) -> tuple[int, ...]:
    """The ids of the last event of each of these sessions, as far as both windows have one."""
    window = with_before(look)
    where = Where(look.org_id).between("ts", window.start, window.stop)
    where.any_of("session_id", session_ids)
    found = rows(look, _LAST_EVENTS.format(where=where), where.params)
    return tuple(event_id for (event_id,) in found)


def with_before(look: Look) -> Window:
    """The audit's window and the one before it as one."""
    return Window(look.window.before.start, look.window.stop)


def is_now(look: Look, where: Where, column: str = "ts") -> str:
    """SQL of: a row of both windows lies in the audit's; `where` gets the value."""
    where.params["start"] = to_us(look.window.start)
    return f"{column} >= {moment('start')}"


def is_now_literal(look: Look, column: str = "ts") -> str:
    """What `is_now` says, for an evidence query."""
    return f"{column} >= {sql.moment(look.window.start)}"


def select_list(expressions: Mapping[str, str]) -> str:
    """Expressions under their names."""
    return ", ".join(f"{expression} AS {name}" for name, expression in expressions.items())

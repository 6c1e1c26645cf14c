"""All sessions that match the filters, as SQL: for sums over them and for orders by a value."""

from typing import NamedTuple

from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.slices import TimeRange
from shared.foundation.clickhouse.where import Where, moment
from shared.reading.sessions.selection import CANDIDATES, NEWEST, SessionFilters, conditions


class Matching(NamedTuple):
    """SQL of the matching sessions with `session_id`, `newest` and `started`, and its parameters.

    `events` is SQL with `{}` for the values that are selected from the events of each session.
    """

    sessions: str
    events: str
    params: dict[str, object]


def matching(org_id: str, wanted: SessionFilters, span: TimeRange) -> Matching:
    """Returns the sessions that `wanted` describes and whose last event lies in `span`."""
    where = Where(org_id)
    candidates = CANDIDATES if span.start > 0 else ""
    if wanted.session_ids:
        where.any_of("session_id", wanted.session_ids)
    elif candidates:
        where.add(f"session_id IN ({candidates})")
    having = conditions(where, wanted, candidates, span)
    sessions = (
        f"SELECT session_id, {NEWEST} AS newest, min(started_at) AS started FROM agent_sessions"
        f" WHERE {where} GROUP BY session_id HAVING {' AND '.join(having)}"
    )
    return Matching(sessions, _events(sessions, wanted, span), where.params)


def _events(sessions: str, wanted: SessionFilters, span: TimeRange) -> str:
    """Returns SQL of values of the events of `sessions`, by session.

    Sessions of other times only cost what reading their events in the range costs. Other filters
    may leave a few sessions, whose granules the index on the session finds.
    """
    bounds = ["org_id = {{org_id:String}}", f"ts < {_kept(moment('stop'))}"]
    if span.start > 0:
        bounds.append(f"ts >= (SELECT min(started) FROM ({_kept(sessions)}))")
    if wanted.replace(ts_from=None, ts_to=None):
        bounds.append(f"session_id IN (SELECT session_id FROM ({_kept(sessions)}))")
    return (
        f"SELECT session_id, {{}} FROM {TABLE} FINAL PREWHERE {' AND '.join(bounds)}"
        " GROUP BY session_id"
    )


def _kept(sql: str) -> str:
    """Returns SQL that `str.format` gives back as it is."""
    return sql.replace("{", "{{").replace("}", "}}")

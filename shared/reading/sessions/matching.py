"""All sessions that match the filters, as SQL: for sums over them and for orders by a value."""

from typing import NamedTuple

from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.slices import TimeRange
from shared.foundation.clickhouse.where import Where, moment
from shared.reading.dimensions import few
from shared.reading.sessions.selection import CANDIDATES, SessionFilters, conditions, grouped


class Matching(NamedTuple):
    """SQL of the matching sessions with `session_id`, `newest` and `started`, and its parameters.

    `bounds` are the conditions of their events.
    """

    sessions: str
    bounds: tuple[str, ...]
    params: dict[str, object]

    def events(self, values: str, *which: str) -> str:
        """Returns SQL of `values` of the events of each session, of those `which` are meant."""
        conditions = " AND ".join([*self.bounds, *which])
        return (
            f"SELECT session_id, {values} FROM {TABLE} FINAL PREWHERE {conditions}"
            " GROUP BY session_id"
        )


def matching(org_id: str, wanted: SessionFilters, span: TimeRange) -> Matching:
    """Returns the sessions that `wanted` describes and whose last event lies in `span`."""
    where = Where(org_id)
    candidates = CANDIDATES if span.start > 0 else ""
    if wanted.session_ids:
        where.any_of("session_id", wanted.session_ids)
    elif candidates:
        where.add(f"session_id IN ({candidates})")
    few.narrow(where, wanted)
    having = conditions(where, wanted, candidates, span)
    sessions = grouped(where, having)
    return Matching(sessions, _bounds(sessions, wanted, span), where.params)


def _bounds(sessions: str, wanted: SessionFilters, span: TimeRange) -> tuple[str, ...]:
    """Returns conditions that all events of `sessions` meet.

    Sessions of other times only cost what reading their events in the range costs. Other filters
    may leave a few sessions, whose granules the index on the session finds.
    """
    bounds = ["org_id = {org_id:String}", f"ts < {moment('stop')}"]
    if span.start > 0:
        bounds.append(f"ts >= (SELECT min(started) FROM ({sessions}))")
    if wanted.replace(ts_from=None, ts_to=None):
        bounds.append(f"session_id IN (SELECT session_id FROM ({sessions}))")
    return tuple(bounds)

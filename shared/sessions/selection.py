"""Which sessions a page shows: filters and order, without the rest of what the page tells."""

from datetime import datetime
from typing import Literal, NamedTuple

import msgspec

from shared.clickhouse import ClickHouse
from shared.clickhouse.settings import PAGE
from shared.clickhouse.where import Where, moment, us
from shared.clock import to_us
from shared.evaluations.latest import sessions_by_latest
from shared.evaluations.score_filters import ScoreFilter

LatestStatus = Literal["done", "error", "timeout", "none"]


class SessionFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which sessions: AND between fields, OR inside one; an empty field is no condition.

    `agent_ids` match any agent of a session, `statuses` and `scores` its newest result (`none`: it
    has no result), `ts_from` (inclusive) and `ts_to` (exclusive) its last event.
    """

    session_ids: tuple[str, ...] = ()
    agent_ids: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    statuses: tuple[LatestStatus, ...] = ()
    scores: tuple[ScoreFilter, ...] = ()
    ts_from: datetime | None = None
    ts_to: datetime | None = None


class SessionKey(NamedTuple):
    """A session's place in the list; `last_event_at` in microseconds."""

    last_event_at: int
    session_id: str


_NEWEST = "max(last_event_at)"
_EVALUATED = "SELECT session_id FROM evaluations WHERE org_id = {org_id:String}"

# Only the columns that the filters need are read: the states of the others are many times as large.
_SELECT = f"""
SELECT {us(_NEWEST)}, session_id
FROM agent_sessions
WHERE {{where}}
GROUP BY session_id
HAVING {{having}}
ORDER BY {_NEWEST} DESC, session_id DESC
LIMIT {{{{limit:UInt32}}}}
"""


def select(
    clickhouse: ClickHouse,
    org_id: str,
    wanted: SessionFilter,
    *,
    limit: int,
    after: SessionKey | None,
) -> list[SessionKey]:
    """The keys of at most `limit` sessions after `after`, newest last event first."""
    where = Where(org_id).any_of("session_id", wanted.session_ids)
    _filter_by_result(where, wanted)
    having = _having(where, wanted, after)
    rows = clickhouse.rows(
        _SELECT.format(where=where, having=" AND ".join(having) or "true"),
        {**where.params, "limit": limit},
        settings=PAGE,
    )
    return [SessionKey(*row) for row in rows]


def _filter_by_result(where: Where, wanted: SessionFilter) -> None:
    statuses = [status for status in wanted.statuses if status != "none"]
    choices = []
    if statuses or (wanted.scores and not wanted.statuses):
        choices.append(f"session_id IN ({sessions_by_latest(where, statuses, wanted.scores)})")
    # What was never evaluated has no scores that a filter could ask for.
    if "none" in wanted.statuses and not wanted.scores:
        choices.append(f"session_id NOT IN ({_EVALUATED})")
    if choices:
        where.add(" OR ".join(choices))
    elif wanted.statuses:
        where.add("false")


def _having(where: Where, wanted: SessionFilter, after: SessionKey | None) -> list[str]:
    """Conditions on what a session's rows add up to; their parameters go into `where`."""
    having = []
    if wanted.agent_ids:
        having.append("max(hasAny(agents, {agent_ids:Array(String)}))")
        where.params["agent_ids"] = list(wanted.agent_ids)
    if wanted.environments:
        having.append("argMinMerge(first_event).2 IN {environments:Array(String)}")
        where.params["environments"] = list(wanted.environments)
    for operator, name, bound in ((">=", "ts_from", wanted.ts_from), ("<", "ts_to", wanted.ts_to)):
        if bound is not None:
            having.append(f"{_NEWEST} {operator} {moment(name)}")
            where.params[name] = to_us(bound)
    if after is not None:
        having.append(f"({_NEWEST}, session_id) < ({moment('after')}, {{after_id:String}})")
        where.params.update(after=after.last_event_at, after_id=after.session_id)
    return having

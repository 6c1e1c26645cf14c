"""The selection of a page's sessions: filters and order, without the other columns."""

from collections.abc import Sequence
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.filters import Filter, Filters, any_of, time_range
from shared.foundation.clickhouse.root_agent import FIRST_EVENT
from shared.foundation.clickhouse.settings import SMALL_PAGE
from shared.foundation.clickhouse.slices import FUTURE_US, HOUR_US, Slices, TimeRange, newest_event
from shared.foundation.clickhouse.where import Where, moment, us
from shared.foundation.core.clock import now_us, to_us
from shared.reading.dimensions import few
from shared.reading.dimensions.conditions import session_attributes, session_missing
from shared.reading.dimensions.filters import ATTRIBUTES, MISSING, OF_SESSION, dimensions_sql
from shared.reading.evaluations.filters import SCORE_FILTERS, STATUSES
from shared.reading.evaluations.latest import result_sql, sessions_by_latest
from shared.reading.sessions.facts import SELECT_LIST, SessionFacts, from_row
from shared.reading.sessions.metrics import METRIC_FILTERS, conditions_of, metric_sql


class SessionFilters(Filters):
    """The filters of sessions; their conditions are on all rows of a session together.

    `status` and `score_filters` are about the newest result, `metric_filters` about all events of
    the session, and the time is that of the last event. The read makes their conditions.
    """

    declared = (
        Filter("session_id", "any_of", "session", published="{}", label="Session"),
        Filter(
            "agent_id",
            "any_of",
            "any agent of the session",
            "max(hasAny(agents, {}))",
            "arrayExists(a -> {}, agents)",
            "a.1",
            label="Agent",
        ),
        any_of("environment", "environment", f"{FIRST_EVENT}.2", label="Environment"),
        Filter(
            "status",
            "any_of",
            "status of its newest evaluation: done, error, timeout; `none`: it has none",
            choices=(*STATUSES, "none"),
            label="Status",
        ),
        SCORE_FILTERS,
        METRIC_FILTERS,
        *OF_SESSION,
        ATTRIBUTES,
        MISSING,
        *time_range("last event", published="last_event_at"),
    )

    def sql(self) -> list[str]:
        """Returns the conditions over the view `agent_sessions`."""
        results = result_sql(self["status"], self["score_filters"])
        metrics = [part for one in self["metric_filters"] for part in metric_sql(one)]
        return [*super().sql(), *dimensions_sql(self), *results, *metrics]


class SessionPosition(NamedTuple):
    """A session's place in the list by last event; `last_event_at` in microseconds."""

    last_event_at: int
    session_id: str


NEWEST = "max(last_event_at)"
_EVALUATED = "SELECT session_id FROM evaluations WHERE org_id = {org_id:String}"

# A session's newest event is in one of its rows, so these are the sessions whose newest event lies
# in the slice, and some that went on after it. The projection `by_time` finds them quickly.
CANDIDATES = f"""SELECT session_id FROM agent_sessions
WHERE org_id = {{org_id:String}}
    AND last_event_at >= {moment("start")} AND last_event_at < {moment("stop")}"""

# Nothing is newer than the first slice of the first page that has any session. Without filters its
# newest sessions are therefore the page, and no others need their facts.
_NEWEST_CANDIDATES = f"""{CANDIDATES}
GROUP BY session_id ORDER BY {NEWEST} DESC, session_id DESC LIMIT {{limit:UInt32}}"""

# Sessions that were found, or that the request names.
_GIVEN = "SELECT arrayJoin({ids:Array(String)})"

# The first slice. Filling a page with sessions of a certain result or figure takes more sessions.
_ALL_US = HOUR_US
_BY_RESULT_US = 12 * HOUR_US
_OF_SOME = ("status", "score_filters", "metric_filters")

# Selects the facts as well, which costs less than finding the same sessions again.
_SELECT = f"""
SELECT {SELECT_LIST}
FROM agent_sessions
WHERE {{where}}
GROUP BY session_id
HAVING {{having}}
ORDER BY {NEWEST} {{direction}}, session_id {{direction}}
LIMIT {{{{limit:UInt32}}}}
"""


class _Order(NamedTuple):
    """The direction of a list, and the comparison of a session with the one before it."""

    direction: str
    follows: str


_DESCENDING, _ASCENDING = _Order("DESC", "<"), _Order("ASC", ">")


def select(
    clickhouse: ClickHouse,
    org_id: str,
    wanted: SessionFilters,
    *,
    limit: int,
    after: SessionPosition | None,
    ascending: bool = False,
) -> list[SessionFacts]:
    """Returns at most `limit` sessions after `after`, newest last event first.

    With `ascending` the oldest last event is first.
    """
    order = _ASCENDING if ascending else _DESCENDING
    span = _span(wanted, after, ascending=ascending)
    ids = wanted.session_ids or few.sessions_of(clickhouse, org_id, wanted)
    if ids is not None:
        where = Where(org_id).add("session_id IN {ids:Array(String)}", ids=list(ids))
        return _read(clickhouse, where, wanted, _GIVEN, span, after, limit, order)
    if ascending and span.start == 0:
        span = TimeRange(oldest_row(clickhouse, org_id), span.stop)
    first_us = _BY_RESULT_US if any(wanted[name] for name in _OF_SOME) else _ALL_US
    slices = Slices(
        span,
        wanted=limit,
        first_us=first_us,
        newest=lambda: newest_event(clickhouse, org_id),
        ascending=ascending,
    )
    is_plain = after is None and not wanted and not ascending
    found: list[SessionFacts] = []
    for piece in slices:
        candidates = _NEWEST_CANDIDATES if is_plain and not found else CANDIDATES
        where = Where(org_id).add(
            f"session_id IN ({candidates})", start=piece.start, stop=piece.stop
        )
        sessions = _read(
            clickhouse, where, wanted, CANDIDATES, piece, after, limit - len(found), order
        )
        slices.found(len(sessions))
        found += sessions
    return found


def _span(wanted: SessionFilters, after: SessionPosition | None, *, ascending: bool) -> TimeRange:
    """Returns the range that contains the newest events of the sessions."""
    start = to_us(wanted.ts_from) if wanted.ts_from else 0
    stop = to_us(wanted.ts_to) if wanted.ts_to else now_us() + FUTURE_US
    if after is None:
        return TimeRange(start, stop)
    if ascending:
        return TimeRange(max(start, after.last_event_at), stop)
    return TimeRange(start, min(stop, after.last_event_at + 1))


def oldest_row(clickhouse: ClickHouse, org_id: str) -> int:
    """Returns a time before which no session has its newest event, in microseconds."""
    rows = clickhouse.rows(
        f"SELECT {us('last_event_at')} FROM agent_sessions WHERE org_id = {{org_id:String}}"
        " ORDER BY last_event_at LIMIT 1",
        {"org_id": org_id},
        settings=SMALL_PAGE,
    )
    return int(rows[0][0]) if rows else 0


def _read(
    clickhouse: ClickHouse,
    where: Where,
    wanted: SessionFilters,
    candidates: str,
    piece: TimeRange,
    after: SessionPosition | None,
    limit: int,
    order: _Order,
) -> list[SessionFacts]:
    having = conditions(where, wanted, candidates, piece)
    if after is not None:
        key = f"({moment('after')}, {{after_id:String}})"
        having.append(f"({NEWEST}, session_id) {order.follows} {key}")
        where.params.update(after=after.last_event_at, after_id=after.session_id)
    where.params["limit"] = limit
    sql = _SELECT.format(where=where, having=" AND ".join(having), direction=order.direction)
    rows = clickhouse.rows(sql, where.params, settings=SMALL_PAGE)
    return [from_row(row) for row in rows]


def conditions(where: Where, wanted: SessionFilters, candidates: str, span: TimeRange) -> list[str]:
    """Returns conditions on the aggregates of a session's rows: the filters, and `span`.

    Adds the conditions on single rows, and all parameters, to `where`. `candidates` is SQL of the
    session ids whose results are searched; empty means all.
    """
    _filter_by_result(where, wanted, candidates)
    of_all_rows = wanted.where(str(where.params["org_id"]))
    where.params.update(start=span.start, stop=span.stop)
    seen = session_attributes(of_all_rows, wanted["attr"])
    unseen = session_missing(of_all_rows, wanted["missing"])
    where.params.update(of_all_rows.params)
    dimensions = [*(f"max({one})" for one in seen), *(f"min({one})" for one in unseen)]
    of_times, bounds = conditions_of(wanted["metric_filters"], of_times=True)
    where.params.update(bounds)
    in_span = f"{NEWEST} >= {moment('start')} AND {NEWEST} < {moment('stop')}"
    having = [in_span, *of_all_rows.added, *dimensions, *of_times]
    return [*having, *_of_events(where, wanted, having)]


def grouped(where: Where, having: Sequence[str]) -> str:
    """Returns SQL of the sessions with these conditions: `session_id`, `newest` and `started`."""
    return (
        f"SELECT session_id, {NEWEST} AS newest, min(started_at) AS started FROM agent_sessions"
        f" WHERE {where} GROUP BY session_id HAVING {' AND '.join(having)}"
    )


def _of_events(where: Where, wanted: SessionFilters, having: Sequence[str]) -> list[str]:
    """Returns the condition on the events of the sessions that pass all others, if there is one.

    Their events lie between their first start and the end of the range.
    """
    asked, bounds = conditions_of(wanted["metric_filters"], of_times=False)
    if not asked:
        return []
    sessions = grouped(where, having)
    where.params.update(bounds)
    events = (
        f"SELECT session_id FROM {TABLE} FINAL PREWHERE org_id = {{org_id:String}}"
        f" AND ts >= (SELECT min(started) FROM ({sessions})) AND ts < {moment('stop')}"
        f" AND session_id IN (SELECT session_id FROM ({sessions}))"
        f" GROUP BY session_id HAVING {' AND '.join(asked)}"
    )
    return [f"session_id IN ({events})"]


def _filter_by_result(where: Where, wanted: SessionFilters, candidates: str) -> None:
    asked, scores = wanted["status"], wanted["score_filters"]
    statuses = [status for status in asked if status != "none"]
    choices = []
    if statuses or (scores and not asked):
        sessions = sessions_by_latest(where, statuses, scores, candidates)
        choices.append(f"session_id IN ({sessions})")
    # A session that was never evaluated has no scores to filter by.
    if "none" in asked and not scores:
        choices.append(f"session_id NOT IN ({_EVALUATED})")
    if choices:
        where.add(" OR ".join(choices))
    elif asked:
        where.add("false")

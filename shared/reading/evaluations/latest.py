"""The newest result of each session."""

from collections.abc import Sequence

from shared.foundation.clickhouse import ClickHouse, literals
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.slices import HOUR_US
from shared.foundation.clickhouse.where import Where, moment, us
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.evaluations.reading import (
    KEY,
    NEWEST_FIRST,
    ORDER_KEY,
    ResultKey,
    WeighedResult,
    come_after,
    newest_of_each,
)
from shared.reading.evaluations.score_filters import ScoreFilter, conditions, score_sql
from shared.reading.evaluations.source import source_of

# SQL of the scores in the newest result of each session of an organization.
NEWEST_SCORES = (
    f"SELECT session_id, argMax(scores, {ORDER_KEY}) AS scores FROM evaluations"
    " WHERE org_id = {org_id:String} GROUP BY session_id"
)

# The same in people's SQL, with the status.
NEWEST_RESULTS = (
    "SELECT session_id, argMax(status, (completed_at, id)) AS newest_status,"
    " argMax(scores, (completed_at, id)) AS newest_scores FROM evaluations GROUP BY session_id"
)

_EARLIER_US = 48 * HOUR_US
# Most sessions are evaluated once or twice.
_CANDIDATES = 4


def latest_of(
    clickhouse: ClickHouse, org_id: str, session_ids: Sequence[str], *, since: int
) -> dict[str, WeighedResult]:
    """Returns the newest result of each of `session_ids` that has one, by session id.

    The sessions have no event before `since`, in microseconds. Results that are older by more than
    two days are not searched: an event may be dated a day ahead, which leaves another day by which
    the clocks of two servers may differ.
    """
    if not session_ids:
        return {}
    where = Where(org_id).any_of("session_id", session_ids)
    where.add(f"completed_at >= {moment('since')}", since=since - _EARLIER_US)
    return {row.record.session_id: row for row in newest_of_each(clickhouse, where)}


def newest_of_sessions(
    clickhouse: ClickHouse,
    org_id: str,
    wanted: EvaluationFilters,
    *,
    as_of: int,
    after: ResultKey | None,
    limit: int,
) -> list[ResultKey]:
    """Returns the first `limit` results after `after` that match and are their session's newest.

    Usually it suffices to take some candidates and to check whether their sessions have anything
    newer: a page reads the rows newer than its last one. Otherwise all sessions are searched once.
    """
    where = come_after(wanted.where(org_id), after)
    where.add(f"completed_at <= {moment('as_of')}", as_of=as_of)
    asked = limit * _CANDIDATES
    candidates = clickhouse.rows(
        f"SELECT {KEY}, session_id FROM {wanted.table.sql} WHERE {where}"
        f" ORDER BY {NEWEST_FIRST} LIMIT {asked:d}",
        where.params,
        settings=PAGE,
    )
    if not candidates:
        return []
    newer = Where(org_id).any_of("session_id", sorted({row[2] for row in candidates}))
    newer.add(
        f"completed_at >= {moment('oldest')} AND completed_at <= {moment('as_of')}",
        oldest=candidates[-1][0],
        as_of=as_of,
    )
    latest = set(_newest_keys(clickhouse, wanted, newer))
    # A candidate may occur twice.
    keys = dict.fromkeys(ResultKey(*row[:2]) for row in candidates)
    found = [key for key in keys if key in latest]
    if len(found) < limit and len(candidates) == asked:
        return _of_all_sessions(clickhouse, org_id, wanted, as_of=as_of, after=after, limit=limit)
    return found[:limit]


def _newest_keys(
    clickhouse: ClickHouse, wanted: EvaluationFilters, where: Where
) -> list[ResultKey]:
    """Returns the key of the newest result of each session that `where` admits."""
    rows = clickhouse.rows(
        f"SELECT {us('newest.1')}, newest.2 FROM (SELECT max({ORDER_KEY}) AS newest"
        f" FROM {wanted.table.sql} WHERE {where} GROUP BY {wanted.session_key})",
        where.params,
        settings=PAGE,
    )
    return [ResultKey(*row) for row in rows]


def _of_all_sessions(
    clickhouse: ClickHouse,
    org_id: str,
    wanted: EvaluationFilters,
    *,
    as_of: int,
    after: ResultKey | None,
    limit: int,
) -> list[ResultKey]:
    source = source_of(org_id, wanted, as_of=as_of)
    where = come_after(Where(org_id), after)
    rows = clickhouse.rows(
        f"SELECT {KEY} FROM {source.sql} WHERE {where} ORDER BY {NEWEST_FIRST} LIMIT {limit:d}",
        {**source.params, **where.params},
        settings=PAGE,
    )
    return [ResultKey(*row) for row in rows]


def sessions_by_latest(
    where: Where, statuses: Sequence[str], scores: Sequence[ScoreFilter], among: str = ""
) -> str:
    """Returns SQL of session ids whose newest result has one of `statuses` and all `scores`.

    Adds its parameters to `where`, whose `org_id` it uses. No statuses means any. `among` is SQL of
    the session ids to search; by default all.
    """
    newest = f"argMax({{column}}, {ORDER_KEY})"
    wanted, params = conditions(scores, newest.format(column="scores"))
    if statuses:
        wanted.append(f"{newest.format(column='status')} IN {{latest_status:Array(String)}}")
        params["latest_status"] = list(statuses)
    where.params.update(params)
    having = " AND ".join(wanted) or "true"
    candidates = f" AND session_id IN ({among})" if among else ""
    return (
        f"SELECT session_id FROM evaluations WHERE org_id = {{org_id:String}}{candidates}"
        f" GROUP BY session_id HAVING {having}"
    )


def result_sql(statuses: Sequence[str], scores: Sequence[ScoreFilter]) -> list[str]:
    """Returns conditions of people's SQL on the newest results of sessions, in literals.

    The status `none` stands for sessions without a result.
    """
    known = [status for status in statuses if status != "none"]
    met = [score_sql(one, "newest_scores") for one in scores]
    choices = []
    if known or (met and not statuses):
        met += [literals.is_one_of("newest_status", known)] if known else []
        sessions = f"SELECT session_id FROM ({NEWEST_RESULTS}) WHERE {' AND '.join(met)}"
        choices.append(f"session_id IN ({sessions})")
    # A session that was never evaluated has no scores to filter by.
    if "none" in statuses and not scores:
        choices.append("session_id NOT IN (SELECT session_id FROM evaluations)")
    if not choices:
        return ["false"] if statuses else []
    return [f"({' OR '.join(choices)})"]

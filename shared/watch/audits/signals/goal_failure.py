"""Agents that end their sessions without having reached the goal.

A session counts if its root agent's last end before the end of the window lies in the window. It
failed if that `agent_end` reports a failing outcome or an error. Events after the window are
ignored, so a session that continues and ends again counts there once more.
"""

from collections.abc import Mapping

from shared.foundation.clickhouse import Row, literals
from shared.foundation.clickhouse.where import Where, us
from shared.foundation.core.clock import to_us
from shared.watch.audits.signals import citing, counting, reading, sql
from shared.watch.audits.signals.interface import Candidate, EvidenceQuery, Look, Sensitivity
from shared.watch.audits.signals.sessions import SESSIONS_AT_STOP, sessions_at_stop
from shared.watch.audits.signals.weighing import (
    FailureRate,
    at_least_sql,
    magnitude,
    most_failing,
    severity,
)
from shared.watch.audits.signals.wording import counted, shown

# Agents fail now and then, and their evaluations cover that; one in ten is worth a look. The rate
# is Wilson's lower bound: at medium 3 of 9 sessions are a finding, 3 of 10 and 1 of 1 are not.
THRESHOLDS: Mapping[Sensitivity, FailureRate] = {
    "low": FailureRate(10, 0.3),
    "medium": FailureRate(3, 0.12),
    "high": FailureRate(2, 0.04),
}
# Practically no user gets a result, and there were enough of them to be sure.
_CRITICAL_RATE, _CRITICAL_SESSIONS = 0.9, 20
_INFO_RATE = 0.1

_ENDS = "event_type = 'agent_end'"


def _statement(where: Where, ends: Where, failed: str, most: str) -> str:
    return f"""
SELECT agent_id, count() AS ended, countIf(failed) AS failures,
    {at_least_sql("failures", "ended")} AS rate, {citing.citations("failed")}
FROM (
    SELECT org_id, session_id, agent_id, environment, ended_at, failed,
        {us("assumeNotNull(ended_at)")} AS first, first AS last, [(-first, end_id)] AS newest
    FROM {SESSIONS_AT_STOP} AS sessions
    INNER JOIN (
        SELECT session_id, agent_id, ts, argMax({failed}, id) AS failed, max(id) AS end_id
        FROM events FINAL
        PREWHERE {ends} AND {_ENDS}
        GROUP BY session_id, agent_id, ts
    ) AS ends ON sessions.session_id = ends.session_id AND sessions.agent_id = ends.agent_id
        AND sessions.ended_at = ends.ts
)
WHERE {where}
GROUP BY agent_id
{most}
"""


def find(look: Look) -> list[Candidate]:
    """Returns a candidate per root agent: `{failed_sessions, ended_sessions, failure_rate}`."""
    where = look.where(column="ended_at")
    # The session's environment counts, wherever its last event was.
    ends = Where(look.org_id).between("ts", look.window.start, look.window.stop)
    failed = counting.is_failed(look, where)
    most = most_failing(THRESHOLDS, look.sensitivity, "agent_id")
    statement = _statement(where, ends, failed, most)
    where.params.update(since=to_us(look.window.start), stop=to_us(look.window.stop))
    found = reading.rows(look, statement, {**ends.params, **where.params})
    return [_candidate(look, row) for row in found]


def _candidate(look: Look, row: Row) -> Candidate:
    agent, ended, failed, at_least_failing = row[:4]
    cited = citing.FindingCitations.of(row)
    rate = failed / ended
    return Candidate(
        signal="goal_failure",
        key=(agent,),
        title=f"{shown(agent)} fails in {failed} of {counted(ended, 'session')}",
        category="goals",
        failure_type="goal_failure",
        kind="failure",
        severity=severity(
            critical=at_least_failing >= _CRITICAL_RATE and ended >= _CRITICAL_SESSIONS,
            warning=at_least_failing >= _INFO_RATE,
        ),
        magnitude=magnitude(rate),
        description=(
            f"{rate:.1%} of the sessions that {shown(agent)} ended in the window ended in failure:"
            f" {failed} of {ended}."
        ),
        **cited._asdict(),
        numbers={"failed_sessions": failed, "ended_sessions": ended, "failure_rate": rate},
        queries=_queries(look, agent),
        recommendation="Read some of these sessions to the end, and look for a common cause.",
        scope={"agent_ids": (agent,)},
    )


def _queries(look: Look, agent: str) -> tuple[EvidenceQuery, ...]:
    its_ends = f"{sql.within(look.window)} AND {_ENDS} AND {literals.is_text('agent_id', agent)}"
    failed = counting.is_failed_literal(look)
    is_failed = (
        "(session_id, assumeNotNull(ended_at)) IN (SELECT session_id, ts"
        f" FROM events WHERE {its_ends} GROUP BY session_id, ts HAVING argMax({failed}, id))"
    )
    sessions = (
        f"FROM {sessions_at_stop(look, its_ends)} WHERE {sql.where(look, column='ended_at')}"
        f" AND {literals.is_text('agent_id', agent)}"
    )
    return (
        EvidenceQuery(
            "Numbers of ended and of failed sessions",
            f"SELECT countIf({is_failed}) AS failed_sessions, count() AS ended_sessions,"
            f" failed_sessions / ended_sessions AS failure_rate {sessions}",
        ),
        EvidenceQuery(
            "The failed sessions, newest first",
            "SELECT session_id, environment, started_at, ended_at, event_count"
            f" {sessions} AND {is_failed} ORDER BY ended_at DESC, session_id LIMIT 100",
        ),
    )

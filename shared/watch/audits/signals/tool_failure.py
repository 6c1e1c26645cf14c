"""Tools whose calls fail, by the share of failed results per tool name."""

from collections.abc import Mapping

from shared.foundation.clickhouse import Row, literals
from shared.foundation.clickhouse.where import Where
from shared.watch.audits.signals import citing, counting, reading, sql
from shared.watch.audits.signals.interface import Candidate, EvidenceQuery, Look, Sensitivity
from shared.watch.audits.signals.weighing import (
    FailureRate,
    at_least_sql,
    magnitude,
    most_failing,
    severity,
)
from shared.watch.audits.signals.wording import counted, shown

# The rate is Wilson's lower bound, so few calls need a high one: at medium 3 failures of 17 calls
# are a finding, 3 of 18 are not. One failure is never a pattern.
THRESHOLDS: Mapping[Sensitivity, FailureRate] = {
    "low": FailureRate(5, 0.15),
    "medium": FailureRate(3, 0.06),
    "high": FailureRate(2, 0.02),
}
# A tool that many sessions need and that practically never works is worth waking somebody.
_CRITICAL_RATE, _CRITICAL_SESSIONS = 0.8, 20
_INFO_RATE = 0.05

_RESULTS = "event_type = 'tool_result' AND tool_name != ''"


def _statement(where: Where, failed: str, most: str) -> str:
    return f"""
SELECT tool, sum(times) AS calls, sumIf(times, failed) AS failures,
    {at_least_sql("failures", "calls")} AS rate, {citing.citations("failed")}
FROM (
    SELECT {counting.TOOL} AS tool, session_id, {failed} AS failed, count() AS times,
        {citing.SEEN}
    FROM events FINAL
    PREWHERE {where} AND {_RESULTS}
    GROUP BY tool, session_id, failed
)
GROUP BY tool
{most}
"""


def find(look: Look) -> list[Candidate]:
    """Returns a candidate per tool: `{calls, failures, failure_rate, failed_sessions}`."""
    where = look.where()
    failed = counting.is_failed(look, where)
    statement = _statement(where, failed, most_failing(THRESHOLDS, look.sensitivity, "tool"))
    return [_candidate(look, row) for row in reading.rows(look, statement, where.params)]


def _candidate(look: Look, row: Row) -> Candidate:
    tool, calls, failures, at_least_failing = row[:4]
    cited = citing.FindingCitations.of(row)
    rate = failures / calls
    return Candidate(
        signal="tool_failure",
        key=(tool,),
        title=f"{shown(tool)} fails in {failures} of {counted(calls, 'call')}",
        category="tools",
        failure_type="tool_failure",
        kind="failure",
        severity=severity(
            critical=at_least_failing >= _CRITICAL_RATE
            and cited.affected_sessions >= _CRITICAL_SESSIONS,
            warning=at_least_failing >= _INFO_RATE,
        ),
        magnitude=magnitude(rate),
        description=(
            f"{rate:.1%} of the results of the tool {shown(tool)} are failures:"
            f" {failures} of {calls}, in {counted(cited.affected_sessions, 'session')}."
        ),
        **cited._asdict(),
        numbers={
            "calls": calls,
            "failures": failures,
            "failure_rate": rate,
            "failed_sessions": cited.affected_sessions,
        },
        queries=_queries(look, tool),
        recommendation=(
            "Look at the errors of these calls: check whether the tool or its input is at fault."
        ),
        scope={"tool_names": (shown(tool),)},
    )


def _queries(look: Look, tool: str) -> tuple[EvidenceQuery, ...]:
    is_failed = counting.is_failed_literal(look)
    results = f"{sql.where(look)} AND {_RESULTS} AND {literals.is_text(counting.TOOL, tool)}"
    # Written once, because a long list of ignored error types makes it long.
    numbers = (
        "SELECT count() AS calls, countIf(failed) AS failures,"
        " failures / calls AS failure_rate, uniqExactIf(session_id, failed) AS failed_sessions"
        f" FROM (SELECT session_id, {is_failed} AS failed FROM events WHERE {results})"
    )
    return (
        EvidenceQuery("Numbers of calls and of failures of the tool", numbers),
        *counting.listings(f"{results} AND {is_failed}"),
    )

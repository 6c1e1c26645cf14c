"""Tools whose calls fail, by the share of failed results per tool name."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.audits.signals import counting, reading, sql
from shared.audits.signals.counting import Cited
from shared.audits.signals.interface import Candidate, EvidenceQuery, Look, Sensitivity, Severity
from shared.audits.signals.weighing import at_least_sql, magnitude
from shared.audits.signals.wording import counted, shown
from shared.clickhouse import Row
from shared.clickhouse.where import Where
from shared.core.clock import from_us

SIGNAL = "tool_failure"


@dataclass(frozen=True)
class Threshold:
    """At least `min_failures` calls failed, and almost surely `min_rate` of all or more fail."""

    min_failures: int
    min_rate: float

    @property
    def condition(self) -> str:
        """The condition on `failures` and `rate`; its numbers are constants of this module."""
        return f"(failures >= {self.min_failures} AND rate >= {self.min_rate})"


# The rate is Wilson's lower bound, so few calls need a high one: at medium 3 failures of 17 calls
# are a finding, 3 of 18 are not. One failure is never a pattern.
THRESHOLDS: Mapping[Sensitivity, Threshold] = {
    "low": Threshold(5, 0.15),
    "medium": Threshold(3, 0.06),
    "high": Threshold(2, 0.02),
}
# A tool that many sessions need and that practically never works is worth waking somebody.
_CRITICAL_RATE, _CRITICAL_SESSIONS = 0.8, 20
_INFO_RATE = 0.05

_RESULTS = "event_type = 'tool_result' AND tool_name != ''"


def _statement(where: Where, failed: str, threshold: Threshold) -> str:
    # Candidates of a lower sensitivity come first, so that a higher one has room for all of them.
    found_by = ", ".join(f"{one.condition} DESC" for one in THRESHOLDS.values())
    return f"""
SELECT tool, sum(times) AS calls, sumIf(times, failed) AS failures,
    {at_least_sql("failures", "calls")} AS rate, {counting.cited("failed")}
FROM (
    SELECT {counting.TOOL} AS tool, session_id, {failed} AS failed, count() AS times,
        {counting.SEEN}
    FROM events FINAL
    PREWHERE {where} AND {_RESULTS}
    GROUP BY tool, session_id, failed
)
GROUP BY tool
HAVING {threshold.condition}
ORDER BY {found_by}, rate DESC, failures DESC, tool
LIMIT {reading.MAX_CANDIDATES}
"""


def find(look: Look) -> list[Candidate]:
    """Returns a candidate per tool: `{calls, failures, failure_rate, failed_sessions}`."""
    where = look.where()
    failed = counting.is_failed(look, where)
    statement = _statement(where, failed, THRESHOLDS[look.sensitivity])
    return [_candidate(look, row) for row in reading.rows(look, statement, where.params)]


def _candidate(look: Look, row: Row) -> Candidate:
    tool, calls, failures, at_least_failing = row[:4]
    cited = Cited.of(row)
    rate = failures / calls
    return Candidate(
        signal=SIGNAL,
        key=(tool,),
        title=f"{shown(tool)} fails in {failures} of {counted(calls, 'call')}",
        category="tools",
        failure_type="tool_failure",
        kind="failure",
        severity=_severity(at_least_failing, cited.sessions),
        magnitude=magnitude(rate),
        affected_sessions=cited.sessions,
        first_seen_at=from_us(cited.first),
        last_seen_at=from_us(cited.last),
        description=(
            f"{rate:.1%} of the results of the tool {shown(tool)} are failures:"
            f" {failures} of {calls}, in {counted(cited.sessions, 'session')}."
        ),
        session_ids=cited.session_ids,
        event_ids=cited.event_ids,
        numbers={
            "calls": calls,
            "failures": failures,
            "failure_rate": rate,
            "failed_sessions": cited.sessions,
        },
        queries=_queries(look, tool),
        recommendation=(
            "Look at the errors of these calls: check whether the tool or its input is at fault."
        ),
        scope={"tool_names": (shown(tool),)},
    )


def _severity(rate: float, sessions: int) -> Severity:
    if rate >= _CRITICAL_RATE and sessions >= _CRITICAL_SESSIONS:
        return "critical"
    return "info" if rate < _INFO_RATE else "warning"


def _queries(look: Look, tool: str) -> tuple[EvidenceQuery, ...]:
    is_failed = counting.is_failed_literal(look)
    results = f"{sql.where(look)} AND {_RESULTS} AND {sql.is_text(counting.TOOL, tool)}"
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

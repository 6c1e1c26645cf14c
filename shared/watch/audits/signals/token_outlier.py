"""Sessions that use far more tokens than the others of their agent."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from shared.foundation.clickhouse import literals
from shared.foundation.clickhouse.rewriting import merged
from shared.foundation.clickhouse.where import Where, us
from shared.watch.audits.signals import citing, reading, sql
from shared.watch.audits.signals.interface import Candidate, EvidenceQuery, Look, Sensitivity
from shared.watch.audits.signals.weighing import magnitude, severity
from shared.watch.audits.signals.wording import counted, shown


@dataclass(frozen=True)
class TokenOutlierThreshold:
    """The definition of far more tokens.

    Token counts are skewed, so their logarithms are compared. `z` is the number of deviations above
    the median, in addition to the value that the largest of so many sessions reaches anyway.
    `ratio` to the median and `min_tokens` exclude sessions whose cost does not matter.
    """

    min_sessions: int
    z: float
    ratio: float
    min_tokens: int


THRESHOLDS: Mapping[Sensitivity, TokenOutlierThreshold] = {
    "low": TokenOutlierThreshold(30, 1.5, 10.0, 200_000),
    "medium": TokenOutlierThreshold(20, 0.25, 5.0, 50_000),
    "high": TokenOutlierThreshold(10, -0.5, 3.0, 10_000),
}
# The upper quartile of a normal distribution is 0.6745 deviations above the median. Only the upper
# half is used, because sessions that ended early tell nothing about long ones.
_QUARTILE = 0.6745
# Sessions of equal size have no spread. A quarter of a doubling is negligible.
_MIN_DEVIATION = 0.25
# A single session may cost this much before somebody is woken.
_CRITICAL_TOKENS, _CRITICAL_RATIO = 50_000_000, 50

_TOKENS = "sum(toUInt64(ifNull(input_tokens, 0)) + ifNull(output_tokens, 0))"

_AGENTS = f"""
SELECT agent, count(), quantileExactInclusive(0.5)(tokens), quantileExactInclusive(0.75)(tokens),
    max(tokens)
FROM (
    SELECT CAST(agent_id, 'String') AS agent, session_id, {_TOKENS} AS tokens
    FROM events {{merged}}
    GROUP BY agent, session_id
    HAVING tokens > 0
)
GROUP BY agent
HAVING count() >= {{{{min_sessions:UInt64}}}} AND max(tokens) >= {{{{min_tokens:UInt64}}}}
"""
_OUTLIERS = f"""
SELECT {{numbers}}, {{citations}}
FROM (
    SELECT session_id, {_TOKENS} AS tokens, min({us("ts")}) AS first, max({us("ts")}) AS last,
        {citing.NO_EVENTS}
    FROM events {{merged}}
    GROUP BY session_id
    HAVING tokens > 0
)
"""


def find(look: Look) -> list[Candidate]:
    """Returns a candidate for each agent that has such sessions."""
    threshold = THRESHOLDS[look.sensitivity]
    where = _with_tokens(look)
    where.params.update(min_sessions=threshold.min_sessions, min_tokens=threshold.min_tokens)
    agents = reading.rows(look, _AGENTS.format(merged=merged(where)), where.params)
    limits = [
        (agent, _limit(threshold, sessions, median, upper), highest)
        for agent, sessions, median, upper, highest in agents
    ]
    above = sorted((one for one in limits if one[2] >= one[1]), key=lambda one: (-one[2], one[0]))
    return [_candidate(look, agent, limit) for agent, limit, _ in above[: reading.MAX_CANDIDATES]]


def _limit(threshold: TokenOutlierThreshold, sessions: int, median: float, upper: float) -> int:
    """Returns the number of tokens from which a session is an outlier among so many."""
    deviation = max((math.log(upper) - math.log(median)) / _QUARTILE, _MIN_DEVIATION)
    # The largest of n draws from a normal distribution is expected below sqrt(2 ln n) deviations
    # (Gumbel; Embrechts, Klüppelberg and Mikosch, Modelling Extremal Events, 3.3).
    z = math.sqrt(2 * math.log(sessions)) + threshold.z
    # exp() of a very large exponent overflows; no session is above a limit of this size.
    outlying = median * math.exp(min(z * deviation, 40.0))
    return math.ceil(max(outlying, median * threshold.ratio, threshold.min_tokens))


def _with_tokens(look: Look) -> Where:
    return look.where().add("isNotNull(input_tokens) OR isNotNull(output_tokens)")


def _numbers(limit: int) -> dict[str, str]:
    # The limit is an integer computed here, so the statement may contain it.
    return {
        "sessions": "count()",
        "median_tokens": "round(quantileExactInclusive(0.5)(tokens), 1)",
        "limit_tokens": f"toUInt64({limit})",
        "outlier_sessions": f"countIf(tokens >= {limit})",
        "outlier_tokens": f"sumIf(tokens, tokens >= {limit})",
        "highest_tokens": "max(tokens)",
    }


def _candidate(look: Look, agent_id: str, limit: int) -> Candidate:
    where = _with_tokens(look).add("agent_id = {agent:String}", agent=agent_id)
    statement = _OUTLIERS.format(
        numbers=reading.select_list(_numbers(limit)),
        citations=citing.citations(f"tokens >= {limit}"),
        merged=merged(where),
    )
    [row] = reading.rows(look, statement, where.params)
    # The citations follow the numbers.
    numbers = dict(zip(_numbers(limit), row, strict=False))
    cited = citing.FindingCitations.of(row)
    where.any_of("session_id", cited.session_ids)
    cited = cited._replace(event_ids=citing.newest_events(look, where))
    agent, highest = shown(agent_id), numbers["highest_tokens"]
    ratio = highest / max(numbers["median_tokens"], 1)
    return Candidate(
        signal="token_outlier",
        key=(agent_id,),
        title=f"Sessions of the agent {agent} use far more tokens than its others",
        category="cost",
        failure_type="token_outlier",
        kind="improvement",
        severity=severity(
            critical=highest >= _CRITICAL_TOKENS and ratio >= _CRITICAL_RATIO,
            warning=ratio >= 10,
        ),
        magnitude=magnitude(ratio, medium=10, big=50),
        description=(
            f"{counted(cited.affected_sessions, 'session')} of {numbers['sessions']:,} used"
            f" {limit:,} tokens or more, up to {highest:,}: {ratio:,.0f} times the median of"
            f" {numbers['median_tokens']:,.0f}."
        ),
        **cited._asdict(),
        numbers=numbers,
        queries=_queries(look, agent_id, limit),
        recommendation=(
            "Check whether these sessions repeat themselves, and limit the steps of a session."
        ),
        scope={"agent_ids": (agent,)},
    )


def _queries(look: Look, agent_id: str, limit: int) -> tuple[EvidenceQuery, ...]:
    sessions = (
        f"SELECT session_id, {_TOKENS} AS tokens, max(ts) AS last FROM events"
        f" WHERE {sql.where(look)} AND (isNotNull(input_tokens) OR isNotNull(output_tokens))"
        f" AND {literals.is_text('agent_id', agent_id)} GROUP BY session_id HAVING tokens > 0"
    )
    numbers = reading.select_list(_numbers(limit))
    return (
        EvidenceQuery("Tokens of sessions", f"SELECT {numbers} FROM ({sessions})"),
        EvidenceQuery(
            "Sessions with the most tokens", f"{sessions} ORDER BY tokens DESC LIMIT 100"
        ),
    )

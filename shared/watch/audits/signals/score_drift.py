"""Scores of evaluations whose average is lower than in the window before."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from shared.foundation.clickhouse import literals
from shared.foundation.clickhouse.where import us
from shared.watch.audits.signals import citing, reading, sql
from shared.watch.audits.signals.interface import Candidate, EvidenceQuery, Look, Sensitivity
from shared.watch.audits.signals.weighing import magnitude, severity
from shared.watch.audits.signals.wording import counted, shown


@dataclass(frozen=True)
class ScoreDriftThreshold:
    """The definition of a drop: lower averages are worse.

    `min_evaluations` in each window, `effect` in standard deviations of both, `t` of Welch's test
    (several keys of several agents are compared), and `relative` to the average before. Without the
    last one, scores that hardly vary would drift by a tiny amount.
    """

    min_evaluations: int
    effect: float
    t: float
    relative: float


THRESHOLDS: Mapping[Sensitivity, ScoreDriftThreshold] = {
    "low": ScoreDriftThreshold(50, 0.6, 6.0, 0.10),
    "medium": ScoreDriftThreshold(20, 0.3, 4.0, 0.05),
    "high": ScoreDriftThreshold(10, 0.2, 3.0, 0.02),
}
# Quality fell by half, over many sessions.
_CRITICAL_EFFECT, _CRITICAL_RELATIVE, _CRITICAL_EVALUATIONS = 1.5, 0.5, 100

_PAIRS = "CAST(scores, 'Array(Tuple(String, Float64))')"
_DROPS = f"""
SELECT agent, score_key, {{numbers}}, ifNotFinite(varSampIf(score, now), 0) AS variance,
    ifNotFinite(varSampIf(score, NOT now), 0) AS variance_before
FROM (
    SELECT CAST(agent_id, 'String') AS agent, {{now}} AS now,
        key_and_score.1 AS score_key, key_and_score.2 AS score
    FROM evaluations FINAL
    ARRAY JOIN {_PAIRS} AS key_and_score
    WHERE {{where}} AND status = 'done'
)
GROUP BY agent, score_key
HAVING least(evaluations, evaluations_before) >= {{{{min_evaluations:UInt64}}}}
    AND average < average_before
"""

# Results may outlive the events of their sessions; such sessions are not cited.
_LOW = f"""
    SELECT session_id, min({us("completed_at")}) AS first, max({us("completed_at")}) AS last
    FROM evaluations FINAL
    WHERE {{where}}
    GROUP BY session_id
    HAVING session_id IN
        (SELECT session_id FROM agent_sessions WHERE org_id = {{{{org_id:String}}}})
"""


@dataclass(frozen=True)
class _Drop:
    agent_id: str
    key: str
    numbers: Mapping[str, float | int]
    variance: float
    variance_before: float

    @property
    def lost(self) -> float:
        return float(self.numbers["average_before"] - self.numbers["average"])

    @property
    def effect(self) -> float:
        return _quotient(self.lost, math.sqrt((self.variance + self.variance_before) / 2))

    @property
    def t(self) -> float:
        error = (
            self.variance / self.numbers["evaluations"]
            + self.variance_before / self.numbers["evaluations_before"]
        )
        return _quotient(self.lost, math.sqrt(error))

    @property
    def relative(self) -> float:
        """The drop relative to the average before, or to the deviation if that is larger."""
        deviation = math.sqrt((self.variance + self.variance_before) / 2)
        return _quotient(self.lost, max(abs(self.numbers["average_before"]), deviation))

    def is_drift(self, than: ScoreDriftThreshold) -> bool:
        return self.effect >= than.effect and self.t >= than.t and self.relative >= than.relative


def find(look: Look) -> list[Candidate]:
    """Returns a candidate for each score of an agent that dropped."""
    threshold = THRESHOLDS[look.sensitivity]
    drops = [drop for drop in _drops(look, threshold) if drop.is_drift(threshold)]
    drops.sort(key=lambda drop: (-drop.t, drop.agent_id, drop.key))
    made = (_candidate(look, drop) for drop in drops[: reading.MAX_CANDIDATES])
    return [candidate for candidate in made if candidate is not None]


def _quotient(value: float, by: float) -> float:
    return value / by if by else math.inf if value > 0 else 0.0


def _numbers(now: str, score: str) -> dict[str, str]:
    # Rounded, because a sum of floats depends on the order of the threads.
    return {
        "evaluations": f"countIf({now})",
        "average": f"round(avgIf({score}, {now}), 6)",
        "evaluations_before": f"countIf(NOT ({now}))",
        "average_before": f"round(avgIf({score}, NOT ({now})), 6)",
    }


def _drops(look: Look, threshold: ScoreDriftThreshold) -> list[_Drop]:
    where = look.where(reading.with_before(look), column="completed_at")
    where.params["min_evaluations"] = threshold.min_evaluations
    numbers = _numbers("now", "score")
    statement = _DROPS.format(
        numbers=reading.select_list(numbers),
        now=reading.is_now(look, where, "completed_at"),
        where=where,
    )
    return [
        _Drop(agent_id, key, dict(zip(numbers, values, strict=True)), variance, variance_before)
        for agent_id, key, *values, variance, variance_before in reading.rows(
            look, statement, where.params
        )
    ]


def _candidate(look: Look, drop: _Drop) -> Candidate | None:
    where = look.where(column="completed_at").add(
        "status = 'done' AND agent_id = {agent:String} AND mapContains(scores, {key:String})"
        " AND scores[{key:String}] < {average:Float64}",
        agent=drop.agent_id,
        key=drop.key,
        average=float(drop.numbers["average_before"]),
    )
    cited = citing.cited_sessions(look, _LOW.format(where=where), where.params)
    if cited is None:
        return None
    cited = cited._replace(event_ids=citing.last_events(look, cited.session_ids))
    key, agent = shown(drop.key), shown(drop.agent_id)
    average, before = drop.numbers["average"], drop.numbers["average_before"]
    is_critical = (
        drop.effect >= _CRITICAL_EFFECT
        and drop.relative >= _CRITICAL_RELATIVE
        and drop.numbers["evaluations"] >= _CRITICAL_EVALUATIONS
    )
    return Candidate(
        signal="score_drift",
        key=(drop.agent_id, drop.key),
        title=f"The score {key} of the agent {agent} dropped",
        category="quality",
        failure_type="score_drop",
        kind="failure",
        severity=severity(critical=is_critical, warning=drop.effect >= 0.5),
        magnitude=magnitude(drop.effect, medium=0.5, big=1),
        description=(
            f"{counted(int(drop.numbers['evaluations']), 'evaluation')} of the agent {agent} have"
            f" an average {key} of {average:.3g}; in the window before it was {before:.3g} over"
            f" {drop.numbers['evaluations_before']:,}."
        ),
        **cited._asdict(),
        numbers=drop.numbers,
        queries=_queries(look, drop),
        recommendation=(
            "Read the evaluator's reasoning for the lowest sessions, and check whether the agent,"
            " its model or the evaluator itself changed."
        ),
        scope={"agent_ids": (agent,)},
    )


def _queries(look: Look, drop: _Drop) -> tuple[EvidenceQuery, ...]:
    found = f"arrayFirst(one -> {literals.is_text('one.1', drop.key)}, {_PAIRS})"
    of_it = (
        f"status = 'done' AND {literals.is_text('agent_id', drop.agent_id)}"
        f" AND arrayExists(one -> {literals.is_text('one.1', drop.key)}, {_PAIRS})"
    )
    numbers = reading.select_list(_numbers(reading.is_now_literal(look, "completed_at"), "score"))
    both = sql.where(look, reading.with_before(look), column="completed_at")
    return (
        EvidenceQuery(
            "Average score in the window and in the one before",
            f"SELECT {numbers} FROM (SELECT completed_at, {found}.2 AS score FROM evaluations"
            f" WHERE {both} AND {of_it})",
        ),
        EvidenceQuery(
            "Sessions with the lowest scores",
            f"SELECT session_id, completed_at, environment, {found}.2 AS score FROM evaluations"
            f" WHERE {sql.where(look, column='completed_at')} AND {of_it}"
            " ORDER BY score, completed_at DESC LIMIT 100",
        ),
    )

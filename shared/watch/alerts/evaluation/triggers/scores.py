"""Averages of scores over the evaluations of a window, one condition each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.foundation.core.clock import to_us
from shared.watch.alerts.evaluation.triggers.aggregates import (
    EVALUATIONS,
    Aggregate,
    AggregateRows,
    Term,
)
from shared.watch.alerts.evaluation.triggers.interface import Rule
from shared.watch.alerts.evaluation.triggers.plan import BreachLimit, among, sample
from shared.watch.alerts.specs import EvalCompound, EvaluationScore, ScoreCondition, holds, symbol

# The sum of large scores would be infinite. Scaling each by 2^-32, which is exact, avoids that
# (shared/reading/evaluations/aggregate/stats.py).
_SCALE = 2**32
_SCALED = f"scores[?] / {_SCALE}"
# The order that finds the scores that pull an average over its bound.
_WORST: Mapping[str, str] = {
    ">": "-scores[?]",
    ">=": "-scores[?]",
    "<": "scores[?]",
    "<=": "scores[?]",
}


@dataclass(frozen=True)
class ScoreJudgement:
    """An average, its number of scores, and whether the condition holds.

    `holds` is None if there are fewer scores than the rule requires.
    """

    average: float | None
    count: int
    holds: bool | None


class Average:
    """A condition on the average of one score over all finished evaluations.

    A session that was evaluated several times counts several times.
    """

    def __init__(
        self,
        rule: Rule,
        spec: EvaluationScore | EvalCompound,
        condition: EvaluationScore | ScoreCondition,
        admitted: Mapping[str, str],
    ) -> None:
        stop = to_us(rule.until)
        self.score_key = condition.score_key
        self.limit = BreachLimit(symbol(condition.op), condition.value)
        self._op = condition.op
        self._min_count = spec.min_count
        self.rows = AggregateRows(
            EVALUATIONS,
            to_us(rule.start_of(spec.window_secs)),
            stop,
            among=(("status", ("done",)), *among(admitted)),
            terms=(Term("mapContains(scores, ?)", self.score_key),),
        )
        self.aggregates: Sequence[Aggregate] = (
            Aggregate("avgOrNullIf", self.rows, _SCALED, self.score_key),
            Aggregate("countIf", self.rows),
        )

    def judge(self, values: Sequence[Any]) -> ScoreJudgement:
        """Judges the condition from the values of `aggregates`."""
        scaled, count = values
        average = None if scaled is None else scaled * _SCALE
        if average is None or count < self._min_count:
            return ScoreJudgement(average, count, None)
        return ScoreJudgement(average, count, holds(self._op, average, self.limit.bound))

    def shortage(self, judged: ScoreJudgement) -> str:
        """Returns the reason why there is no judgement."""
        return (
            f"{judged.count} of at least {self._min_count} evaluations with the score"
            f" '{self.score_key}' in the window"
        )

    def sample(self) -> Aggregate:
        """Selects the lowest scores if the average is too low, the highest if it is too high."""
        return sample(self.rows, _WORST.get(self.limit.op), self.score_key)

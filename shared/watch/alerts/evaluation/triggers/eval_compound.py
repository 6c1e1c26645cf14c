"""eval_compound: averages of several scores, of which enough have to meet their conditions.

`any` means at least one condition, `all` means every condition. A condition with fewer than
`min_count` scores may hold or not: if the result depends on it, the rule is not evaluated.
"""

from collections.abc import Sequence
from typing import Any

from shared.foundation.core.text import duration, number
from shared.watch.alerts.evaluation.triggers.aggregates import Aggregate
from shared.watch.alerts.evaluation.triggers.interface import (
    NotEvaluated,
    Rule,
    RuleOutcome,
    RuleReading,
)
from shared.watch.alerts.evaluation.triggers.plan import (
    BreachLimit,
    comparison,
    filtered,
    selection,
)
from shared.watch.alerts.evaluation.triggers.scores import Average, ScoreJudgement
from shared.watch.alerts.evidence import CompoundFacts, JudgedCondition
from shared.watch.alerts.specs import AtLeast, EvalCompound

# The conditions whose evaluations are shown.
_SHOWN = 3


class CompoundPlan:
    """The plan of one rule; its value is the number of conditions that hold."""

    def __init__(self, rule: Rule, spec: EvalCompound) -> None:
        self._filter = filtered(spec, ("environment",))
        self._averages = [
            Average(rule, spec, condition, self._filter) for condition in spec.conditions
        ]
        self._needed = _needed(spec)
        self.limit = BreachLimit(">=", self._needed)
        self.aggregates: Sequence[Aggregate] = [
            aggregate for average in self._averages for aggregate in average.aggregates
        ]

    def outcome(self, values: Sequence[Any]) -> RuleOutcome:
        """Returns the outcome.

        `values` are the average and the number of scores of each condition.
        """
        judged = self._judge(values)
        holding = sum(one.holds is True for one in judged)
        open_ones = sum(one.holds is None for one in judged)
        if holding < self._needed <= holding + open_ones:
            return NotEvaluated(self._shortages(judged))
        rows = self._averages[0].rows
        told = [self._told(*pair) for pair in zip(self._averages, judged, strict=True)]
        evidence: CompoundFacts = {
            **comparison("conditions_holding", holding, self.limit),
            **selection(rows, self._filter),
            "conditions": told,
        }
        summary = (
            f"{holding} of {len(judged)} conditions held over the evaluations of the last"
            f" {duration(rows.stop - rows.start)} (>= {self._needed})"
        )
        held = [
            f"{average.score_key} {number(one.average)} {average.limit.op}"
            f" {number(average.limit.bound)}"
            for average, one in zip(self._averages, judged, strict=True)
            if one.holds and one.average is not None
        ]
        if held:
            summary += f": {', '.join(held)}"
        return RuleReading(float(holding), holding >= self._needed, summary, evidence)

    def samples(self, values: Sequence[Any]) -> Sequence[Aggregate]:
        """Returns the samples of the first conditions that hold."""
        judged = zip(self._averages, self._judge(values), strict=True)
        return [average.sample() for average, one in judged if one.holds][:_SHOWN]

    def _judge(self, values: Sequence[Any]) -> list[ScoreJudgement]:
        pairs = zip(values[::2], values[1::2], strict=True)
        return [one.judge(pair) for one, pair in zip(self._averages, pairs, strict=True)]

    def _shortages(self, judged: Sequence[ScoreJudgement]) -> str:
        missing = [
            average.shortage(one)
            for average, one in zip(self._averages, judged, strict=True)
            if one.holds is None
        ]
        return "; ".join(dict.fromkeys(missing))

    @staticmethod
    def _told(average: Average, judged: ScoreJudgement) -> JudgedCondition:
        return {
            "score_key": average.score_key,
            "value": judged.average,
            "op": average.limit.op,
            "bound": average.limit.bound,
            "count": judged.count,
            "holds": judged.holds,
        }


def _needed(spec: EvalCompound) -> int:
    if isinstance(spec.combinator, AtLeast):
        return spec.combinator.at_least
    return 1 if spec.combinator == "any" else len(spec.conditions)

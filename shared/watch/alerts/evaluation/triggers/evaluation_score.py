"""evaluation_score: compares the average of one score over the evaluations of a window."""

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
from shared.watch.alerts.evaluation.triggers.plan import comparison, filtered, selection
from shared.watch.alerts.evaluation.triggers.scores import Average
from shared.watch.alerts.evidence import ScoreFacts
from shared.watch.alerts.specs import EvaluationScore


class ScorePlan:
    """The plan of one rule."""

    def __init__(self, rule: Rule, spec: EvaluationScore) -> None:
        self._filter = filtered(spec, ("environment", "agent_id"))
        self._average = Average(rule, spec, spec, self._filter)
        self.limit = self._average.limit
        self.aggregates: Sequence[Aggregate] = self._average.aggregates

    def outcome(self, values: Sequence[Any]) -> RuleOutcome:
        """Returns the outcome; `values` are the average and the number of scores."""
        average = self._average
        judged = average.judge(values)
        if judged.average is None or judged.holds is None:
            return NotEvaluated(average.shortage(judged))
        rows = average.rows
        summary = (
            f"the average of the score '{average.score_key}' was {number(judged.average)} over"
            f" {judged.count} evaluations of the last {duration(rows.stop - rows.start)}"
            f" ({self.limit.op} {number(self.limit.bound)})"
        )
        evidence: ScoreFacts = {
            **comparison("average_score", judged.average, self.limit),
            **selection(rows, self._filter),
            "score_key": average.score_key,
            "counts": {"evaluations": judged.count},
        }
        return RuleReading(judged.average, judged.holds, summary, evidence)

    def samples(self, values: Sequence[Any]) -> Sequence[Aggregate]:  # noqa: ARG002 as any plan's
        """Returns the scores that pull the average over its bound."""
        return (self._average.sample(),)

"""The input and the output of an evaluation of rules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.results.reader import Result
from shared.reading.queries.run import QueryRunner
from shared.watch.alerts.specs import Spec
from shared.watch.alerts.spending import BudgetReading


@dataclass(frozen=True)
class RuleContext:
    """The resources for an evaluation, and the organization whose rows it reads.

    A context is for rules that are evaluated at one moment. `answers` caches the results of their
    statements, so that a statement with several bounds, one to warn and one to wake people, runs
    once.
    """

    runtime: Runtime
    runner: QueryRunner
    org_id: str
    answers: "dict[str, Result | NotEvaluated]" = field(default_factory=dict)


@dataclass(frozen=True)
class Rule:
    """A rule that is due.

    Events before `until` count. `since` is the `until` of the previous evaluation, None for the
    first one. With `is_behind`, `until` is not the present, and the rest comes later. Events before
    `begins_at` do not count: a person resolved the incident that they opened. `begins` has such
    moments of single groups, in microseconds.
    """

    alert_id: UUID
    spec: Spec
    since: datetime | None
    until: datetime
    is_behind: bool = False
    begins_at: datetime | None = None
    begins: Mapping[str, int] = field(default_factory=dict)

    def start_of(self, secs: int) -> datetime:
        """Returns the start of a window of `secs`, which is shorter soon after a resolution."""
        start = self.until - timedelta(seconds=secs)
        return start if self.begins_at is None else max(start, self.begins_at)

    def is_cut(self, secs: int) -> bool:
        """Returns whether a window of `secs` would begin earlier than it may."""
        return self.start_of(secs) > self.until - timedelta(seconds=secs)


@dataclass(frozen=True)
class RuleReading:
    """The result of an evaluation.

    `value` is the number that was compared, None if there were no rows to compute it from, which
    never breaches. `summary` is one sentence for people, `evidence` the facts behind it (JSON, one
    of `shared.watch.alerts.evidence`).
    """

    value: float | None
    breached: bool
    summary: str
    evidence: Mapping[str, Any]


@dataclass(frozen=True)
class NotEvaluated:
    """Neither a breach nor a clean evaluation, with the reason as a sentence for people."""

    reason: str


@dataclass(frozen=True)
class GroupedReading:
    """The result of an evaluation of each group of a rule.

    `field` is what the groups have a value of. `breaches` has the readings of the groups that
    breached, the worst first; `more` breached beside them. All other groups are clean.
    """

    field: str
    breaches: Mapping[str, RuleReading]
    more: int = 0


# Of a rule without groups, and of each point of a preview.
RuleOutcome = RuleReading | NotEvaluated
Outcome = RuleOutcome | GroupedReading | BudgetReading


class TooMuch(Exception):
    """A statement takes more time or memory than allowed, with the reason as a sentence.

    Raised for rules that share a statement: each of them may still be evaluated alone.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


# Evaluates rules of one organization and returns outcomes by rule id. A rule without an outcome is
# left for another turn.
Evaluate = Callable[[RuleContext, Sequence[Rule]], Mapping[UUID, Outcome]]

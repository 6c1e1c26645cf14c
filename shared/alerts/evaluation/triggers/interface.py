"""What evaluates a rule is handed, and what it hands back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from shared.alerts.specs import Spec
from shared.deployment.runtime import Runtime
from shared.queries.results.reader import Result
from shared.queries.run import Runner


@dataclass(frozen=True)
class Context:
    """What rules are evaluated with, and the organization whose rows they are evaluated over.

    A context is for rules that are evaluated at one moment: `answers` has what their statements
    were answered with, so that one with several bounds, to warn of and to wake people for, runs
    once.
    """

    runtime: Runtime
    runner: Runner
    org_id: str
    answers: "dict[str, Result | NotEvaluated]" = field(default_factory=dict)


@dataclass(frozen=True)
class Rule:
    """A rule that is due.

    What happened before `until` counts. `since` is the `until` of the evaluation before, None for
    the first one. `is_behind`: `until` is not the present, and what is left comes later.
    """

    alert_id: UUID
    spec: Spec
    since: datetime | None
    until: datetime
    is_behind: bool = False


@dataclass(frozen=True)
class Reading:
    """What an evaluation saw.

    `value` is the number that was compared, None where there was nothing to make one of, which
    never breaches. `summary` is one sentence for people, `evidence` what it rests on (JSON).
    """

    value: float | None
    breached: bool
    summary: str
    evidence: dict[str, Any]


@dataclass(frozen=True)
class NotEvaluated:
    """Neither a breach nor a clean evaluation, with the reason as a sentence for people."""

    reason: str


Outcome = Reading | NotEvaluated


class TooMuch(Exception):
    """A statement takes more time or memory than one may, with the reason as a sentence.

    Raised of rules that share one: each by itself may be evaluated.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


# Evaluates rules of one organization: outcomes by the rules' ids. What has none was left for
# another turn.
Evaluate = Callable[[Context, Sequence[Rule]], Mapping[UUID, Outcome]]

"""The evidence of a breach, by the kind of the trigger (docs/alerts.md).

An incident keeps the evidence of its last breach, while its `trigger_kind` is that of its opening:
an alert may change its kind in between. `…Facts` is what every evaluation has, `…Evidence` also has
the rows that show a breach.
"""

from typing import Any, Literal, NotRequired, TypedDict

from shared.watch.alerts.specs import PeriodKind
from shared.watch.incidents.evidence import Comparison, EvidenceWindow


class Selection(TypedDict):
    """The rows from which the number was computed."""

    window: EvidenceWindow
    filter: dict[str, str]


class EventSamples(TypedDict):
    """Events that show a breach, and their sessions."""

    event_ids: NotRequired[list[int]]
    session_ids: NotRequired[list[str]]


class EvaluationSamples(TypedDict):
    """Evaluations that show a breach, and their sessions."""

    evaluation_ids: NotRequired[list[str]]
    session_ids: NotRequired[list[str]]


class EventCounts(TypedDict):
    """The events of the window; `errors` only for a rate, `sessions` for a cost a session."""

    events: int
    errors: NotRequired[int]
    sessions: NotRequired[int]


class EventFacts(Comparison, Selection):
    """Of a metric_threshold or a per_event."""

    counts: EventCounts


class EventEvidence(EventFacts, EventSamples):
    """Of a metric_threshold or a per_event that breached.

    `groups_more`, of a rule with groups: those that breached and have no incident of their own,
    because so many are open.
    """

    groups_more: NotRequired[int]


class EvaluationCounts(TypedDict):
    """The evaluations of the window that have the score."""

    evaluations: int


class ScoreFacts(Comparison, Selection):
    """Of an evaluation_score."""

    score_key: str
    counts: EvaluationCounts


class ScoreEvidence(ScoreFacts, EvaluationSamples):
    """Of an evaluation_score that breached."""


class JudgedCondition(TypedDict):
    """A condition of an eval_compound; `holds` is null with too few scores."""

    score_key: str
    value: float | None
    op: str
    bound: float
    count: int
    holds: bool | None


class CompoundFacts(Comparison, Selection):
    """Of an eval_compound."""

    conditions: list[JudgedCondition]


class CompoundEvidence(CompoundFacts, EvaluationSamples):
    """Of an eval_compound that breached."""


class RowCounts(TypedDict):
    """The rows of a result, which may be a part of all."""

    rows: int
    truncated: bool


class SqlResult(TypedDict):
    """The first rows and columns of the result of a statement."""

    counts: RowCounts
    columns: list[str]
    rows: list[list[Any]]


class SqlEvidence(Comparison, SqlResult):
    """Of a custom_sql."""


class CallCounts(TypedDict):
    """The calls of a period, among them those without a price."""

    calls: int
    unpriced_calls: int


class BudgetFacts(Comparison, Selection):
    """Of a budget, when it reached a level; the window is the whole period.

    `share` is the spending divided by the amount, `forecast_usd` what it will be at the end.
    """

    counts: CallCounts
    period: PeriodKind
    level: int | Literal["forecast"]
    levels: list[int]
    share: float
    forecast_usd: float | None
    groups_more: int


EVIDENCE = (EventEvidence, ScoreEvidence, CompoundEvidence, SqlEvidence, BudgetFacts)

"""The specs of the kinds of triggers, as typed values (docs/use/alerts.md).

`trigger_spec` of a rule is stored as it was sent; absent fields have the defaults given here.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from shared.reading.dimensions.names import MAX_ATTRIBUTE_FILTERS

Op = Literal[">", ">=", "<", "<=", "==", "gt", "gte", "lt", "lte", "eq"]

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
}
_SYMBOLS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "eq": "=="}

MIN_WINDOW_SECS, MAX_WINDOW_SECS = 60, 30 * 86_400

WindowSecs = Annotated[int, Meta(ge=MIN_WINDOW_SECS, le=MAX_WINDOW_SECS)]
Text = Annotated[str, Meta(min_length=1, max_length=256)]
MinCount = Annotated[int, Meta(ge=1, le=1_000_000_000)]

# Weeks begin on Monday.
PeriodKind = Literal["day", "week", "month"]
Metric = Literal[
    "event_count",
    "error_count",
    "error_rate",
    "p95_latency_ms",
    "p99_latency_ms",
    "token_sum",
    "session_count",
    "cost_sum",
    "cost_per_session",
    "unpriced_calls",
    "model_call_count",
    "input_token_sum",
    "output_token_sum",
    "cache_read_token_sum",
    "cache_write_token_sum",
    "reasoning_token_sum",
]


def symbol(op: Op) -> str:
    """Returns the operator as a sign: `gt` is `>`."""
    return _SYMBOLS.get(op, op)


def holds(op: Op, value: float, bound: float) -> bool:
    """Returns whether `value op bound` is true."""
    return _COMPARISONS[symbol(op)](value, bound)


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """The base of all specs.

    With `auto_resolve` an incident ends after eval_window clean evaluations.
    """

    auto_resolve: bool = False


class EventFilter(msgspec.Struct, frozen=True, kw_only=True):
    """A filter of events; fields that are None admit all.

    The user and the version are an event's own, else its session's.
    """

    environment: Text | None = None
    event_type: Text | None = None
    agent_id: Text | None = None
    model: Text | None = None
    tool_name: Text | None = None
    user_id: Text | None = None
    agent_version: Text | None = None
    tag: Text | None = None
    attributes: Annotated[dict[Text, Text], Meta(max_length=MAX_ATTRIBUTE_FILTERS)] | None = None


class MetricThreshold(Spec, frozen=True, kw_only=True):
    """A number computed from the events of the last `window_secs`, of each group if there are."""

    metric: Metric
    op: Op
    value: float
    window_secs: WindowSecs
    filter: EventFilter = EventFilter()
    group_by: Text | None = None


class Budget(Spec, frozen=True, kw_only=True):
    """An amount of dollars for the calls of each calendar period in the zone `tz`.

    With `group_by` it is each group's. `levels` are percentages that are announced, and so is a
    `forecast` above the amount.
    """

    amount_usd: Annotated[float, Meta(le=1_000_000_000)]
    period: PeriodKind
    tz: Text = "UTC"
    levels: Annotated[
        tuple[Annotated[int, Meta(ge=1, le=1000)], ...], Meta(min_length=1, max_length=6)
    ] = (50, 80, 100)
    forecast: bool = True
    filter: EventFilter = EventFilter()
    group_by: Text | None = None


class CustomSql(Spec, frozen=True, kw_only=True):
    """A statement: with `op` and `value` its number is compared, otherwise any row breaches."""

    sql: str
    op: Op | None = None
    value: float | None = None


class EvaluationScore(Spec, frozen=True, kw_only=True):
    """The average of a score over the evaluations of the last `window_secs`."""

    score_key: Text
    op: Op
    value: float
    window_secs: WindowSecs
    min_count: MinCount = 1
    environment: Text | None = None
    agent_id: Text | None = None


class ScoreCondition(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison of the average of one score."""

    score_key: Text
    op: Op
    value: float


class AtLeast(msgspec.Struct, frozen=True, kw_only=True):
    """The number of conditions that have to hold."""

    at_least: Annotated[int, Meta(ge=1)]


class EvalCompound(Spec, frozen=True, kw_only=True):
    """A combination of several averages of scores."""

    combinator: Literal["any", "all"] | AtLeast
    conditions: Annotated[tuple[ScoreCondition, ...], Meta(min_length=1, max_length=20)]
    window_secs: WindowSecs = 3600
    min_count: MinCount = 1
    environment: Text | None = None


class PerEvent(Spec, frozen=True, kw_only=True):
    """Any matching event of the last `lookback_secs`.

    `message_contains` searches `message`, `error`, `summary` and `output.error` of the payload, in
    any case.
    """

    event_type: Text
    lookback_secs: WindowSecs
    environment: Text | None = None
    tool_name: Text | None = None
    agent_id: Text | None = None
    error_type: Text | None = None
    message_contains: Text | None = None


SPECS: Mapping[str, type[Spec]] = {
    "metric_threshold": MetricThreshold,
    "custom_sql": CustomSql,
    "evaluation_score": EvaluationScore,
    "eval_compound": EvalCompound,
    "per_event": PerEvent,
    "budget": Budget,
}


def spec_of(trigger_kind: str, stored: Mapping[str, Any]) -> Spec:
    """Returns the typed spec of a stored rule.

    Raises `msgspec.ValidationError` for an invalid one.
    """
    return msgspec.convert(dict(stored), SPECS[trigger_kind])

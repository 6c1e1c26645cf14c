"""metric_threshold: compares a number computed from the events of a window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shared.foundation.core.clock import to_us
from shared.foundation.core.text import duration, figure
from shared.reading.events.families import NAMED
from shared.watch.alerts.evaluation.triggers.aggregates import (
    EVENTS,
    Aggregate,
    AggregateRows,
    Term,
)
from shared.watch.alerts.evaluation.triggers.calls import (
    CALLS,
    HAS_COST,
    IS_CALL,
    IS_UNPRICED,
)
from shared.watch.alerts.evaluation.triggers.event_filter import conditions_of
from shared.watch.alerts.evaluation.triggers.interface import (
    NotEvaluated,
    Rule,
    RuleOutcome,
    RuleReading,
)
from shared.watch.alerts.evaluation.triggers.plan import (
    BreachLimit,
    among,
    comparison,
    sample,
    selection,
)
from shared.watch.alerts.evidence import EventCounts, EventFacts
from shared.watch.alerts.specs import Metric, MetricThreshold, holds, symbol

# The events that end a step of the agent's work and have its duration.
TIMED = tuple(family.end for family in NAMED)

WINDOW_IS_OPEN = "its window has not passed since its incident was resolved"
_COUNT = "countIf"
_ERROR = Term("is_error")
_TOKENS = "toUInt64(ifNull(input_tokens, 0)) + ifNull(output_tokens, 0)"
_MEASURED = Term("duration_ms IS NOT NULL")
_LONGEST = "-toInt64(ifNull(duration_ms, 0))"
_DEAREST = "-toFloat64(ifNull(cost_usd, 0))"
# Comparisons that few events make true.
_UPPER = ("<", "<=", "==")
_QUANTILE = "quantileExactInclusiveOrNullIf({level})"


@dataclass(frozen=True)
class _Metric:
    """An aggregate of the events, and the events that show why it is high.

    `among`: the types of events that it is about, of which none is named for it to be about all.
    `by_session`: it is divided by the number of sessions. `grows`: more events never make it
    smaller.
    """

    function: str
    argument: str = ""
    term: Term | None = None
    among: tuple[str, ...] = ()
    highest: str | None = None
    by_session: bool = False
    grows: bool = False


def _tokens(column: str) -> _Metric:
    one = f"toUInt64(ifNull({column}, 0))"
    return _Metric("sumIf", one, highest=f"-toInt64({one})", grows=True)


_METRICS: Mapping[Metric, _Metric] = {
    "event_count": _Metric(_COUNT, grows=True),
    "error_count": _Metric(_COUNT, term=_ERROR, grows=True),
    "error_rate": _Metric(_COUNT, term=_ERROR),
    "session_count": _Metric("uniqExactIf", "session_id", grows=True),
    "token_sum": _Metric("sumIf", _TOKENS, highest=f"-toInt64({_TOKENS})", grows=True),
    "p95_latency_ms": _Metric(
        _QUANTILE.format(level=0.95), "duration_ms", _MEASURED, among=TIMED, highest=_LONGEST
    ),
    "p99_latency_ms": _Metric(
        _QUANTILE.format(level=0.99), "duration_ms", _MEASURED, among=TIMED, highest=_LONGEST
    ),
    "cost_sum": _Metric("sumIf", "cost_usd", HAS_COST, among=CALLS, highest=_DEAREST, grows=True),
    "cost_per_session": _Metric(
        "sumIf", "cost_usd", HAS_COST, among=CALLS, highest=_DEAREST, by_session=True
    ),
    "unpriced_calls": _Metric(_COUNT, term=IS_UNPRICED, among=CALLS, grows=True),
    "model_call_count": _Metric(_COUNT, term=IS_CALL, among=CALLS, grows=True),
    "input_token_sum": _tokens("input_tokens"),
    "output_token_sum": _tokens("output_tokens"),
    "cache_read_token_sum": _tokens("cache_read_tokens"),
    "cache_write_token_sum": _tokens("cache_write_tokens"),
    "reasoning_token_sum": _tokens("reasoning_tokens"),
}


class MetricPlan:
    """The plan of one rule; without events a rate is None, without durations a latency is."""

    def __init__(self, rule: Rule, spec: MetricThreshold) -> None:
        self.limit = BreachLimit(symbol(spec.op), spec.value)
        self._spec = spec
        self._metric = _METRICS[spec.metric]
        stop = to_us(rule.until)
        admitted, terms, self._filter = conditions_of(spec.filter)
        columns = dict(among(admitted))
        if self._metric.among:
            columns.setdefault("event_type", self._metric.among)
        start = to_us(rule.start_of(spec.window_secs))
        self.is_upper = self._metric.grows and symbol(spec.op) in _UPPER
        # A count of a part of the window says nothing about an upper bound of the whole.
        self.is_open = rule.is_cut(spec.window_secs) and self.is_upper
        every = AggregateRows(EVENTS, start, stop, among=tuple(columns.items()), terms=terms)
        term = self._metric.term
        self._rows = every if term is None else replace(every, terms=(*terms, term))
        self.aggregates: Sequence[Aggregate] = (
            Aggregate(self._metric.function, self._rows, self._metric.argument),
            Aggregate(_COUNT, self._rows if self._metric.among else every),
            *((Aggregate("uniqExactIf", self._rows, "session_id"),) * self._metric.by_session),
        )

    def outcome(self, values: Sequence[Any]) -> RuleOutcome:
        """Returns the outcome; `values` are the metric, the number of its events, and sessions."""
        spec, (made, events, *sessions) = self._spec, values
        if self.is_open:
            return NotEvaluated(WINDOW_IS_OPEN)
        counts: EventCounts = {"events": events}
        if sessions:
            [counts["sessions"]] = sessions
        elif spec.metric == "error_rate":
            counts["errors"] = made
        value = self.value_of(values)
        breached = value is not None and holds(spec.op, value, spec.value)
        evidence: EventFacts = {
            **comparison(spec.metric, value, self.limit),
            **selection(self._rows, self._filter),
            "counts": counts,
        }
        return RuleReading(value, breached, self._summary(value), evidence)

    def value_of(self, values: Sequence[Any]) -> float | None:
        """Returns the number that is compared."""
        made, events, *sessions = values
        if sessions or self._spec.metric == "error_rate":
            [number] = sessions or [events]
            return float(made) / number if number else None
        # The sum of no costs is null.
        if made is None and self._spec.metric == "cost_sum":
            return 0.0
        return None if made is None else float(made)

    def samples(self, values: Sequence[Any]) -> Sequence[Aggregate]:  # noqa: ARG002 as any plan's
        """Returns the largest events of a sum or a latency, else the newest."""
        return (sample(self._rows, self._metric.highest),)

    def _summary(self, value: float | None) -> str:
        spec = self._spec
        seen = "had no value" if value is None else f"was {figure(spec.metric, value)}"
        length = duration(self._rows.stop - self._rows.start)
        bound = f"{symbol(spec.op)} {figure(spec.metric, spec.value)}"
        return f"{spec.metric} {seen} over the last {length} ({bound})"

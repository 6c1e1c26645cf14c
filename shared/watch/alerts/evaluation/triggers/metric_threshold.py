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
from shared.watch.alerts.evaluation.triggers.interface import (
    NotEvaluated,
    Outcome,
    Rule,
    RuleReading,
)
from shared.watch.alerts.evaluation.triggers.plan import (
    BreachLimit,
    among,
    comparison,
    filtered,
    sample,
    selection,
)
from shared.watch.alerts.evidence import EventCounts, EventFacts
from shared.watch.alerts.specs import EventFilter, Metric, MetricThreshold, holds, symbol

# The events that end a step of the agent's work and have its duration.
TIMED = tuple(family.end for family in NAMED)

_COUNT = "countIf"
_ERROR = Term("is_error")
_TOKENS = "toUInt64(ifNull(input_tokens, 0)) + ifNull(output_tokens, 0)"
_MEASURED = Term("duration_ms IS NOT NULL")
_LONGEST = "-toInt64(ifNull(duration_ms, 0))"
# Comparisons that few events make true.
_UPPER = ("<", "<=", "==")
_QUANTILE = "quantileExactInclusiveOrNullIf({level})"


@dataclass(frozen=True)
class _Metric:
    """An aggregate of the events, and the events that show why it is high.

    `grows`: more events never make it smaller.
    """

    function: str
    argument: str = ""
    term: Term | None = None
    is_of_timed: bool = False
    highest: str | None = None
    grows: bool = False


_METRICS: Mapping[Metric, _Metric] = {
    "event_count": _Metric(_COUNT, grows=True),
    "error_count": _Metric(_COUNT, term=_ERROR, grows=True),
    "error_rate": _Metric(_COUNT, term=_ERROR),
    "session_count": _Metric("uniqExactIf", "session_id", grows=True),
    "token_sum": _Metric("sumIf", _TOKENS, highest=f"-toInt64({_TOKENS})", grows=True),
    "p95_latency_ms": _Metric(
        _QUANTILE.format(level=0.95), "duration_ms", _MEASURED, is_of_timed=True, highest=_LONGEST
    ),
    "p99_latency_ms": _Metric(
        _QUANTILE.format(level=0.99), "duration_ms", _MEASURED, is_of_timed=True, highest=_LONGEST
    ),
}


class MetricPlan:
    """The plan of one rule; without events a rate is None, without durations a latency is."""

    def __init__(self, rule: Rule, spec: MetricThreshold) -> None:
        self.limit = BreachLimit(symbol(spec.op), spec.value)
        self._spec = spec
        self._metric = _METRICS[spec.metric]
        stop = to_us(rule.until)
        self._filter = filtered(spec.filter, EventFilter.__struct_fields__)
        columns = dict(among(self._filter))
        if self._metric.is_of_timed:
            columns.setdefault("event_type", TIMED)
        start = to_us(rule.start_of(spec.window_secs))
        # A count of a part of the window says nothing about an upper bound of the whole.
        self._is_open = (
            rule.is_cut(spec.window_secs) and self._metric.grows and symbol(spec.op) in _UPPER
        )
        admitted = AggregateRows(EVENTS, start, stop, among=tuple(columns.items()))
        term = self._metric.term
        self._rows = admitted if term is None else replace(admitted, terms=(term,))
        self.aggregates: Sequence[Aggregate] = (
            Aggregate(self._metric.function, self._rows, self._metric.argument),
            Aggregate(_COUNT, self._rows if self._metric.is_of_timed else admitted),
        )

    def outcome(self, values: Sequence[Any]) -> Outcome:
        """Returns the outcome; `values` are the metric and the number of its events."""
        spec, (made, events) = self._spec, values
        if self._is_open:
            return NotEvaluated("its window has not passed since its incident was resolved")
        counts: EventCounts = {"events": events}
        if spec.metric == "error_rate":
            counts["errors"] = made
            made = made / events if events else None
        value = None if made is None else float(made)
        breached = value is not None and holds(spec.op, value, spec.value)
        evidence: EventFacts = {
            **comparison(spec.metric, value, self.limit),
            **selection(self._rows, self._filter),
            "counts": counts,
        }
        return RuleReading(value, breached, self._summary(value), evidence)

    def samples(self, values: Sequence[Any]) -> Sequence[Aggregate]:  # noqa: ARG002 as any plan's
        """Returns the largest events of a sum or a latency, else the newest."""
        return (sample(self._rows, self._metric.highest),)

    def _summary(self, value: float | None) -> str:
        spec = self._spec
        seen = "had no value" if value is None else f"was {figure(spec.metric, value)}"
        length = duration(self._rows.stop - self._rows.start)
        bound = f"{symbol(spec.op)} {figure(spec.metric, spec.value)}"
        return f"{spec.metric} {seen} over the last {length} ({bound})"

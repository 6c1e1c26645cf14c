"""per_event: any event that matches.

`message_contains` searches the texts that people regard as the message: `message`, `error`,
`summary` and `output.error` of the payload. Texts are compared by their characters, in any case and
with any escaping, other values by their JSON.
"""

from collections.abc import Sequence
from typing import Any

from shared.foundation.core.clock import format_us, to_us
from shared.foundation.core.text import duration
from shared.watch.alerts.evaluation.triggers.aggregates import (
    EVENTS,
    Aggregate,
    AggregateRows,
    Term,
)
from shared.watch.alerts.evaluation.triggers.interface import Rule, RuleOutcome, RuleReading
from shared.watch.alerts.evaluation.triggers.plan import (
    BreachLimit,
    among,
    comparison,
    filtered,
    sample,
    selection,
)
from shared.watch.alerts.evidence import EventFacts
from shared.watch.alerts.specs import PerEvent

_COLUMNS = ("event_type", "environment", "tool_name", "agent_id", "error_type")
_MESSAGE = "message_contains"
_FIELDS = "message Nullable(String), error Nullable(String), summary Nullable(String)"
_TOLD = f"JSONExtract(payload, 'Tuple({_FIELDS})')"
_OUTPUT_ERROR = "JSONExtract(payload, 'output', 'error', 'Nullable(String)')"
# Payloads that ClickHouse cannot parse, for example with the number 1e400, are searched whole: an
# extra alert is better than a missing one.
_TEXTS = f"""if(isValidJSON(payload),
    arrayMap(told -> ifNull(told, ''),
        [{_TOLD}.1, {_TOLD}.2, {_TOLD}.3, {_OUTPUT_ERROR}]),
    [payload]) AS texts"""
_SAYS = "arrayExists(text -> positionCaseInsensitiveUTF8(text, ?) > 0, texts)"


class PerEventPlan:
    """The plan of one rule; its window starts at the end of the last one if that is longer ago."""

    limit = BreachLimit(">", 0)

    def __init__(self, rule: Rule, spec: PerEvent) -> None:
        stop = to_us(rule.until)
        start = to_us(rule.start_of(spec.lookback_secs))
        if rule.since is not None:
            start = min(start, to_us(max(rule.since, rule.begins_at or rule.since)))
        self._filter = filtered(spec, (*_COLUMNS, _MESSAGE))
        self._is_behind = rule.is_behind
        says = spec.message_contains
        self._rows = AggregateRows(
            EVENTS,
            start,
            stop,
            among=among(filtered(spec, _COLUMNS)),
            terms=() if says is None else (Term(_SAYS, says),),
            prelude="" if says is None else _TEXTS,
        )
        self.aggregates: Sequence[Aggregate] = (Aggregate("countIf", self._rows),)

    def outcome(self, values: Sequence[Any]) -> RuleOutcome:
        """Returns the outcome; `values` holds the number of matching events."""
        [matches] = values
        evidence: EventFacts = {
            **comparison("matching_events", matches, self.limit),
            **selection(self._rows, self._filter),
            "counts": {"events": matches},
        }
        return RuleReading(float(matches), matches > 0, self._summary(matches), evidence)

    def samples(self, values: Sequence[Any]) -> Sequence[Aggregate]:  # noqa: ARG002 as any plan's
        """Returns the newest matching events."""
        return (sample(self._rows),)

    def _summary(self, matches: int) -> str:
        told = ", ".join(f"{name} {value!r}" for name, value in self._filter.items())
        count = "1 event" if matches == 1 else f"{matches or 'no'} events"
        length = duration(self._rows.stop - self._rows.start)
        if self._is_behind:
            return f"{count} with {told} in the {length} before {format_us(self._rows.stop)}"
        return f"{count} with {told} in the last {length}"

"""Spans that report the call of a model once more, beside the span that reports it as well.

An instrumentation that does not make its span the current one leaves the span of the model's own
SDK beside it instead of below it. Both have the same parent and the same answer's id.
"""

from collections.abc import Iterable

from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.mapping.tables import RESPONSE_ID
from shared.intake.otlp.records import Span

# More spans with one answer's id are no reports of one call.
_MOST_REPORTS = 4


def twins(items: Iterable[Item]) -> set[str]:
    """Returns the ids of the model spans of a trace that lie within another one of their call."""
    reports: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        span = item.record
        if item.kind == "model" and not item.is_pending and isinstance(span, Span):
            answer = span.attributes.get(RESPONSE_ID)
            if type(answer) is str and answer:
                reports.setdefault((span.parent_id, answer), []).append(item)
    return {
        one.record.span_id
        for same in reports.values()
        if 1 < len(same) <= _MOST_REPORTS
        for one in same
        if any(_lies_within(one, other) for other in same)
    }


def _lies_within(item: Item, other: Item) -> bool:
    inner, outer = item.record, other.record
    if not isinstance(inner, Span) or not isinstance(outer, Span):
        return False
    return (
        item.scope.name != other.scope.name
        and outer.start_ns < inner.start_ns
        and inner.end_ns < outer.end_ns
    )

"""Two packages that report one call of a model beside each other count once."""

from itertools import permutations
from typing import Any

import msgspec
import pytest

from shared.intake.otlp.assignment.assign import assign
from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.mapping import span_events
from shared.intake.otlp.records import Records, Resource, Scope, Span
from tests.support.assignment import NAMED, RULES, a_span, roles
from tests.support.otlp_spans import END_NS, LIMIT, ORG, START_NS

AGENT = a_span("agent", "", "agent")


def report(name: str, answer: str = "msg_1", parent: str = "agent", inside: int = 0) -> Span:
    """Returns a report of a call, so many nanoseconds shorter at both ends."""
    span = a_span(name, parent, "model", gen_ai__response__id=answer)
    return msgspec.structs.replace(span, start_ns=START_NS + inside, end_ns=END_NS - inside)


def items_of(*spans: Span, scopes: tuple[str, ...] = ()) -> list[Item]:
    """Returns spans as they are read, each from the scope of its place, or from one of its own."""
    names = scopes or tuple(span.name for span in spans)
    made = [msgspec.structs.replace(span, scope=place) for place, span in enumerate(spans)]
    known = [Scope(name, "1", {}) for name in names]
    source = Records(0, [Resource({"service.name": "shop"})], known, list(made), [])
    return [Item(span, source, 0) for span in made]


def test_the_report_within_another_one_is_no_call_of_its_own() -> None:
    spans = (AGENT, report("instrumentation"), report("sdk", inside=1))
    for order in permutations(items_of(*spans)):
        outcome = assign(order, NAMED, {}, RULES, 0)
        assert roles(outcome) == {"agent": "agent", "instrumentation": "model", "sdk": "span"}


@pytest.mark.parametrize(
    ("other", "scopes"),
    [
        (report("b", answer="msg_2", inside=1), ()),
        (report("b", answer="", inside=1), ()),
        (report("b", parent="tool", inside=1), ()),
        (report("b"), ()),
        (report("b", inside=1), ("agent", "same", "same", "tool")),
    ],
    ids=["another answer", "no answer", "another parent", "at the same time", "one package"],
)
def test_others_are_calls_of_their_own(other: Span, scopes: tuple[str, ...]) -> None:
    spans = (AGENT, report("a"), other, a_span("tool", "agent", "tool"))
    outcome = assign(items_of(*spans, scopes=scopes), NAMED, {}, RULES, 0)
    assert (roles(outcome)["a"], roles(outcome)["b"]) == ("model", "model")


def test_many_with_one_id_are_no_reports_of_one_call() -> None:
    spans = [AGENT, *(report(f"call {place}", inside=place) for place in range(5))]
    outcome = assign(items_of(*spans), NAMED, {}, RULES, 0)
    assert set(roles(outcome).values()) == {"agent", "model"}


USED: dict[str, Any] = {
    "gen_ai__usage__input_tokens": 9,
    "gen_ai__usage__cost": 0.5,
    "tag__tags": "a",
}


def test_the_usage_of_a_call_that_two_packages_report_counts_once() -> None:
    """LangChain's span and that of the client below it, or two of them beside each other."""
    below = [
        AGENT,
        a_span("chain", "agent", "model", **USED),
        a_span("sdk", "chain", "model", **USED),
    ]
    outer, inner = report("a"), report("b", inside=1)
    for one in (outer, inner):
        one.attributes |= {name.replace("__", "."): value for name, value in USED.items()}
    for spans in (below, [AGENT, outer, inner]):
        outcome = assign(items_of(*spans), NAMED, {}, RULES, 0)
        told = [
            msgspec.json.decode(event.payload)
            for one in outcome.assigned
            if isinstance(one.item.record, Span)
            for event in span_events(
                ORG, one.item.record, one.item.resource, one.item.scope, one.assignment, LIMIT
            )
        ]
        assert [event["cost_usd"] for event in told if "cost_usd" in event] == [0.5]
        assert [event["input_tokens"] for event in told if "input_tokens" in event] == [9]
        assert [event["type"] for event in told if "tags" in event].count("span") == 1

"""Agents and roles of spans, and the records that wait, by what is known of their trace."""

from itertools import permutations

import pytest

from shared.intake.otlp.assignment.assign import PARENT_WAIT_MS, Rules, assign_alone
from shared.intake.otlp.assignment.chains import SpanMemory
from shared.intake.otlp.assignment.sessions import Session
from tests.support.assignment import (
    NAMED,
    UNNAMED,
    a_log,
    a_span,
    agents,
    assigned,
    id_of,
    items_of,
    pending,
    roles,
    waiting,
)

TREE = (
    a_span("planner", "", "agent"),
    a_span("step", "planner"),
    a_span("call", "step", "model"),
    a_span("invoke_agent helper", "step", "agent"),
    a_span("search", "invoke_agent helper", "tool"),
)


def test_agents_come_from_the_nearest_agent_above_in_any_order() -> None:
    for order in permutations(TREE):
        outcome = assigned(*order)
        assert agents(outcome) == {
            "planner": "planner",
            "step": "planner",
            "call": "planner",
            "invoke_agent helper": "helper",
            "search": "helper",
        }
        parents = {one.item.record.span_id: one.assignment.parent_agent for one in outcome.assigned}
        assert {name for name in parents.values() if name} == {"planner"}
        assert parents[id_of("invoke_agent helper")] == "planner"


def test_parents_are_placed_before_their_children() -> None:
    for order in permutations(TREE):
        names = [one.item.record.span_id for one in assigned(*order).assigned]
        for one in TREE:
            if one.parent_id:
                assert names.index(one.parent_id) < names.index(one.span_id)


def test_the_next_other_agent_above_skips_agents_of_the_same_name() -> None:
    outcome = assigned(
        a_span("planner", "", "agent"),
        a_span("a", "planner", "agent", gen_ai__agent__name="helper"),
        a_span("t", "a", "tool"),
        a_span("b", "t", "agent", gen_ai__agent__name="helper"),
    )
    assert outcome.assigned[-1].assignment.parent_agent == "planner"
    assert roles(outcome)["b"] == "agent"


def test_a_record_that_names_its_agent_keeps_it_and_lends_it_to_those_below() -> None:
    outcome = assigned(
        a_span("planner", "", "agent"),
        a_span("call", "planner", "model", gen_ai__agent__name="writer"),
        a_span("inner", "call", "tool"),
        a_log("inner"),
    )
    assert agents(outcome) == {
        "planner": "planner", "call": "writer", "inner": "writer", "log": "writer",
    }  # fmt: skip


def test_without_an_agent_above_the_service_is_the_agent() -> None:
    assert agents(assigned(a_span("call", "", "model"))) == {"call": "shop"}


@pytest.mark.parametrize("outer", [True, False])
def test_a_call_that_two_packages_report_counts_once(outer: bool) -> None:
    spans = [
        a_span("root", "", "agent"),
        a_span("outer", "root", "model"),
        a_span("http", "outer"),
        a_span("inner", "http", "model"),
        a_span("innermost", "inner", "model"),
    ]
    expected = {
        "root": "agent", "outer": "model", "http": "span", "inner": "span", "innermost": "span",
    }  # fmt: skip
    assert roles(assigned(*spans)) == expected
    # The same if the ones above were assigned earlier.
    first = assigned(*spans[:3])
    later = assigned(*spans[3:], known=dict(first.learned))
    assert roles(later) == {"inner": "span", "innermost": "span"}


@pytest.mark.parametrize(
    ("outer", "inner", "role"),
    [
        (("tool", "search"), ("tool", "search"), "span"),
        (("tool", "search"), ("tool", "fetch"), "tool"),
        (("agent", "helper"), ("agent", "helper"), "span"),
        (("agent", "helper"), ("agent", "planner"), "agent"),
        (("model", "a"), ("tool", "a"), "tool"),
        (("retrieval", "a"), ("model", "a"), "model"),
    ],
)
def test_only_the_same_thing_is_reported_twice(
    outer: tuple[str, str], inner: tuple[str, str], role: str
) -> None:
    def made(span: tuple[str, str], name: str, parent: str) -> object:
        key = {"tool": "gen_ai__tool__name", "agent": "gen_ai__agent__name"}.get(span[0], "model")
        return a_span(name, parent, span[0], **{key: span[1]})

    outcome = assigned(made(outer, "outer", ""), made(inner, "inner", "outer"))  # type: ignore[arg-type]
    assert roles(outcome)["inner"] == role


def test_a_call_in_between_makes_two_calls() -> None:
    outcome = assigned(
        a_span("outer", "", "model"), a_span("tool", "outer", "tool"), a_span("in", "tool", "model")
    )
    assert roles(outcome) == {"outer": "model", "tool": "tool", "in": "model"}


def test_the_root_of_an_agents_trace_is_an_agent_span_of_its_service() -> None:
    outcome = assigned(a_span("POST /chat"), a_span("call", "POST /chat", "model"))
    assert roles(outcome) == {"POST /chat": "agent", "call": "model"}
    assert agents(outcome) == {"POST /chat": "shop", "call": "shop"}
    inner = assigned(a_span("POST /chat"), a_span("shop", "POST /chat", "agent"))
    assert roles(inner)["shop"] == "span"


@pytest.mark.parametrize(
    ("other_spans", "session", "stored"),
    [
        ("in_agent_traces", NAMED, True),
        ("in_agent_traces", UNNAMED, False),
        ("in_agent_traces", Session("t", is_named=False, has_kinds=True), True),
        ("all", UNNAMED, True),
        ("none", NAMED, False),
    ],
)
def test_spans_of_no_agent_are_stored_as_the_setting_says(
    other_spans: str, session: Session, stored: bool
) -> None:
    outcome = assigned(
        a_span("root", kind="model"),
        a_span("GET /", "root"),
        session=session,
        rules=Rules(other_spans, 5000),
        now_ms=PARENT_WAIT_MS,
    )
    assert ("GET /" in roles(outcome)) is stored
    assert [item.record.span_id for item in outcome.dropped] == ([] if stored else [id_of("GET /")])


def test_a_span_that_would_be_dropped_waits_for_a_span_of_another_kind() -> None:
    spans = a_span("root"), a_span("GET /", "root")
    outcome = assigned(*spans, session=UNNAMED)
    assert waiting(outcome) == {"root", "GET /"}
    assert outcome.due_ms == PARENT_WAIT_MS
    assert assigned(*spans, session=UNNAMED, now_ms=PARENT_WAIT_MS).assigned == []
    agentic = Session("t", is_named=False, has_kinds=True)
    assert roles(assigned(*spans, session=agentic)) == {"root": "agent", "GET /": "span"}


def test_a_span_waits_for_its_parent_and_is_placed_without_it_later() -> None:
    spans = a_span("tools", "planner"), a_span("search", "tools", "tool")
    outcome = assigned(*spans)
    assert waiting(outcome) == {"tools", "search"}
    assert outcome.due_ms == PARENT_WAIT_MS
    assert agents(assigned(*spans, now_ms=PARENT_WAIT_MS)) == {"tools": "shop", "search": "shop"}
    with_parent = assigned(*spans, a_span("planner", "", "agent"))
    assert agents(with_parent)["search"] == "planner"


def test_a_parent_that_comes_late_counts_for_those_that_come_after_it() -> None:
    early = assigned(a_span("tools", "planner"), now_ms=PARENT_WAIT_MS)
    late = assigned(a_span("planner", "", "agent"), known=early.learned)
    known = early.learned | late.learned
    assert agents(assigned(a_span("search", "tools", "tool"), known=known)) == {"search": "planner"}


def test_log_records_wait_for_their_span() -> None:
    assert waiting(assigned(a_log("call"))) == {"log"}
    assert agents(assigned(a_log("call"), now_ms=PARENT_WAIT_MS)) == {"log": "shop"}
    outcome = assigned(a_log("call"), a_span("root", "", "agent"), a_span("call", "root", "model"))
    assert agents(outcome)["log"] == "root"
    assert agents(assigned(a_log("call"), known=outcome.learned)) == {"log": "root"}


def test_log_records_of_no_span_do_not_wait() -> None:
    assert agents(assigned(a_log())) == {"log": "shop"}


def test_a_log_record_of_no_trace_needs_a_session() -> None:
    [named] = items_of(a_log(session__id="s"))
    assignment = assign_alone(named)
    assert assignment is not None
    assert (assignment.assignment.session_id, assignment.assignment.agent_id) == ("s", "shop")
    [unnamed] = items_of(a_log())
    assert assign_alone(unnamed) is None


def test_a_pending_span_disappears_beside_the_finished_one() -> None:
    finished = a_span("call", "", "model")
    for order in permutations((finished, pending(finished))):
        [one] = assigned(*order).assigned
        assert not one.assignment.pending
    stored = assigned(finished).learned
    assert assigned(pending(finished), known=stored).assigned == []


def test_a_finished_span_takes_the_place_of_its_pending_one() -> None:
    finished = a_span("call", "", "model")
    first = assigned(pending(finished))
    [one] = first.assigned
    assert one.assignment.pending
    known = first.learned
    known[finished.span_id].announced = 77
    assert assigned(pending(finished), known=known).assigned == []
    [later] = assigned(finished, known=known).assigned
    assert (later.assignment.pending, later.start_arrival) == (False, 77)


def test_a_span_that_is_sent_again_is_not_placed_again() -> None:
    spans = a_span("root", "", "agent"), a_span("call", "root", "model")
    again = assigned(*spans, known=assigned(*spans).learned)
    assert (again.assigned, again.waiting, again.dropped) == ([], [], [])
    assert len(assigned(*spans, *spans).assigned) == 2


def test_parents_in_a_circle_end_the_wait_too() -> None:
    spans = a_span("a", "b"), a_span("b", "a"), a_span("self", "self")
    assert waiting(assigned(*spans)) == {"a", "b", "self"}
    assert set(roles(assigned(*spans, now_ms=PARENT_WAIT_MS))) == {"a", "b", "self"}
    known = {id_of("x"): SpanMemory(unknown=id_of("y")), id_of("y"): SpanMemory(unknown=id_of("x"))}
    assert roles(assigned(a_span("c", "x"), known=known, now_ms=PARENT_WAIT_MS)) == {"c": "span"}


def test_a_deep_chain_is_followed_to_its_end() -> None:
    chain = [a_span("root", "", "agent")]
    chain += [a_span(f"s{n}", f"s{n - 1}" if n else "root") for n in range(5000)]
    assert set(agents(assigned(*reversed(chain))).values()) == {"root"}

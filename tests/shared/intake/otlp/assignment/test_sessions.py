"""The session that a trace gets, by what is known of it."""

from itertools import permutations

import pytest

from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.assignment.sessions import Proposal, has_other_name, propose
from shared.intake.otlp.records import Resource
from tests.support.assignment import NAMED, a_log, a_span, items_of, pending
from tests.support.otlp_spans import TRACE_ID

WAIT_MS = 5000


def proposed(items: list[Item], now_ms: int = 0) -> Proposal | None:
    return propose(TRACE_ID, items, WAIT_MS, now_ms)


def with_resource(items: list[Item], **attributes: str) -> list[Item]:
    resource = Resource({key.replace("__", "."): value for key, value in attributes.items()})
    [source] = {id(item.source): item.source for item in items}.values()
    source.resources[0] = resource
    return [Item(item.sent, source, item.since_ms) for item in items]


def test_a_trace_without_root_and_names_waits_for_them() -> None:
    items = items_of(a_span("child", "root", "model"))
    assert proposed(items, WAIT_MS - 1) is None
    assert proposed(items, WAIT_MS) == (TRACE_ID, False)


def test_a_name_of_any_record_decides_at_once() -> None:
    assert proposed(items_of(a_span("child", "root", session__id="s"))) == ("s", True)
    assert proposed(items_of(a_log("child", session__id="s"))) == ("s", True)


def test_a_root_without_a_name_decides_for_the_trace_id() -> None:
    assert proposed(items_of(a_span("root"))) == (TRACE_ID, False)
    assert proposed(items_of(pending(a_span("root")))) == (TRACE_ID, False)


def test_a_pending_span_whose_real_parent_is_another_span_is_no_root() -> None:
    assert proposed(items_of(pending(a_span("child", "root")))) is None


def test_of_several_names_the_roots_counts_then_the_rank_then_the_start_then_the_id() -> None:
    root = a_span("root", thread_id="of the root")
    ranked = a_span("c", "root", gen_ai__conversation__id="ranked first")
    early = a_span("b", "root", session__id="early")
    early.start_ns -= 1
    first_id = a_span("a", "root", session__id="first id")
    expected = ["of the root", "ranked first", "early", "first id"]
    spans = [root, ranked, early, first_id, a_span("d", "root", session__id="last")]
    for name in expected:
        for order in permutations(spans):
            assert proposed(items_of(*order)) == (name, True)
        spans.pop(0)


def test_a_name_of_the_resource_counts_when_no_better_one_can_come_soon() -> None:
    items = with_resource(items_of(a_span("child", "root")), session__id="of the process")
    assert proposed(items) is None
    assert proposed(items, WAIT_MS) == ("of the process", True)
    items = with_resource(items_of(a_span("root")), session__id="of the process")
    assert proposed(items) == ("of the process", True)
    items = with_resource(
        items_of(a_span("root"), a_span("child", "root", thread_id="own")), session__id="other"
    )
    assert proposed(items) == ("own", True)


@pytest.mark.parametrize(
    ("name", "conflicts"), [({"session__id": "another"}, True), ({"session__id": "turns"}, False)]
)
def test_a_later_other_name_is_noticed(name: dict[str, str], conflicts: bool) -> None:
    items = items_of(a_span("root"), a_span("child", "root", **name))
    assert has_other_name(items, NAMED) is conflicts


def test_a_name_of_the_resource_is_no_other_name() -> None:
    items = with_resource(items_of(a_span("root")), session__id="of the process")
    assert not has_other_name(items, NAMED)

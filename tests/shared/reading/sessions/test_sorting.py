"""The orders of the list of sessions by a value, their pages, and ranges of values."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.clock import to_us
from shared.foundation.core.cursor import encode_cursor
from shared.foundation.core.errors import Invalid
from shared.reading.evaluations import store
from shared.reading.sessions.listing import page
from shared.reading.sessions.metrics import parse_metric_filters
from shared.reading.sessions.selection import SessionFilters
from shared.reading.sessions.summary import summarize
from tests.support.evaluations import evaluation
from tests.support.events import Stored, by_session, event, store_events

DAY = datetime(2026, 11, 2, tzinfo=UTC)
AROUND = SessionFilters(ts_from=DAY, ts_to=DAY + timedelta(days=1))
SCORES = {"s1": 0.5, "s2": -1.0, "s4": 0.5, "s7": 2.0}

# The costs of calls. Four sessions have the same sum, which floats have not, and two differ by less
# than floats can.
COSTS = [
    *(("s0", "0.1"), ("s0", "0.2"), ("s1", "0.3"), ("s3", "0.300000000000"), ("s7", "0.3")),
    *(("s2", "12345678.000000000001"), ("s4", "12345678.000000000002"), ("s5", "0"), ("s6", None)),
]


def cost_of(events: list[Stored]) -> Decimal | None:
    costs = [Decimal(item.cost_usd) for item in events if item.cost_usd is not None]
    return sum(costs, Decimal(0)) if costs else None


Value = Callable[[list[Stored]], float | Decimal | None]
VALUES: dict[str, Value] = {
    "started_at": lambda events: events[0].ts,
    "duration": lambda events: events[-1].ts - events[0].ts,
    "event_count": len,
    "error_count": lambda events: sum(item.is_error for item in events),
    "cost_usd": cost_of,
    "tokens": lambda events: sum(
        (item.input_tokens or 0) + (item.output_tokens or 0) for item in events
    ),
    "score:task: success": lambda events: SCORES.get(events[0].session_id),
}


@pytest.fixture
def stored(clickhouse: ClickHouse, org_id: str) -> list[list[Stored]]:
    """Twelve sessions with many equal values, some events stored twice; returns their events."""
    source = random.Random(4)
    lines = [
        event(
            f"s{number % 12}",
            f"{source.choice(['09', '10', '11'])}:00:0{source.randrange(3)}",
            source.choice(["error", "tool_use"]),
            place=number,
            environment=source.choice(["staging", "production"]),
            input_tokens=source.choice([0, 10]),
            **source.choice([{}, {"output_tokens": 10}]),
        )
        for number in range(40)
    ]
    lines += [_call(number, *cost) for number, cost in enumerate(COSTS)]
    events = store_events(clickhouse, org_id, lines)
    store_events(clickhouse, org_id, lines[::2])
    older = [evaluation(org_id, name, to_us(DAY), scores={"task: success": 9}) for name in SCORES]
    newer = [
        evaluation(org_id, name, to_us(DAY) + 1, scores={"task: success": score, "other": 1.0})
        for name, score in SCORES.items()
    ]
    store.insert(clickhouse, [*newer, *older])
    return list(by_session(events).values())


def _call(number: int, session_id: str, cost: str | None) -> bytes:
    """Returns a call of a model without a price, with one, or of a tool that reports its cost."""
    fields: dict[str, object] = {"cost_source": "unpriced" if cost is None else "computed"}
    if number % 2 and cost is not None:
        fields = {"cost_source": "reported", "reported_usd": cost}
    kind = "tool_result" if "reported_usd" in fields else "model_response"
    place = {"cost_usd": cost, "environment": "staging", "place": number}
    return event(session_id, f"10:00:0{number % 3}", kind, **place, **fields)


def listed(
    clickhouse: ClickHouse, org_id: str, wanted: SessionFilters, limit: int, **order: object
) -> list[str]:
    """Returns the ids of all pages."""
    found: list[str] = []
    cursor: str | None = None
    while True:
        shown = page(clickhouse, org_id, wanted, limit=limit, cursor=cursor, **order)  # type: ignore[arg-type]
        found += [row.facts.session_id for row in shown.rows]
        cursor = shown.next_cursor
        if cursor is None:
            return found


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("sort", VALUES)
def test_the_order_and_its_pages(
    clickhouse: ClickHouse, org_id: str, stored: list[list[Stored]], sort: str, ascending: bool
) -> None:
    def place(events: list[Stored]) -> tuple[bool, float | Decimal, int, str]:
        value = VALUES[sort](events)
        signed = 0 if value is None else value if ascending else -value
        return value is None, signed, -events[-1].ts, events[0].session_id

    wanted = [events[0].session_id for events in sorted(stored, key=place)]
    order = {"sort": sort, "ascending": ascending}
    assert listed(clickhouse, org_id, AROUND, 50, **order) == wanted
    assert listed(clickhouse, org_id, AROUND, 1, **order) == wanted
    some = AROUND.replace(environment=("staging",), session_id=("s1", "s2", "s3", "s5"))
    kept = [
        name
        for name in wanted
        for events in stored
        if events[0].session_id == name
        and name in ("s1", "s2", "s3", "s5")
        and events[0].environment == "staging"
    ]
    assert kept
    assert listed(clickhouse, org_id, some, 1, **order) == kept


def _calls_of(events: list[Stored]) -> int:
    return sum(item.cost_source is not None for item in events)


METRICS: dict[str, Value] = {
    **{name: VALUES[name] for name in ("cost_usd", "tokens", "error_count", "event_count")},
    "duration_ms": lambda events: Decimal(events[-1].ts - events[0].ts) / 1000,
    "model_calls": _calls_of,
}


@pytest.mark.parametrize("name", METRICS)
def test_a_range_of_a_metric(
    clickhouse: ClickHouse, org_id: str, stored: list[list[Stored]], name: str
) -> None:
    """Values are lower bounds, upper bounds and both."""
    values: dict[str, Any] = {events[0].session_id: METRICS[name](events) for events in stored}
    known = sorted({value for value in values.values() if value is not None})
    assert len(known) > 1
    for bound in (known[0], known[len(known) // 2], known[-1]):
        for low, high in ((bound, ""), ("", bound), (bound, bound)):
            expected = {
                session
                for session, value in values.items()
                if value is not None
                and (low == "" or value >= low)
                and (high == "" or value <= high)
            }
            text = f"{low}..{high}"
            wanted = AROUND.replace(metric_filters=parse_metric_filters([f"{name}:{text}"]))
            assert {*listed(clickhouse, org_id, wanted, 5)} == expected
            total = summarize(clickhouse, org_id, wanted, None).total
            assert total.sessions == len(expected)


def test_several_ranges_and_other_filters(
    clickhouse: ClickHouse, org_id: str, stored: list[list[Stored]]
) -> None:
    asked = parse_metric_filters(["cost_usd:..", "model_calls:..1", "duration_ms:1.."])
    expected = {
        events[0].session_id
        for events in stored
        if cost_of(events) is not None
        and _calls_of(events) <= 1
        and events[-1].ts - events[0].ts >= 1000
        and events[0].environment == "staging"
    }
    assert expected
    wanted = SessionFilters(metric_filters=asked, environment=("staging",))
    assert {*listed(clickhouse, org_id, wanted, 2)} == expected
    sessions = tuple(events[0].session_id for events in stored[::2])
    some = wanted.replace(session_id=sessions)
    assert {*listed(clickhouse, org_id, some, 2)} == expected & {*sessions}
    by_cost = listed(clickhouse, org_id, AROUND.replace(metric_filters=asked), 1, sort="cost_usd")
    assert {*by_cost} >= expected


def test_a_session_counts_with_its_events_before_the_range(
    clickhouse: ClickHouse, org_id: str
) -> None:
    lines = [event("long", "08:00:00"), event("long", "10:00:00"), event("short", "10:00:00")]
    store_events(clickhouse, org_id, [*lines, event("gone", "08:00:00")])
    late = SessionFilters(ts_from=DAY + timedelta(hours=9), ts_to=DAY + timedelta(hours=11))
    twice = late.replace(metric_filters=parse_metric_filters(["event_count:2.."]))
    assert listed(clickhouse, org_id, twice, 9) == ["long"]
    for sort in ("event_count", "duration"):
        assert listed(clickhouse, org_id, late, 9, sort=sort) == ["long", "short"]


def test_a_cursor_belongs_to_its_sort(
    clickhouse: ClickHouse, org_id: str, stored: list[list[Stored]]
) -> None:
    assert stored
    sorts = ("last_event_at", "tokens", "duration", "cost_usd")
    cursors = {
        sort: page(clickhouse, org_id, AROUND, limit=1, cursor=None, sort=sort).next_cursor
        for sort in sorts
    }
    for sort in sorts:
        for other in {*sorts} - {sort}:
            with pytest.raises(Invalid) as refused:
                page(clickhouse, org_id, AROUND, limit=1, cursor=cursors[other], sort=sort)
            assert list(refused.value.fields) == ["cursor"]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e30", 1, 0.5])
def test_a_cursor_has_a_value_of_its_sort(
    clickhouse: ClickHouse, org_id: str, value: object
) -> None:
    cursor = encode_cursor(("cost_usd", 0, 1, value, 0, "s"))
    with pytest.raises(Invalid) as refused:
        page(clickhouse, org_id, AROUND, limit=1, cursor=cursor, sort="cost_usd")
    assert list(refused.value.fields) == ["cursor"]


def test_the_range_is_bounded(clickhouse: ClickHouse, org_id: str) -> None:
    wide = SessionFilters(ts_from=DAY - timedelta(days=92), ts_to=DAY)
    assert listed(clickhouse, org_id, wide, 1, sort="tokens") == []
    wider = wide.replace(ts_from=DAY - timedelta(days=92, seconds=1))
    with pytest.raises(Invalid) as refused:
        page(clickhouse, org_id, wider, limit=1, cursor=None, sort="tokens")
    assert list(refused.value.fields) == ["ts_from"]
    assert listed(clickhouse, org_id, wider, 1) == []


@pytest.mark.parametrize("sort", ["", "cost", "score:", "tokens\n", "score"])
def test_an_unknown_sort_is_refused(clickhouse: ClickHouse, org_id: str, sort: str) -> None:
    with pytest.raises(Invalid) as refused:
        page(clickhouse, org_id, AROUND, limit=1, cursor=None, sort=sort)
    assert list(refused.value.fields) == ["sort"]

"""The orders of the list of sessions by a value, and their pages."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.clock import to_us
from shared.foundation.core.errors import Invalid
from shared.reading.evaluations import store
from shared.reading.sessions.listing import page
from shared.reading.sessions.selection import SessionFilters
from tests.support.evaluations import evaluation
from tests.support.events import Stored, by_session, event, store_events

DAY = datetime(2026, 11, 2, tzinfo=UTC)
AROUND = SessionFilters(ts_from=DAY, ts_to=DAY + timedelta(days=1))
SCORES = {"s1": 0.5, "s2": -1.0, "s4": 0.5, "s7": 2.0}

Value = Callable[[list[Stored]], float | None]
VALUES: dict[str, Value] = {
    "started_at": lambda events: events[0].ts,
    "duration": lambda events: events[-1].ts - events[0].ts,
    "event_count": len,
    "error_count": lambda events: sum(item.is_error for item in events),
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
    events = store_events(clickhouse, org_id, lines)
    store_events(clickhouse, org_id, lines[:20])
    older = [evaluation(org_id, name, to_us(DAY), scores={"task: success": 9}) for name in SCORES]
    newer = [
        evaluation(org_id, name, to_us(DAY) + 1, scores={"task: success": score, "other": 1.0})
        for name, score in SCORES.items()
    ]
    store.insert(clickhouse, [*newer, *older])
    return list(by_session(events).values())


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
    def place(events: list[Stored]) -> tuple[bool, float, int, str]:
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


def test_a_session_counts_with_its_events_before_the_range(
    clickhouse: ClickHouse, org_id: str
) -> None:
    lines = [event("long", "08:00:00"), event("long", "10:00:00"), event("short", "10:00:00")]
    store_events(clickhouse, org_id, [*lines, event("gone", "08:00:00")])
    late = SessionFilters(ts_from=DAY + timedelta(hours=9), ts_to=DAY + timedelta(hours=11))
    for sort in ("event_count", "duration"):
        assert listed(clickhouse, org_id, late, 9, sort=sort) == ["long", "short"]


def test_a_cursor_belongs_to_its_sort(
    clickhouse: ClickHouse, org_id: str, stored: list[list[Stored]]
) -> None:
    assert stored
    sorts = ("last_event_at", "tokens", "duration")
    cursors = {
        sort: page(clickhouse, org_id, AROUND, limit=1, cursor=None, sort=sort).next_cursor
        for sort in sorts
    }
    for sort in sorts:
        for other in {*sorts} - {sort}:
            with pytest.raises(Invalid) as refused:
                page(clickhouse, org_id, AROUND, limit=1, cursor=cursors[other], sort=sort)
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

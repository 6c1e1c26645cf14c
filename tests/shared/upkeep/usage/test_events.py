"""Events of billing windows, compared with a slow count of the same events."""

import random
from datetime import UTC, datetime, timedelta

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import POSITION_BITS
from shared.foundation.core.clock import from_us, to_us
from shared.intake.ingest import store
from shared.intake.ingest.batch import MAX_FUTURE, Batch
from shared.intake.ingest.rows import columns_of
from shared.intake.ingest.rules import IngestRules
from shared.upkeep.usage.billing_windows import LENGTH, BillingWindow
from shared.upkeep.usage.events import EventTotals, event_totals, events_by_window

# Anchors have microseconds, arrivals have milliseconds.
ANCHOR = datetime(2026, 1, 31, 12, 30, 0, 123_456, tzinfo=UTC)
MS = timedelta(milliseconds=1)


def window(place: int) -> BillingWindow:
    return BillingWindow(ANCHOR + place * LENGTH, ANCHOR + (place + 1) * LENGTH)


def arrival(moment: datetime, position: int = 0) -> int:
    return (to_us(moment) // 1000 << POSITION_BITS) + position


def insert(clickhouse: ClickHouse, org_id: str, rows: list[tuple[int, datetime, int, str]]) -> None:
    """Stores (id, ts, arrival, session) in one block.

    The agent and environment are the session's first and last letter.
    """
    ids, moments, arrivals, sessions = (list(column) for column in zip(*rows, strict=True))
    batch = Batch(
        ids=ids,
        ts=[to_us(moment) for moment in moments],
        arrivals=arrivals,
        session_ids=sessions,
        agent_ids=[session[0] for session in sessions],
        event_types=["note"] * len(rows),
        environments=[session[-1] for session in sessions],
        payloads=[b"{}"] * len(rows),
    )
    store.insert(clickhouse, columns_of(org_id, batch, IngestRules(lambda _model: None)))


def test_nothing_is_counted_where_nothing_arrived(clickhouse: ClickHouse, org_id: str) -> None:
    assert event_totals(clickhouse, org_id, window(0)) == (0, 0, 0, 0)
    assert events_by_window(clickhouse, org_id, window(0)) == {}


def test_the_arrival_counts_and_not_the_time(clickhouse: ClickHouse, org_id: str) -> None:
    first, second = window(0), window(1)
    oldest = datetime(2000, 1, 1, tzinfo=UTC)
    insert(clickhouse, org_id, [(1, oldest, arrival(first.start), "old")])
    insert(clickhouse, org_id, [(2, first.end + MAX_FUTURE - MS, arrival(first.end - MS), "new")])
    insert(clickhouse, org_id, [(3, oldest, arrival(second.start), "old")])
    assert event_totals(clickhouse, org_id, first) == EventTotals(2, 2, 2, 2)
    assert event_totals(clickhouse, org_id, second) == EventTotals(1, 1, 1, 1)
    assert event_totals(clickhouse, org_id, window(2)) == EventTotals()
    both = BillingWindow(first.start, second.end)
    assert events_by_window(clickhouse, org_id, both) == {0: 2, 1: 1}


def test_a_copy_counts_where_the_first_one_arrived(clickhouse: ClickHouse, org_id: str) -> None:
    moment = ANCHOR + timedelta(days=1)
    for arrived in (moment + LENGTH, moment, moment + 2 * LENGTH, moment + MS):
        insert(clickhouse, org_id, [(1, moment, arrival(arrived), "s")])
    assert [event_totals(clickhouse, org_id, window(place)).events for place in range(3)] == [
        1,
        0,
        0,
    ]
    assert events_by_window(clickhouse, org_id, BillingWindow(ANCHOR, ANCHOR + 3 * LENGTH)) == {
        0: 1
    }


def test_counts_are_exact_and_the_organizations_own(clickhouse: ClickHouse, org_id: str) -> None:
    chance = random.Random(1)
    first: dict[tuple[datetime, str, int], int] = {}
    for block in range(12):
        rows = []
        for position in range(200):
            arrived = ANCHOR + chance.random() * 4 * LENGTH
            ahead = chance.choice([timedelta(0), MAX_FUTURE - MS, -timedelta(days=400)])
            moment = from_us(to_us(arrived + chance.random() * ahead) // 10**9 * 10**9)
            session = f"{chance.choice('ab')}{chance.randrange(40)}{chance.choice('xyz')}"
            row = (chance.randrange(4), moment, arrival(arrived, position), session)
            rows += [row, (*row[:2], arrival(arrived + timedelta(days=35)), session)]
        insert(clickhouse, org_id, rows)
        insert(clickhouse, f"{org_id}-other-{block}", rows)
        for event_id, moment, arrived_at, session in rows:
            key = (moment, session, event_id)
            first[key] = min(first.get(key, arrived_at), arrived_at)
    expected = []
    for place in range(4):
        since, until = arrival(window(place).start), arrival(window(place).end)
        keys = [key for key, arrived_at in first.items() if since <= arrived_at < until]
        sessions = {session for _, session, _ in keys}
        agents, environments = {one[0] for one in sessions}, {one[-1] for one in sessions}
        expected.append(EventTotals(len(keys), len(sessions), len(agents), len(environments)))
    found = [event_totals(clickhouse, org_id, window(place)) for place in range(4)]
    assert found == expected
    span = BillingWindow(window(0).start, window(3).end)
    by_window = events_by_window(clickhouse, org_id, span)
    assert by_window == {place: totals.events for place, totals in enumerate(expected)}

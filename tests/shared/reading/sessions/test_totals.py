"""Totals of sessions that are many days apart."""

import random

import pytest

from shared.foundation.clickhouse import ClickHouse, slices
from shared.reading.sessions.listing import page
from shared.reading.sessions.selection import SessionFilters
from shared.reading.sessions.totals import totals_of
from shared.upkeep.rewriting.writing import write
from tests.shared.reading.sessions.expected import sessions_of
from tests.support.events import event, store_events

# At both edges of an hour.
TIMES = ("09:59:59.999999", "10:00:00", "10:59:59.999999")


def lines_of(session_id: str, *days: int) -> list[bytes]:
    return [
        event(
            session_id, at, "model_response", agent_id=agent, input_tokens=day, tags=[agent]
        ).replace(b"2026-11-02", f"2026-11-{day:02d}".encode())
        for day in days
        for at, agent in zip(TIMES, ("main", "main", "sub"), strict=True)
    ]


def test_they_are_exact(
    clickhouse: ClickHouse, org_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With copies, with events that were written again, and with sessions in between."""
    lines = [one for day in range(1, 25, 3) for one in lines_of(f"s{day:02d}", day)]
    lines += lines_of("long", 2, 5, 23)
    stored = store_events(clickhouse, org_id, lines)
    random.Random(3).shuffle(lines)
    stored += store_events(clickhouse, org_id, lines)
    rows = page(clickhouse, org_id, SessionFilters(), limit=50, cursor=None).rows
    assert rows == sessions_of(stored)

    some = [one for one in stored if one.session_id in ("s07", "long")]
    keys = sorted({(one.ts, one.session_id, one.event_id) for one in some})
    write(clickhouse, org_id, keys, {"input_tokens": [1000] * len(keys)})
    facts = [row.facts for row in rows if row.facts.session_id != "s10"]
    found = totals_of(clickhouse, org_id, facts)
    assert found["long"].input_tokens == 9000
    assert found["s07"].input_tokens == 3000
    monkeypatch.setattr(slices, "_MOST_HOURS", 0)
    assert totals_of(clickhouse, org_id, facts) == found

"""The counts behind the facets, which every part of `events` keeps."""

from collections.abc import Callable, Sequence

import pytest

from shared.foundation.clickhouse import ClickHouse, Row
from shared.reading.events.facets import FACETS, Facet, _read
from tests.support.processes import wait_until

ORG = "11111111-0000-4000-8000-000000000000"
COUNTED = [facet for facet in FACETS.values() if facet.days is None]
_SECOND_US = 1_000_000
# Of all events here; other tests have events in the same table.
_MONTH = "197001"

Read = Callable[[Facet], list[str]]


def _store(clickhouse: ClickHouse, name: str, uses: int) -> None:
    """Stores one batch of events that have `name` in every listed column."""
    times = list(range(_SECOND_US, (uses + 1) * _SECOND_US, _SECOND_US))
    columns: dict[str, Sequence[object]] = {facet.column: [name] * uses for facet in COUNTED}
    columns |= {"org_id": [ORG] * uses, "session_id": [name] * uses}
    columns |= {"id": times, "arrival": times, "ts": times}
    clickhouse.insert("events", columns)


def _merge(clickhouse: ClickHouse) -> None:
    """Merges all parts into one, after the merges that the server has begun by itself."""

    def is_one() -> bool:
        clickhouse.execute(f"OPTIMIZE TABLE events PARTITION ID '{_MONTH}' FINAL")
        [[parts]] = clickhouse.columns(
            "SELECT count() FROM system.parts WHERE database = currentDatabase()"
            f" AND table = 'events' AND partition_id = '{_MONTH}' AND active"
        )
        return int(parts) == 1

    wait_until(is_one)


@pytest.fixture
def read(clickhouse: ClickHouse, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Reads a facet, and fails unless the counts of the parts are used."""
    rows = clickhouse.rows

    def forced(sql: str, params: dict[str, object], settings: dict[str, object]) -> list[Row]:
        return rows(sql, params, settings={**settings, "force_optimize_projection": 1})

    monkeypatch.setattr(clickhouse, "rows", forced)
    return lambda facet: _read(clickhouse, ORG, facet)


@pytest.mark.parametrize("facet", COUNTED, ids=lambda facet: facet.column)
def test_a_facet_follows_copies_deletions_and_merges(
    clickhouse: ClickHouse, read: Read, facet: Facet
) -> None:
    for name, uses in (("a", 2), ("b", 3), ("c", 1)):
        _store(clickhouse, name, uses)
    # If a merge counted copies, `c` would become the most used.
    for _ in range(5):
        _store(clickhouse, "c", 1)
    _merge(clickhouse)
    assert read(facet) == (["a", "b", "c"] if facet.by_name else ["b", "a", "c"])
    clickhouse.execute("DELETE FROM events WHERE session_id = 'a'")
    assert read(facet) == ["b", "c"]
    _merge(clickhouse)
    assert read(facet) == ["b", "c"]

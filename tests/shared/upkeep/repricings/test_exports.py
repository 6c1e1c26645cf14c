"""A repricing has the files of scheduled exports written again with the new costs."""

import io
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from shared.reading.exports.columns import Row
from shared.reading.exports.schedules import writing
from shared.reading.exports.schedules.running import Exports
from tests.shared.upkeep.repricings.conftest import Desk
from tests.support.exports import Site
from tests.support.stored_calls import call, store_calls

EVENTS = "events/hourly/date=2026-11-02/2026-11-02T10.parquet"
LATER = EVENTS.replace("T10", "T11")
SESSIONS = LATER.replace("events", "sessions")


@pytest.fixture
def site(desk: Desk, tmp_path: Path) -> Site:
    """Files of two calls at ten, and one an hour later that ends their session."""
    made = Site(desk.runtime, desk.org, str(tmp_path / "exports"))
    store_calls(desk.runtime, desk.org, [call(second=n) for n in (0, 1, 3600)])
    made.set(exports__format="parquet")
    made.begin()
    made.look()
    return made


def _costs(site: Site, name: str) -> list[float]:
    table = parquet.read_table(io.BytesIO(site.content(name)))
    return [float(cost) for cost in table.column("cost_usd").to_pylist()]


def _write_due(site: Site) -> None:
    """Writes what is due by itself, as the next worker does."""
    Exports(site.runtime, threading.Event(), org_id=site.org.uuid).run()


def test_files_get_the_new_costs(desk: Desk, site: Site) -> None:
    assert (_costs(site, EVENTS), _costs(site, SESSIONS)) == ([1, 1], [3])
    desk.set_price(5)
    desk.run(dry_run=True)
    _write_due(site)
    assert set(site.writes().values()) == {1}
    # Only the calls at ten change. Their session is in the file of its last event.
    start = desk.read(desk.request(dry_run=True)).starts_at
    desk.work()
    desk.run(start=start, stop=start.replace(hour=11))
    _write_due(site)
    names = (EVENTS, LATER, SESSIONS)
    assert [_costs(site, name) for name in names] == [[5, 5], [1], [11]]
    assert site.writes() == {EVENTS: 2, LATER: 1, SESSIONS: 2}


def test_a_file_that_is_written_meanwhile_is_written_again(
    desk: Desk, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have the costs of before, and no fingerprint of sessions tells."""
    pages = writing._pages

    def repriced(*of: Any) -> Iterator[Sequence[Row]]:
        yield from pages(*of)
        if "sessions" in of:
            monkeypatch.setattr(writing, "_pages", pages)
            desk.run()

    desk.set_price(3)
    desk.run()
    monkeypatch.setattr(writing, "_pages", repriced)
    desk.set_price(5)
    _write_due(site)
    assert _costs(site, SESSIONS) == [15]

"""A backfill gives older events the dimensions that their payloads have, and filters find them."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from shared.foundation.core.errors import Conflict, Invalid
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import single_flight
from shared.intake.ingest import backlog
from shared.reading.dimensions.completeness import complete_since
from shared.reading.dimensions.effective import of_sessions
from shared.reading.events.filters import EventFilters
from shared.reading.events.page import read_page
from shared.reading.sessions.listing import page
from shared.reading.sessions.selection import SessionFilters
from shared.upkeep.dimensions.backfill import BackfillResult, backfill
from shared.upkeep.rewriting import rounds, writing
from tests.support.runtime import Org
from tests.support.stored_calls import START_US, call, store_as_before

DAY = datetime.fromtimestamp(START_US / 1_000_000, UTC).replace(hour=0)
LATER = DAY.replace(year=DAY.year + 1)
OLD: Sequence[dict[str, Any]] = (
    call("s1", 0, user_id="ann", tags=["b", "a"], metadata={"plan": "pro", "seats": 3}),
    call("s1", 1),
    call("s2", 2, release="1.4", tags="nightly"),
    call("s3", 3),
    call("s4", 4, user_id="bob"),
)


@pytest.fixture(autouse=True)
def _small_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAX_ROWS", "_FEWEST_ROWS", "_FIRST_ROWS"):
        monkeypatch.setattr(rounds, name, 2)
    # Other tests leave events that no worker stores.
    monkeypatch.setattr(backlog, "lag_secs", lambda _redis: 0.0)


@pytest.fixture
def old(runtime: Runtime, org: Org) -> Org:
    """An organization from before there were dimensions, with events of that time."""
    with runtime.postgres.transaction() as session:
        session.execute(
            text("UPDATE organizations SET created_at = '2020-01-01Z' WHERE id = :id"),
            {"id": org.uuid},
        )
    store_as_before(runtime, org, OLD)
    return org


def run(
    runtime: Runtime, org: Org, since: datetime | None = None, until: datetime | None = LATER
) -> BackfillResult:
    return backfill(runtime, org.uuid, since, until)


def stored(runtime: Runtime, org: Org) -> list[Any]:
    """Returns the dimensions of each event in order."""
    return runtime.clickhouse.rows(
        "SELECT user_id, CAST(agent_version, 'Nullable(String)'), tags, attributes"
        " FROM events FINAL WHERE org_id = {org_id:String} ORDER BY ts",
        {"org_id": org.id},
    )


FILLED = [
    ("ann", None, ["a", "b"], {"plan": "pro", "seats": "3"}),
    (None, None, [], {}),
    (None, "1.4", ["nightly"], {}),
    (None, None, [], {}),
    ("bob", None, [], {}),
]


def seconds(runtime: Runtime, org: Org, **given: Any) -> list[int]:
    found = read_page(
        runtime.clickhouse,
        org.id,
        ("payload",),
        EventFilters(**given),
        ascending=True,
        cursor=None,
        limit=100,
    )
    return [json.loads(payload)["second"] for (payload,) in found.rows]


def test_what_payloads_have_is_filled_and_found(runtime: Runtime, old: Org) -> None:
    assert seconds(runtime, old, user_id=["ann"]) == []
    done = run(runtime, old)
    assert (done.events, done.filled) == (5, 3)
    assert stored(runtime, old) == FILLED
    # The second event has the user of its session.
    assert seconds(runtime, old, user_id=["ann"]) == [0, 1]
    assert seconds(runtime, old, tag=["nightly"]) == [2]
    found = page(runtime.clickhouse, old.id, SessionFilters(user_id=["bob"]), limit=10, cursor=None)
    assert [one.facts.session_id for one in found.rows] == ["s4"]
    assert of_sessions(runtime.clickhouse, old.id, ["s2"])["s2"].agent_version == "1.4"
    assert run(runtime, old).filled == 0


def test_what_an_event_has_stays(runtime: Runtime, old: Org) -> None:
    first = runtime.clickhouse.rows(
        "SELECT toUnixTimestamp64Micro(ts), session_id, id FROM events"
        " WHERE org_id = {org_id:String} ORDER BY ts LIMIT 1",
        {"org_id": old.id},
    )
    values: dict[str, Sequence[object]] = {"user_id": ["zoe"], "attributes": [{"plan": "free"}]}
    writing.write(runtime.clickhouse, old.id, first, values)
    run(runtime, old)
    assert stored(runtime, old)[0] == (
        *("zoe", None, ["a", "b"]),
        {"plan": "free", "seats": "3"},
    )


def test_a_killed_one_goes_on(runtime: Runtime, old: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = writing.write, 0

    def killed(*args: Any, **named: Any) -> None:
        nonlocal calls
        calls += 1
        real(*args, **named)
        if calls == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(writing, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        run(runtime, old)
    done = run(runtime, old)
    # What was written and not committed needs no further copy.
    assert (done.events, done.filled, calls) == (5, 2, 3)
    assert stored(runtime, old) == FILLED


def test_filters_find_everything_from_the_filled_time_on(runtime: Runtime, old: Org) -> None:
    def since() -> datetime | None:
        return complete_since(runtime.postgres, runtime.clickhouse, old.uuid)

    added = since()
    assert added is not None
    assert added > DAY
    # It does not reach the time from which events have them.
    run(runtime, old, DAY, added - timedelta(days=1))
    assert since() == added
    assert run(runtime, old, DAY).complete_since == DAY
    assert since() == DAY
    assert run(runtime, old, until=None).complete_since is None
    assert since() is None


def test_an_organization_that_is_younger_is_complete(runtime: Runtime, org: Org) -> None:
    assert complete_since(runtime.postgres, runtime.clickhouse, org.uuid) is None


def test_one_at_a_time_and_no_empty_range(runtime: Runtime, old: Org) -> None:
    with single_flight(runtime.postgres, f"dimensions:{old.uuid}"), pytest.raises(Conflict):
        run(runtime, old)
    with pytest.raises(Invalid):
        run(runtime, old, LATER, DAY)

"""Surprising types of columns, and refusals."""

import pytest
from clickhouse_driver.errors import ServerException

from shared.foundation.clickhouse import OverMemory, is_over_own_memory
from shared.foundation.core.errors import Unavailable
from shared.foundation.deployment.runtime import Runtime
from tests.support.events import event, store_events
from tests.support.runtime import Org


def test_false_is_no_number_however_rare_true_is(runtime: Runtime, org: Org) -> None:
    """For a column that is false nearly everywhere, ClickHouse only sends the other values."""
    lines = [event("s", f"10:00:{n:02}", "error" if n == 7 else "note") for n in range(60)]
    store_events(runtime.clickhouse, org.id, lines)
    rows = runtime.clickhouse.rows(
        "SELECT is_error FROM events WHERE org_id = {org_id:String} ORDER BY ts", {"org_id": org.id}
    )
    assert [type(value) for (value,) in rows] == [bool] * 60
    assert [value for (value,) in rows] == [n == 7 for n in range(60)]


def test_a_statement_over_its_own_memory_is_told_from_a_busy_server(runtime: Runtime) -> None:
    greedy = "SELECT length(groupArray(toString(number))) FROM numbers(1000000)"
    with pytest.raises(OverMemory) as refusal:
        runtime.clickhouse.rows(greedy, settings={"max_memory_usage": 10_000_000})
    assert (refusal.value.status, refusal.value.code) == (503, "clickhouse_unavailable")
    assert runtime.clickhouse.rows("SELECT 1") == [(1,)]


@pytest.mark.parametrize(
    ("said", "is_its_own"),
    [
        ("DB::Exception: Query memory limit exceeded: would use 2.00 GiB", True),
        ("DB::Exception: User memory limit exceeded: 'Query memory limit exceeded'", False),
        ("DB::Exception: (total) memory limit exceeded: would use 2.00 GiB", False),
    ],
)
def test_the_beginning_of_the_message_names_the_limit(said: str, is_its_own: bool) -> None:
    assert is_over_own_memory(ServerException(said, 241)) is is_its_own
    assert not is_over_own_memory(ServerException(said, 60))


def test_an_insert_over_its_memory_waits_like_one_that_the_server_has_no_room_for(
    runtime: Runtime, org: Org
) -> None:
    columns = {"org_id": [org.id] * 100, "session_id": ["s" * 100_000] * 100}
    with pytest.raises(Unavailable):
        runtime.clickhouse.insert("events", columns, settings={"max_memory_usage": 1_000_000})

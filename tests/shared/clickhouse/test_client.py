"""What clickhouse-driver makes of columns, where that is not what one would think."""

from shared.runtime import Runtime
from tests.support.events import event, store_events
from tests.support.runtime import Org


def test_false_is_no_number_however_rare_true_is(runtime: Runtime, org: Org) -> None:
    """Of a column that is false nearly everywhere, ClickHouse only sends the rest."""
    lines = [event("s", f"10:00:{n:02}", "error" if n == 7 else "note") for n in range(60)]
    store_events(runtime.clickhouse, org.id, lines)
    rows = runtime.clickhouse.rows(
        "SELECT is_error FROM events WHERE org_id = {org_id:String} ORDER BY ts", {"org_id": org.id}
    )
    assert [type(value) for (value,) in rows] == [bool] * 60
    assert [value for (value,) in rows] == [n == 7 for n in range(60)]

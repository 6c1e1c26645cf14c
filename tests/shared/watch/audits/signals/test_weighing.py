"""The certainty of a share, in Python and in the database."""

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.watch.audits.signals.weighing import at_least, at_least_sql


def test_the_database_has_the_same_bound(clickhouse: ClickHouse) -> None:
    cases = [(0, 1), (1, 2), (3, 17), (3, 18), (50, 100), (100, 100), (1, 10**10), (10**10, 10**10)]
    statement = (
        f"SELECT {at_least_sql('one.1', 'one.2')}"
        " FROM (SELECT arrayJoin({cases:Array(Tuple(UInt64, UInt64))}) AS one)"
    )
    found = clickhouse.rows(statement, {"cases": cases})
    assert [bound for (bound,) in found] == [
        pytest.approx(at_least(hits, total), abs=1e-12) for hits, total in cases
    ]

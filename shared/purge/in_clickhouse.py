"""An organization in ClickHouse: the rows of every table that has a column `org_id`.

They are removed by a mutation (`ALTER TABLE … DELETE`): it takes the rows off the disk for every
engine of the MergeTree family, where a lightweight `DELETE` would only hide them until a merge that
may never come. Parts without such rows stay as they are, and inserts go on meanwhile.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator

from shared.clickhouse import ClickHouse
from shared.errors import Unavailable

# Engines that keep several rows of one key until they are merged, and read them as one with FINAL.
_MERGES_ROWS = re.compile(r"(Replacing|Aggregating|Summing|Collapsing|Coalescing)MergeTree$")
_POLL_SECS = 0.1

_TABLES = """
SELECT table.name, table.engine
FROM system.columns AS column
JOIN system.tables AS table ON table.database = column.database AND table.name = column.table
WHERE column.database = currentDatabase() AND column.name = 'org_id'
    AND endsWith(table.engine, 'MergeTree')
ORDER BY table.name
"""

# A server that waits for mutations by itself would let the connection time out.
_DELETE = "ALTER TABLE {table} DELETE WHERE org_id = {{org_id:String}} SETTINGS mutations_sync = 0"

_RUNNING = """
SELECT sum(parts_to_do), anyLast(latest_fail_reason) FROM system.mutations
WHERE database = currentDatabase() AND table = {table:String}
    AND NOT is_done AND NOT is_killed AND position(command, {org_id:String}) > 0
HAVING count() > 0
"""


def remove(clickhouse: ClickHouse, org_id: str, tell: Callable[[str], None]) -> Counter[str]:
    """Removes rows until there are none; returns how many by table, several of one key as one.

    Raises `Unavailable` when ClickHouse is away or cannot do it now.
    """
    removed: Counter[str] = Counter()
    for table, engine in _tables(clickhouse):
        removed[table] = 0
        while _count(clickhouse, table, org_id):
            final = " FINAL" if _MERGES_ROWS.search(engine) else ""
            removed[table] += _count(clickhouse, table + final, org_id)
            tell(f"ClickHouse: {table}")
            clickhouse.execute(_DELETE.format(table=table), {"org_id": org_id})
            for parts in _progress(clickhouse, table, org_id):
                tell(f"ClickHouse: {table}, parts to go: {parts}")
    return removed


def _tables(clickhouse: ClickHouse) -> list[tuple[str, str]]:
    return [(str(name), str(engine)) for name, engine in clickhouse.rows(_TABLES)]


def _count(clickhouse: ClickHouse, table: str, org_id: str) -> int:
    sql = f"SELECT count() FROM {table} WHERE org_id = {{org_id:String}}"
    return int(clickhouse.rows(sql, {"org_id": org_id})[0][0])


def _progress(clickhouse: ClickHouse, table: str, org_id: str) -> Iterator[int]:
    """How many parts are left, whenever that has changed, until the mutation is done."""
    params = {"table": table, "org_id": org_id}
    before = 0
    while rows := clickhouse.rows(_RUNNING, params):
        [(parts, failure)] = rows
        if failure:
            # It goes on trying by itself; whoever runs the purge again waits for it.
            reason = failure.partition("Stack trace")[0].strip()
            raise Unavailable(f"ClickHouse cannot remove rows of {table} now: {reason}")
        if parts != before:
            yield int(parts)
        before = parts
        time.sleep(_POLL_SECS)

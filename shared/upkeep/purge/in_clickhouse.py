"""An organization in ClickHouse: the rows of every table that has a column `org_id`.

They are removed by a mutation (`ALTER TABLE … DELETE`): it takes the rows off the disk for every
engine of the MergeTree family, where a lightweight `DELETE` would only hide them until a merge that
may never come. What retention has hidden (`shared.upkeep.retention`) goes as well. Parts without
such rows stay as they are, and inserts go on meanwhile.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator

from shared.clickhouse import ClickHouse
from shared.clickhouse.ddl import Ddl
from shared.clickhouse.mutations import unfinished
from shared.core.errors import Unavailable

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
_DELETE = (
    "ALTER TABLE {{table:{table}}} DELETE WHERE org_id = {{org_id:String}}"
    " SETTINGS mutations_sync = 0"
)
_DELETE_HIDDEN = "ALTER TABLE {{table:{table}}} APPLY DELETED MASK SETTINGS mutations_sync = 0"
_HIDDEN_TOO = {"apply_deleted_mask": 0}


def remove(clickhouse: ClickHouse, org_id: str, tell: Callable[[str], None]) -> Counter[str]:
    """Removes rows until there are none; returns how many by table, several of one key as one.

    Raises `Unavailable` when ClickHouse is away or cannot do it now.
    """
    removed: Counter[str] = Counter()
    for table, engine in _tables(clickhouse):
        removed[table] = 0
        while _count(clickhouse, table, org_id, **_HIDDEN_TOO):
            final = " FINAL" if _MERGES_ROWS.search(engine) else ""
            seen = _count(clickhouse, table + final, org_id)
            removed[table] += seen
            tell(f"ClickHouse: {table}")
            delete = _DELETE if seen else _DELETE_HIDDEN
            Ddl(clickhouse).run(delete.format(table=table), {"org_id": org_id})
            for parts in _progress(clickhouse, table, org_id if seen else ""):
                tell(f"ClickHouse: {table}, parts to go: {parts}")
    return removed


def _tables(clickhouse: ClickHouse) -> list[tuple[str, str]]:
    layout = clickhouse.layout
    rows = clickhouse.rows(_TABLES)
    return [(layout.public(str(name)), str(engine)) for name, engine in rows]


def _count(clickhouse: ClickHouse, table: str, org_id: str, **settings: object) -> int:
    sql = f"SELECT count() FROM {table} WHERE org_id = {{org_id:String}}"
    return int(clickhouse.rows(sql, {"org_id": org_id}, settings=settings)[0][0])


def _progress(clickhouse: ClickHouse, table: str, mentions: str) -> Iterator[int]:
    """How many parts are left, whenever that has changed, until the mutations are done."""
    before = 0
    while running := [one for one in unfinished(clickhouse, mentions) if one.table == table]:
        for mutation in running:
            if mutation.failure:
                # It goes on trying by itself; whoever runs the purge again waits for it.
                raise Unavailable(
                    f"ClickHouse cannot remove rows of {table} now: {mutation.failure}"
                )
        parts = sum(mutation.parts for mutation in running)
        if parts != before:
            yield parts
        before = parts
        time.sleep(_POLL_SECS)

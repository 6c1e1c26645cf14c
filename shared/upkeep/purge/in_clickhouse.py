"""The purge of an organization in ClickHouse: the rows of all tables with a column `org_id`.

A mutation (`ALTER TABLE … DELETE`) removes them. It takes the rows off the disk for every engine of
the MergeTree family, while a lightweight `DELETE` would only hide them until a merge that may never
come. It also removes rows that retention has hidden (`shared.upkeep.retention`). Parts without such
rows stay unchanged, and inserts continue meanwhile.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.mutations import unfinished
from shared.foundation.core.errors import Unavailable

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

# The connection would time out on a server that waits for mutations by default.
_DELETE = (
    "ALTER TABLE {{table:{table}}} DELETE WHERE org_id = {{org_id:String}}"
    " SETTINGS mutations_sync = 0"
)
_DELETE_HIDDEN = "ALTER TABLE {{table:{table}}} APPLY DELETED MASK SETTINGS mutations_sync = 0"
# Hidden rows are in the parts only, not in their projections.
_HIDDEN_TOO = {"apply_deleted_mask": 0, "optimize_use_projections": 0}


def remove(clickhouse: ClickHouse, org_id: str, tell: Callable[[str], None]) -> Counter[str]:
    """Removes rows until none are left; counts them by table, several of one key as one.

    A row that a late batch stores again is removed, and counted, again.

    Raises `Unavailable` if ClickHouse is down or cannot do it now.
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
    """Yields the number of parts left, each time it changes, until the mutations are done."""
    before = 0
    while running := [one for one in unfinished(clickhouse, mentions) if one.table == table]:
        for mutation in running:
            if mutation.failure:
                # ClickHouse keeps trying by itself; the next run of the purge waits for it.
                raise Unavailable(
                    f"ClickHouse cannot remove rows of {table} now: {mutation.failure}"
                )
        parts = sum(mutation.parts for mutation in running)
        if parts != before:
            yield parts
        before = parts
        time.sleep(_POLL_SECS)

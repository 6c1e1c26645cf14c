"""Deletions in ClickHouse: finds, counts and hides rows, and takes them off the disk.

Statements name sessions by hashes. ClickHouse keeps the text of a mutation, and its log that of a
query, so neither may contain what was deleted.
"""

import threading
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.kept import KEPT
from shared.foundation.clickhouse.mutations import unfinished
from shared.foundation.core.clock import to_us
from shared.foundation.core.errors import Unavailable
from shared.reading.sessions.deleted import Hashing
from shared.upkeep.deletions.target import naming_sql

# Every table with a column `session_id`.
TABLES = tuple(kept.table for kept in KEPT)
# No person waits for these statements.
_QUIET = {"max_threads": 1, "priority": 10}
# Hidden rows are in the parts only, not in their projections.
_HIDDEN_TOO = {"apply_deleted_mask": 0, "optimize_use_projections": 0}
_POLL_SECS = 0.1
# Sessions of a proof: its text stays below the limit of people's SQL.
SESSIONS_A_PROOF = 180
# Sessions of any other statement, in a third of what ClickHouse reads as one.
_SESSIONS = 2500

_WITH_HIDDEN_ROWS = """
SELECT DISTINCT table, partition_id FROM {parts}
WHERE database = {{database:String}} AND active AND has_lightweight_delete
    AND table IN {{tables:Array(String)}}
ORDER BY table, partition_id
"""
# Parts that a rewrite replaced are files until the server removes them, minutes later.
_REPLACED = """
SELECT count() FROM {parts}
WHERE database = {{database:String}} AND NOT active AND table IN {{tables:Array(String)}}
    AND toUnixTimestamp(remove_time) <= {{moment:Int64}}
"""


def sessions_naming(
    clickhouse: ClickHouse, hashing: Hashing, field: str | None, value_hash: str, most: int
) -> list[str]:
    """Returns up to `most` sessions with an event that names the person; no field: its user."""
    rows = clickhouse.rows(
        f"SELECT DISTINCT {_naming(hashing, field, value_hash)} ORDER BY session_id LIMIT {most:d}",
        {"org_id": hashing.org_id},
        settings=_QUIET,
    )
    return [str(session_id) for (session_id,) in rows]


def count_naming(
    clickhouse: ClickHouse, table: str, hashing: Hashing, field: str | None, value_hash: str
) -> int:
    """Counts the rows of a table of all sessions with an event that names the person."""
    sql = (
        f"SELECT count() FROM {table} FINAL WHERE org_id = {{org_id:String}}"
        f" AND session_id IN (SELECT {_naming(hashing, field, value_hash)})"
    )
    return int(clickhouse.rows(sql, {"org_id": hashing.org_id}, settings=_QUIET)[0][0])


def _naming(hashing: Hashing, field: str | None, value_hash: str) -> str:
    condition = naming_sql(hashing, field, value_hash)
    return f"session_id FROM events WHERE org_id = {{org_id:String}} AND {condition}"


def of_sessions(hashing: Hashing, hashes: Collection[str]) -> str:
    """Returns the SQL condition for the rows of the sessions with these hashes."""
    listed = ", ".join(f"'{one}'" for one in hashes)
    return f"{hashing.sql('session_id')} IN ({listed})"


def hashes_of(hashing: Hashing, session_ids: Collection[str]) -> list[str]:
    """Returns the hashes of sessions as SQL compares them."""
    return [hashing.of(one).hex() for one in session_ids]


def count(
    clickhouse: ClickHouse,
    table: str,
    hashing: Hashing,
    hashes: Sequence[str],
    *,
    hidden: bool = False,
) -> int:
    """Counts rows of a table, several of one key as one, or with those that are only hidden."""
    source = table if hidden else f"{table} FINAL"
    settings = {**_QUIET, **(_HIDDEN_TOO if hidden else {})}
    total = 0
    for piece in pieces(hashes):
        sql = (
            f"SELECT count() FROM {source} WHERE org_id = {{org_id:String}}"
            f" AND {of_sessions(hashing, piece)}"
        )
        params = {"org_id": hashing.org_id}
        total += int(clickhouse.rows(sql, params, settings=settings)[0][0])
    return total


def hide(
    clickhouse: ClickHouse,
    table: str,
    hashing: Hashing,
    hashes: Sequence[str],
    stopping: threading.Event,
) -> None:
    """Hides the rows of sessions; returns when every part has them hidden.

    Raises `Unavailable` if ClickHouse cannot do it now, or when the worker stops.
    """
    for piece in pieces(hashes):
        Ddl(clickhouse).run(
            f"DELETE FROM {{table:{table}}} WHERE org_id = '{hashing.org_id}'"
            f" AND {of_sessions(hashing, piece)} SETTINGS lightweight_deletes_sync = 0"
        )
        wait_for_mutations(clickhouse, table, stopping)


def rewrite(clickhouse: ClickHouse, stopping: threading.Event) -> None:
    """Writes the parts with hidden rows again without them; raises as `hide` does."""
    layout = clickhouse.layout
    sql = _WITH_HIDDEN_ROWS.format(parts=layout.everywhere("system.parts"))
    for table, partition in clickhouse.rows(sql, _params(clickhouse)):
        public = layout.public(table)
        Ddl(clickhouse).run(
            f"ALTER TABLE {{table:{public}}} APPLY DELETED MASK IN PARTITION ID '{partition}'"
            " SETTINGS mutations_sync = 0"
        )
        wait_for_mutations(clickhouse, public, stopping)


def is_off_the_disk(clickhouse: ClickHouse, rewritten_at: datetime) -> bool:
    """Returns whether the files of the parts that were replaced by then are removed."""
    sql = _REPLACED.format(parts=clickhouse.layout.everywhere("system.parts"))
    moment = to_us(rewritten_at) // 1_000_000 + 1
    return not clickhouse.rows(sql, {**_params(clickhouse), "moment": moment})[0][0]


def wait_for_mutations(clickhouse: ClickHouse, table: str, stopping: threading.Event) -> None:
    """Waits until no mutation of the table is left; raises as `hide` does."""
    while running := [one for one in unfinished(clickhouse) if one.table == table]:
        for mutation in running:
            if mutation.failure:
                raise Unavailable(f"ClickHouse cannot change {table} now: {mutation.failure}")
        if stopping.wait(_POLL_SECS):
            raise Unavailable("this worker stops; its mutation goes on")


def pieces(hashes: Sequence[str], size: int = _SESSIONS) -> Iterator[Sequence[str]]:
    """Yields the hashes of one statement after the other."""
    for start in range(0, len(hashes), size):
        yield hashes[start : start + size]


def _params(clickhouse: ClickHouse) -> dict[str, object]:
    layout = clickhouse.layout
    return {"database": layout.database, "tables": [layout.kept_in(table) for table in TABLES]}

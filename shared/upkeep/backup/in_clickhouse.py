"""Rows of ClickHouse: read by plain SELECTs a month at a time, and inserted again.

No disk for backups and no access to the server's files is needed, and a server of another version
or layout can take the rows. Every row is read as `FINAL` shows it, so a file has no copies.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.kept import KEPT, AgingTable
from shared.foundation.objects import Objects
from shared.upkeep.backup.files import BLOCK_ROWS, BackupWriter, Row, Tell, in_blocks
from shared.upkeep.backup.manifest import BackupColumn, BackupTable
from shared.upkeep.backup.values import (
    AMOUNT,
    NULLABLE_TIME,
    PLACED_BY_NAME,
    TIME,
    TIMES_BY_NAME,
    plain_type,
    sent_type,
)

# People wait for reads and for ingest, and not for a backup.
_READ = {
    "strings_as_bytes": True,
    "max_block_size": BLOCK_ROWS,
    "max_threads": 2,
    "do_not_merge_across_partitions_select_final": 1,
    "max_execution_time": 0,
}
_INSERT = {"strings_as_bytes": True, "optimize_on_insert": 0, "async_insert": 0}
# An insert of this many rows makes one part a month.
_INSERT_ROWS = 32_768
_INSERT_BYTES = 32 * 1024 * 1024

# Tables of results, which carry the ids of their jobs.
RESULTS = frozenset({"evaluations", "own_evaluations"})

# Returns whether a row belongs into the backup.
Filter = Callable[[list[Row]], list[Row]]


def tables(clickhouse: ClickHouse) -> list[BackupTable]:
    """Describes the tables, results before events: `create` holds a snapshot until it has them."""
    names = [kept.table for kept in sorted(KEPT, key=lambda kept: kept.table == "events")]
    return [BackupTable("clickhouse", name, _columns(clickhouse, name)) for name in names]


def _columns(clickhouse: ClickHouse, table: str) -> list[BackupColumn]:
    rows = clickhouse.rows(
        "SELECT name, type FROM system.columns"
        " WHERE database = currentDatabase() AND table = {table:String}"
        " AND default_kind IN ('', 'DEFAULT') ORDER BY position",
        {"table": table},
    )
    return [BackupColumn(str(name), str(type_)) for name, type_ in rows]


def copy_out(
    clickhouse: ClickHouse,
    objects: Objects,
    table: BackupTable,
    tell: Tell,
    *,
    org_id: str | None = None,
    keep: Filter | None = None,
) -> None:
    """Writes the rows of a table, of one organization or of all; `keep` may leave rows out."""
    writer = BackupWriter(objects, table, tell)
    for block in in_blocks(_rows(clickhouse, table, org_id)):
        writer.add_rows(block if keep is None else keep(block))
    writer.finish()


def _rows(clickhouse: ClickHouse, table: BackupTable, org_id: str | None) -> Iterator[Row]:
    [kept] = [kept for kept in KEPT if kept.table == table.name]
    where = "1" if org_id is None else "org_id = {org_id:String}"
    params = {} if org_id is None else {"org_id": org_id}
    names = ", ".join(f"{_read(column)} AS {_alias(column)}" for column in table.columns)
    for month in _months(clickhouse, kept, where, params):
        during = "" if month is None else f" AND toYYYYMM({kept.moment}) = {month}"
        yield from clickhouse.stream_with(
            _READ, f"SELECT {names} FROM {table.name} FINAL WHERE {where}{during}", params
        )


def _months(
    clickhouse: ClickHouse, kept: AgingTable, where: str, params: Mapping[str, object]
) -> list[int | None]:
    """Returns the months with rows. A table without partitions is read as a whole."""
    if not kept.by_month:
        return [None]
    rows = clickhouse.rows(
        f"SELECT DISTINCT toYYYYMM({kept.moment}) AS month FROM {kept.table} WHERE {where}"
        " ORDER BY month",
        params,
    )
    return [int(month) for (month,) in rows]


def copy_in(clickhouse: ClickHouse, table: BackupTable, blocks: Iterator[list[Row]]) -> None:
    """Inserts blocks of rows, many at once."""
    statement = _insert_of(table)
    waiting: list[Row] = []
    size = 0
    for block in blocks:
        waiting += block
        size += sum(len(value) for row in block for value in row if isinstance(value, bytes))
        if len(waiting) >= _INSERT_ROWS or size >= _INSERT_BYTES:
            clickhouse.insert_rows(statement, waiting, settings=_INSERT)
            waiting, size = [], 0
    if waiting:
        clickhouse.insert_rows(statement, waiting, settings=_INSERT)


def empty(clickhouse: ClickHouse) -> None:
    """Removes all rows."""
    for kept in KEPT:
        Ddl(clickhouse).run(f"TRUNCATE TABLE {{table:{kept.table}}}")


def counted(
    clickhouse: ClickHouse, table: BackupTable, org_id: str | None = None
) -> tuple[int, int]:
    """Returns the number of rows of a table, and the sum of its column `id` if it has one."""
    has_id = table.id_sum is not None
    where = "1" if org_id is None else "org_id = {org_id:String}"
    [(rows, total)] = clickhouse.rows(
        f"SELECT count(), {'sum(id)' if has_id else '0'} FROM {table.name} FINAL WHERE {where}",
        {} if org_id is None else {"org_id": org_id},
        settings={"do_not_merge_across_partitions_select_final": 1},
    )
    return int(rows), int(total)


def _insert_of(table: BackupTable) -> str:
    names = ", ".join(column.name for column in table.columns)
    values = ", ".join(_written(column) for column in table.columns)
    structure = ", ".join(f"{_alias(column)} {sent_type(column)}" for column in table.columns)
    quoted = structure.replace("\\", "\\\\").replace("'", "\\'")
    return (
        f"INSERT INTO {table.name} ({names}) SELECT {values} FROM input('{quoted}') FORMAT Native"
    )


def _alias(column: BackupColumn) -> str:
    # Another name than the column's: a condition on the column must not mean the converted value.
    return f"{column.name}_"


def _read(column: BackupColumn) -> str:
    """Returns the expression that reads a column as a value which MessagePack has."""
    type_ = plain_type(column)
    if type_.startswith("AggregateFunction("):
        return f"hex({column.name})"
    if type_ in (TIME, NULLABLE_TIME):
        return f"toUnixTimestamp64Micro({column.name})"
    if type_ == AMOUNT:
        return f"toString({column.name})"
    if type_ == TIMES_BY_NAME:
        return f"mapApply((k, v) -> (k, toUnixTimestamp64Micro(v)), {column.name})"
    if type_ == PLACED_BY_NAME:
        # As one text: the driver cannot write tuples into an empty map.
        texts = "[toString(toUnixTimestamp64Micro(v.1)), toString(v.2), toString(v.3), v.4]"
        return f"mapApply((k, v) -> (k, arrayStringConcat({texts}, ' ')), {column.name})"
    return column.name


def _written(column: BackupColumn) -> str:
    """Returns the expression that makes the value of a column from what was sent."""
    type_, sent = plain_type(column), _alias(column)
    if type_.startswith("AggregateFunction("):
        quoted = type_.replace("'", "\\'")
        return f"CAST(unhex({sent}), '{quoted}')"
    if type_ in (TIME, NULLABLE_TIME):
        return f"fromUnixTimestamp64Micro({sent}, 'UTC')"
    if type_ == AMOUNT:
        return f"toDecimal128OrNull({sent}, 12)"
    if type_ == TIMES_BY_NAME:
        return f"mapApply((k, v) -> (k, fromUnixTimestamp64Micro(v, 'UTC')), {sent})"
    if type_ == PLACED_BY_NAME:
        parts = "splitByChar(' ', v)"
        ts = f"fromUnixTimestamp64Micro(toInt64OrZero({parts}[1]), 'UTC')"
        text = f"arrayStringConcat(arraySlice({parts}, 4), ' ')"
        numbers = f"toUInt64OrZero({parts}[2]), toUInt64OrZero({parts}[3])"
        return f"mapApply((k, v) -> (k, ({ts}, {numbers}, {text})), {sent})"
    return sent


def position(table: BackupTable, column: str) -> int:
    """Returns the place of a column's value in a row."""
    return [one.name for one in table.columns].index(column)


def value(row: Sequence[Any], at: int) -> str:
    """Returns a text of a row, which is bytes there."""
    found = row[at]
    return found.decode() if isinstance(found, bytes) else str(found)

"""The insert of events into ClickHouse."""

import struct
from collections.abc import Mapping, Sequence

from clickhouse_driver.errors import ServerException, TypeMismatchError

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import EVENT_COLUMNS, TABLE

# Codes from ClickHouse's ErrorCodes.cpp about the rows of this block.
_ABOUT_THE_ROWS = frozenset(
    {
        6,  # CANNOT_PARSE_TEXT
        27,  # CANNOT_PARSE_INPUT_ASSERTION_FAILED
        53,  # TYPE_MISMATCH
        69,  # ARGUMENT_OUT_OF_BOUND
        117,  # INCORRECT_DATA
        131,  # TOO_LARGE_STRING_SIZE
        321,  # VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
        349,  # CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
        469,  # VIOLATED_CONSTRAINT
    }
)
_SETTINGS = {
    # People wait for reads, and not for an insert. Its threads yield to those of reads, if
    # ClickHouse may change priorities (CAP_SYS_NICE) and knows the settings. Other servers ignore
    # them.
    "os_threads_nice_value_query": 5,
    "os_threads_nice_value_materialized_view": 5,
    # Reads and merges remove copies of an event anyway. A search for copies within each block took
    # a third of an insert.
    "optimize_on_insert": 0,
}
_NULLABLE = frozenset(column.name for column in EVENT_COLUMNS if column.is_nullable)
_COLLECTIONS = frozenset(
    column.name for column in EVENT_COLUMNS if column.type.startswith(("Array(", "Map("))
)


class RowsRefused(Exception):
    """ClickHouse refuses at least one row of the block, and would refuse it again."""


def insert(clickhouse: ClickHouse, columns: Mapping[str, Sequence[object]]) -> None:
    """Inserts one block of events, column by column (`shared.intake.ingest.rows.columns_of`).

    Without columns there is nothing to insert. Raises `RowsRefused` if a row is at fault and
    `Unavailable` if the server is; any other error (a missing table, a missing grant) is for an
    operator to fix and is raised unchanged.
    """
    if not columns:
        return
    given = {name: values for name, values in columns.items() if not _is_empty(name, values)}
    try:
        clickhouse.insert(TABLE, given, settings=_SETTINGS)
    except ServerException as error:
        if error.code in _ABOUT_THE_ROWS:
            raise RowsRefused(error.message.partition("Stack trace")[0].strip()) from error
        raise
    except (TypeMismatchError, TypeError, ValueError, struct.error) as error:
        # The driver could not write a value as its column's type; nothing of the block was sent.
        raise RowsRefused(f"{type(error).__name__}: {error}") from error


def _is_empty(name: str, values: Sequence[object]) -> bool:
    """Returns whether ClickHouse fills the column by itself: with nulls, empty lists or maps."""
    if name in _NULLABLE:
        return values.count(None) == len(values)
    return name in _COLLECTIONS and not any(values)

"""Writes copies of stored events whose values differ in some columns.

The server makes the copies of its own rows, so what another run changed in other columns stays, and
only the new values are sent.
"""

from collections.abc import Mapping, Sequence

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import EVENT_COLUMNS, TABLE
from shared.foundation.clickhouse.rewriting import NEXT_VERSION, merged
from shared.foundation.clickhouse.where import Where

_KEY = ("ts", "session_id", "id")
_SENT = "changed"
# People wait for reads and for ingest. One block is one part of its month.
_SETTINGS: Mapping[str, object] = {
    "os_threads_nice_value_query": 10,
    "os_threads_nice_value_materialized_view": 10,
    "max_threads": 1,
    "optimize_on_insert": 0,
    "min_insert_block_size_rows": 1_000_000,
    "max_execution_time": 120,
    "do_not_merge_across_partitions_select_final": 1,
    "use_skip_indexes_if_final_exact_mode": 0,
}
_PLAIN = ("LowCardinality(Nullable(String))", "Nullable(String)")


def write(
    clickhouse: ClickHouse,
    org_id: str,
    keys: Sequence[tuple[int, str, int]],
    values: Mapping[str, Sequence[object]],
) -> None:
    """Writes a copy of each of these events with other `values`, column by column.

    `keys` are (ts in microseconds, session, id), in one month. Events that are gone stay away. The
    caller holds the organization, and the lock `lock_of` until its transaction ends.
    """
    if not keys:
        return
    types = {column.name: column.type for column in EVENT_COLUMNS}
    names = [column.name for column in EVENT_COLUMNS]
    chosen = ", ".join(f"f.{name}" if name in values else f"e.{name}" for name in names)
    where = Where(org_id).within("ts", min(key[0] for key in keys), max(key[0] for key in keys) + 1)
    where.add(f"id IN (SELECT id FROM {_SENT})")
    statement = (
        f"INSERT INTO {TABLE} ({', '.join(names)}, version)"
        f" SELECT {chosen}, {NEXT_VERSION.replace('version', 'e.version')}"
        f" FROM (SELECT {', '.join(names)}, version FROM {TABLE} {merged(where)}) AS e"
        f" INNER JOIN {_SENT} AS f ON {' AND '.join(f'e.{name} = f.{name}' for name in _KEY)}"
    )
    clickhouse.insert_joined(
        statement,
        where.params,
        _SENT,
        [(name, _plain(types[name])) for name in (*_KEY, *values)],
        [(*key, *row) for key, row in zip(keys, zip(*values.values(), strict=True), strict=True)],
        settings=_SETTINGS,
    )


def lock_of(org_id: object) -> str:
    """Returns the name of the lock that one writer of an organization holds at a time."""
    return f"rewriting:{org_id}"


def _plain(type_: str) -> str:
    """Returns the type in which values are sent: the server gives them that of the table."""
    return type_.replace(*_PLAIN).replace("LowCardinality(String)", "String")

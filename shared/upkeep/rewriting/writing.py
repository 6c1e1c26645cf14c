"""Writes copies of stored events whose values differ in some columns.

The server makes the copies of its own rows, so what another run changed in other columns stays, and
only the new values are sent.
"""

import uuid
from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from shared.access import organizations
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import EVENT_COLUMNS, TABLE
from shared.foundation.clickhouse.rewriting import NEXT_VERSION, merged
from shared.foundation.clickhouse.where import Where
from shared.foundation.core.errors import NotFound
from shared.foundation.postgres.locks import lock_until_commit
from shared.reading.sessions import deleted

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


def write_kept(
    session: Session,
    clickhouse: ClickHouse,
    org_id: uuid.UUID,
    keys: Sequence[tuple[int, str, int]],
    names: Sequence[str],
    rows: Sequence[tuple[object, ...]],
) -> None:
    """Does what `write` does, but leaves out sessions that were deleted; `rows` have `names`.

    No deletion, purge or other writer of the organization can come between before the transaction
    ends. Raises `NotFound` if the organization was purged.
    """
    if not organizations.hold(session, [org_id]):
        raise NotFound("there is no such organization", code="org_not_found")
    org = str(org_id)
    gone = deleted.among(session, {(org, key[1]) for key in keys})
    kept = [place for place, key in enumerate(keys) if (org, key[1]) not in gone]
    if kept:
        lock_until_commit(session, f"rewriting:{org}")
        columns = zip(*(rows[place] for place in kept), strict=True)
        values = dict(zip(names, columns, strict=True))
        write(clickhouse, org, [keys[place] for place in kept], values)


def write(
    clickhouse: ClickHouse,
    org_id: str,
    keys: Sequence[tuple[int, str, int]],
    values: Mapping[str, Sequence[object]],
) -> None:
    """Writes a copy of each of these events with other `values`, column by column.

    `keys` are (ts in microseconds, session, id), in one month. Events that are gone stay away.
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


def _plain(type_: str) -> str:
    """Returns the type in which values are sent: the server gives them that of the table."""
    return type_.replace(*_PLAIN).replace("LowCardinality(String)", "String")

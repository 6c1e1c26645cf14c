"""Reads complete results within bounds.

The scores and reasoning of a result may be megabytes. A page is first read without the large ones.
These are fetched by key once it is known how many of them fit.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.settings import PAGE, SMALL_PAGE
from shared.foundation.clickhouse.where import Where, moment, us
from shared.foundation.core.clock import from_us
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.evaluations.records import (
    COLUMNS,
    MAP_COLUMNS,
    MOMENTS,
    Evaluation,
    from_row,
)
from shared.reading.evaluations.tables import BUILTIN, ResultTable

_SMALL_BYTES = 32 * 1024

# Results of one moment are ordered by their id, here as everywhere.
ORDER_KEY = "(completed_at, evaluation_id)"
NEWEST_FIRST = "completed_at DESC, evaluation_id DESC"


class ResultKey(NamedTuple):
    """The unique key of a result in its organization; time in microseconds."""

    completed_at: int
    evaluation_id: str


KEY = f"{us('completed_at')}, evaluation_id"


class WeighedResult(NamedTuple):
    """A result with the size of its scores and reasoning, which are left out if they are large."""

    record: Evaluation
    maps_weight: int

    @property
    def key(self) -> ResultKey:
        """The key of the result."""
        return ResultKey(self.record.completed_at, self.record.evaluation_id)

    @property
    def is_whole(self) -> bool:
        """Whether scores and reasoning are included."""
        return self.maps_weight <= _SMALL_BYTES

    @property
    def weight(self) -> int:
        """The approximate size of the result on a page, in bytes."""
        return self.maps_weight + len(self.record.summary or "") + len(self.record.error or "")


# A score is a key and a number, which takes up to 24 characters. Lambdas would take longer to plan
# than a page to read.
_MAPS_WEIGHT = """(
    24 * length(scores) + length(arrayStringConcat(mapKeys(scores)))
    + length(arrayStringConcat(mapKeys(reasoning)))
    + length(arrayStringConcat(mapValues(reasoning)))
    + if(empty(results), 0, byteSize(results))
)"""


def _column(name: str) -> str:
    return us(name) if name in MOMENTS else name


def _small(name: str) -> str:
    if name == "results":
        return f"if(weight <= {_SMALL_BYTES}, results, [])"
    if name not in MAP_COLUMNS:
        return _column(name)
    return f"if(weight <= {_SMALL_BYTES}, {name}, CAST(map(), toTypeName({name})))"


_WHOLE = ", ".join(map(_column, COLUMNS))
# The weight is in a subquery, because an alias is planned again wherever it is used.
_WEIGHED = f"""
SELECT {", ".join(map(_small, COLUMNS))}, weight
FROM (SELECT *, {_MAPS_WEIGHT} AS weight FROM {{table}} WHERE {{where}} {{bounds}})
"""


def newest(
    clickhouse: ClickHouse,
    org_id: str,
    wanted: EvaluationFilters,
    *,
    after: ResultKey | None,
    limit: int,
) -> list[WeighedResult]:
    """Returns the newest `limit` results after `after`, each once, regardless of sessions.

    Copies of a result are adjacent and are dropped here: the database stops reading as soon as it
    has enough rows in order, while LIMIT BY or FINAL makes it continue (22 ms instead of 349 and
    118 on 200,000 results whose parts overlap).
    """
    found: dict[ResultKey, WeighedResult] = {}
    while True:
        where = come_after(wanted.where(org_id), after)
        bounds = f"ORDER BY {NEWEST_FIRST} LIMIT {limit:d}"
        rows = _weighed(clickhouse, wanted.table, where, bounds, PAGE)
        rows.sort(key=attrgetter("key"), reverse=True)
        found.update((row.key, row) for row in rows)
        if len(found) >= limit or len(rows) < limit:
            return list(found.values())[:limit]
        after = rows[-1].key


def newest_of_each(
    clickhouse: ClickHouse, where: Where, table: ResultTable = BUILTIN, key: str = "session_id"
) -> list[WeighedResult]:
    """Returns the newest result of each session, among those that `where` admits.

    `key` are the columns of which a result is the newest.
    """
    bounds = f"ORDER BY {NEWEST_FIRST} LIMIT 1 BY {key}"
    return _weighed(clickhouse, table, where, bounds, SMALL_PAGE)


def fetch(
    clickhouse: ClickHouse,
    org_id: str,
    keys: Sequence[ResultKey],
    table: ResultTable = BUILTIN,
) -> list[WeighedResult]:
    """Returns the results of `keys` that exist, in the same order."""
    if not keys:
        return []
    found = {row.key: row for row in _weighed(clickhouse, table, _of(org_id, keys), "", PAGE)}
    return [found[key] for key in keys if key in found]


def complete(
    clickhouse: ClickHouse,
    org_id: str,
    rows: Sequence[WeighedResult],
    table: ResultTable = BUILTIN,
) -> dict[ResultKey, Evaluation]:
    """Completes the results, in their order; leaves out those that were deleted since."""
    large = [row.key for row in rows if not row.is_whole]
    whole: dict[ResultKey, Evaluation] = {}
    if large:
        where = _of(org_id, large)
        sql = f"SELECT {_WHOLE} FROM {table.sql} WHERE {where}"
        fetched = map(from_row, clickhouse.rows(sql, where.params, settings=PAGE))
        whole = {ResultKey(one.completed_at, one.evaluation_id): one for one in fetched}
    whole.update((row.key, row.record) for row in rows if row.is_whole)
    return {row.key: whole[row.key] for row in rows if row.key in whole}


def come_after(where: Where, after: ResultKey | None) -> Where:
    """Adds to `where` that a result follows another one in the order, newest first."""
    if after is None:
        return where
    # The primary key can only use the plain bound on time; the tuple is the exact condition.
    return where.add(
        f"completed_at <= {moment('after')}"
        f" AND {ORDER_KEY} < ({moment('after')}, {{after_id:String}})",
        after=after.completed_at,
        after_id=after.evaluation_id,
    )


def _of(org_id: str, keys: Sequence[ResultKey]) -> Where:
    """Returns the condition for the rows of `keys`, copies included."""
    # Times as texts, because the primary key can use a set of them.
    moments = [from_us(key.completed_at).strftime("%Y-%m-%d %H:%M:%S.%f") for key in keys]
    return (
        Where(org_id)
        .any_of("completed_at", moments, "DateTime64(6, 'UTC')")
        .any_of("evaluation_id", [key.evaluation_id for key in keys])
    )


def _weighed(
    clickhouse: ClickHouse,
    table: ResultTable,
    where: Where,
    bounds: str,
    settings: Mapping[str, object],
) -> list[WeighedResult]:
    """Returns rows of `where`, large maps left out; `bounds` are clauses after the conditions."""
    sql = _WEIGHED.format(table=table.sql, where=where, bounds=bounds)
    rows = clickhouse.rows(sql, where.params, settings=settings)
    return [WeighedResult(from_row(row[:-1]), row[-1]) for row in rows]

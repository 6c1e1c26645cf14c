"""Reads results with all that they hold, within bounds.

A result's scores and reasoning may be megabytes. A page is read without the large ones, which are
fetched by their keys once it is known how many of them fit.
"""

from collections.abc import Sequence
from typing import NamedTuple

from shared.clickhouse import ClickHouse, Row
from shared.clickhouse.settings import PAGE
from shared.clickhouse.where import Where, moment, us
from shared.core.clock import from_us
from shared.evaluations.filters import EvaluationFilter
from shared.evaluations.records import COLUMNS, MAP_COLUMNS, Evaluation, from_row

_SMALL_BYTES = 32 * 1024

# Results of one moment are told apart by their id, here as in every order of results.
ORDER_KEY = "(completed_at, evaluation_id)"
NEWEST_FIRST = "completed_at DESC, evaluation_id DESC"


class Key(NamedTuple):
    """What tells a result of an organization from all others; microseconds."""

    completed_at: int
    evaluation_id: str


KEY = f"{us('completed_at')}, evaluation_id"


class Weighed(NamedTuple):
    """A result, and the bytes of its scores and reasoning; it lacks them if these are many."""

    record: Evaluation
    maps_weight: int

    @property
    def key(self) -> Key:
        """The key of the result."""
        return Key(self.record.completed_at, self.record.evaluation_id)

    @property
    def is_whole(self) -> bool:
        """Whether scores and reasoning are there."""
        return self.maps_weight <= _SMALL_BYTES

    @property
    def weight(self) -> int:
        """About as many bytes as the result has on a page."""
        return self.maps_weight + len(self.record.summary or "") + len(self.record.error or "")


# A score is a key and a number, which takes up to 24 characters.
_MAPS_WEIGHT = """(
    arraySum(arrayMap(key -> length(key) + 24, mapKeys(scores)))
    + arraySum(arrayMap(key -> length(key), mapKeys(reasoning)))
    + arraySum(arrayMap(text -> length(text), mapValues(reasoning)))
)"""


def _column(name: str, *, whole: bool) -> str:
    if name == "completed_at":
        return us(name)
    if name in MAP_COLUMNS and not whole:
        return f"if({_MAPS_WEIGHT} <= {_SMALL_BYTES}, {name}, mapFilter((k, v) -> false, {name}))"
    return name


_WHOLE = ", ".join(_column(name, whole=True) for name in COLUMNS)
_WEIGHED = ", ".join((*(_column(name, whole=False) for name in COLUMNS), _MAPS_WEIGHT))


def newest(
    clickhouse: ClickHouse,
    org_id: str,
    wanted: EvaluationFilter,
    *,
    after: Key | None,
    limit: int,
) -> list[Weighed]:
    """The newest `limit` results that come after `after`, each once, without regard to sessions.

    Copies of a result are neighbours, and dropped here: the database stops reading as soon as it
    has enough rows in order, where LIMIT BY or FINAL makes it go on (22 ms beside 349 and 118 on
    200,000 results whose parts overlap).
    """
    found: dict[Key, Weighed] = {}
    while True:
        where = come_after(wanted.where(org_id), after)
        rows = clickhouse.rows(
            f"SELECT {_WEIGHED} FROM evaluations WHERE {where}"
            f" ORDER BY {NEWEST_FIRST} LIMIT {limit:d}",
            where.params,
            settings=PAGE,
        )
        weighed = [_weighed(row) for row in rows]
        found.update((row.key, row) for row in weighed)
        if len(found) >= limit or len(rows) < limit:
            return list(found.values())[:limit]
        after = weighed[-1].key


def newest_of_each(clickhouse: ClickHouse, where: Where) -> list[Weighed]:
    """The newest result of each session, of those that `where` lets through."""
    rows = clickhouse.rows(
        f"SELECT {_WEIGHED} FROM evaluations WHERE {where}"
        f" ORDER BY {NEWEST_FIRST} LIMIT 1 BY session_id",
        where.params,
        settings=PAGE,
    )
    return [_weighed(row) for row in rows]


def fetch(clickhouse: ClickHouse, org_id: str, keys: Sequence[Key]) -> list[Weighed]:
    """The results of `keys` that there are, in the order of these."""
    found = {row.key: row for row in map(_weighed, _rows_of(clickhouse, org_id, keys, _WEIGHED))}
    return [found[key] for key in keys if key in found]


def complete(clickhouse: ClickHouse, org_id: str, rows: Sequence[Weighed]) -> dict[Key, Evaluation]:
    """The results with all that they hold, in their order; what was deleted since is missing."""
    large = [row.key for row in rows if not row.is_whole]
    fetched = map(from_row, _rows_of(clickhouse, org_id, large, _WHOLE))
    whole = {Key(one.completed_at, one.evaluation_id): one for one in fetched}
    whole.update((row.key, row.record) for row in rows if row.is_whole)
    return {row.key: whole[row.key] for row in rows if row.key in whole}


def come_after(where: Where, after: Key | None) -> Where:
    """Adds to `where` that a result comes after another one, the newest being the first."""
    if after is None:
        return where
    # The plain bound on time is what the primary key can use, the tuple is what is meant.
    return where.add(
        f"completed_at <= {moment('after')}"
        f" AND {ORDER_KEY} < ({moment('after')}, {{after_id:String}})",
        after=after.completed_at,
        after_id=after.evaluation_id,
    )


def _rows_of(clickhouse: ClickHouse, org_id: str, keys: Sequence[Key], columns: str) -> list[Row]:
    """Rows of `keys`, copies among them."""
    if not keys:
        return []
    # Moments as texts: a set of them is what the primary key can use.
    moments = [from_us(key.completed_at).strftime("%Y-%m-%d %H:%M:%S.%f") for key in keys]
    where = (
        Where(org_id)
        .any_of("completed_at", moments, "DateTime64(6, 'UTC')")
        .any_of("evaluation_id", [key.evaluation_id for key in keys])
    )
    return clickhouse.rows(
        f"SELECT {columns} FROM evaluations WHERE {where}", where.params, settings=PAGE
    )


def _weighed(row: Row) -> Weighed:
    return Weighed(from_row(row[:-1]), row[-1])

"""Aggregates over the rows that meet conditions, many of them in one statement.

Each is an `…If` of a SELECT that reads the longest window that it needs. So rules share the reading
of rows, and equal aggregates are computed once.

Milliseconds of the server's CPU for one organization with 20 rules of each kind but custom_sql, on
two busy cores (`SELECT 1` takes 1.5):

| events in the window                            | 10,000 | 120,000 | 1,000,000 |
|-------------------------------------------------|--------|---------|-----------|
| windows alike (4 statements), no rule breached  |     54 |      61 |       570 |
| the same, every rule breached (6)               |    100 |     302 |           |
| windows of 1, 5, 60 min and a day (10)          |     89 |     119 |           |
| each rule by itself (80)                        |    360 |     557 |           |

Planning is more than half of the first. So the rules of 100 organizations that are due once a
minute take a tenth of a processor, and `TIME_LIMIT_SECS` is enough for windows of about 15 million
events.
"""

import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from shared.foundation.clickhouse import ClickHouse, OverMemory
from shared.foundation.clickhouse.rewriting import merged
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.where import Where, moment
from shared.foundation.core.errors import QueryTimeout
from shared.foundation.core.logs import get_logger
from shared.watch.alerts.evaluation.triggers.interface import TooMuch

log = get_logger(__name__)

TIME_LIMIT_SECS = 10
# Afterwards other organizations have their turns: 500 rules that each read the messages of a month
# may take minutes.
TURN_SECS = 10.0
MAX_AGGREGATES = 50
# Windows between two of these (seconds) are read together: a longer one costs little for shorter
# ones, but a month would.
_WIDTHS = (600, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600)
_SECOND = 1_000_000
OVER_TIME = f"the statement took longer than {TIME_LIMIT_SECS} s"
OVER_MEMORY = "the statement needs more memory than is allowed"
# Averages use scaled scores (`scores.py`); this optimization would undo the scaling.
SCALED = {"optimize_arithmetic_operations_in_aggregate_functions": 0}
SETTINGS = {
    **PAGE,
    "max_execution_time": TIME_LIMIT_SECS,
    # No person waits for the result, and ingest keeps the other processors. 20 aggregates over
    # 10,000 events took 19 ms of CPU with two threads and 8 with one.
    "max_threads": 1,
    **SCALED,
}


class AggregateTable(NamedTuple):
    """A table, and the columns with a row's time and id."""

    name: str
    moment: str
    id: str


EVENTS = AggregateTable("events", "ts", "id")
EVALUATIONS = AggregateTable("evaluations", "completed_at", "evaluation_id")


class Term(NamedTuple):
    """A condition in SQL; `?` in it stands for `value`, `@` for `key`.

    It is checked after FINAL, so its columns may differ between copies of a row.
    """

    sql: str
    value: str | None = None
    key: str | None = None


@dataclass(frozen=True)
class AggregateRows:
    """The rows of [start, stop), in microseconds, that meet the conditions.

    `among` lists columns with the values that a row may have. `prelude` is inserted between WITH
    and SELECT and defines names for the terms; rules that need another prelude or none are read
    separately. Naming an expression of 20 terms once, instead of repeating it in each, halves the
    planning.
    """

    table: AggregateTable
    start: int
    stop: int
    among: tuple[tuple[str, tuple[str, ...]], ...] = ()
    terms: tuple[Term, ...] = ()
    prelude: str = ""


class Aggregate(NamedTuple):
    """An aggregate function over `rows`: its name ends in `If`, and parameters may follow it.

    `?` in `argument`, which is SQL, stands for `value`.
    """

    function: str
    rows: AggregateRows
    argument: str = ""
    value: str | None = None

    def combined(self, combinator: str) -> str:
        """Returns the function with one more combinator, such as `State`."""
        name, parted, parameters = self.function.partition("(")
        return f"{name}{combinator}{parted}{parameters}"


Found = Mapping[Aggregate, Any]


class AggregateValues(NamedTuple):
    """The values of aggregates.

    `refused` are those whose statement took too much, with the reason as a sentence. `left` are
    those that were not read because the turn was over.
    """

    found: Found
    refused: Mapping[Aggregate, str]
    left: AbstractSet[Aggregate]


def read(
    clickhouse: ClickHouse, org_id: str, rules: Sequence[Sequence[Aggregate]]
) -> AggregateValues:
    """Reads the aggregates that each rule needs; counts each row of the organization once.

    After `TURN_SECS` no statement begins, except those of the first rule. Raises `Unavailable`, and
    `TooMuch` if a statement with several rules was refused and one of the rules alone would need
    less.
    """
    found: dict[Aggregate, Any] = {}
    refused: dict[Aggregate, str] = {}
    left: set[Aggregate] = set()
    ends_at = time.monotonic() + TURN_SECS
    for group in _groups(aggregate for needed in rules for aggregate in needed):
        if time.monotonic() >= ends_at and set(group).isdisjoint(rules[0]):
            left.update(group)
            continue
        try:
            found.update(_values(clickhouse, org_id, group))
        except TooMuch as error:
            if any(0 < len(set(group).intersection(needed)) < len(group) for needed in rules):
                raise
            refused.update(dict.fromkeys(group, error.reason))
    return AggregateValues(found, refused, left)


def read_samples(clickhouse: ClickHouse, org_id: str, wanted: Iterable[Aggregate]) -> Found:
    """Reads the rows that show breaches; skips statements that take too much or come too late."""
    found: dict[Aggregate, Any] = {}
    ends_at = time.monotonic() + TURN_SECS
    for group in _groups(wanted):
        if time.monotonic() >= ends_at:
            break
        with suppress(TooMuch):
            found.update(_values(clickhouse, org_id, group))
    return found


def _values(clickhouse: ClickHouse, org_id: str, group: Sequence[Aggregate]) -> Found:
    part = scan(org_id, group)
    sql = f"{part.prelude}SELECT {', '.join(part.columns)} {part.source}"
    try:
        [values] = clickhouse.rows(sql, part.params, settings=SETTINGS)
    except (QueryTimeout, OverMemory) as error:
        reason = OVER_TIME if isinstance(error, QueryTimeout) else OVER_MEMORY
        log.warning("alert_statement_refused", org_id=org_id, aggregates=len(group), reason=reason)
        raise TooMuch(reason) from error
    return dict(zip(group, values, strict=True))


def _groups(wanted: Iterable[Aggregate]) -> Iterator[Sequence[Aggregate]]:
    """Groups the aggregates to read together: of nearly the same rows, in the same way."""
    groups: dict[tuple[object, ...], list[Aggregate]] = defaultdict(list)
    for aggregate in dict.fromkeys(wanted):
        rows = aggregate.rows
        width = bisect_left(_WIDTHS, (rows.stop - rows.start) / _SECOND)
        # A rule that names event types must not read the events of all other types.
        is_of_types = any(column == "event_type" for column, _ in rows.among)
        groups[rows.table, rows.stop, width, rows.prelude, is_of_types].append(aggregate)
    for group in groups.values():
        for first in range(0, len(group), MAX_AGGREGATES):
            yield group[first : first + MAX_AGGREGATES]


class Scan(NamedTuple):
    """The parts of a SELECT with a column per aggregate, and the values that it binds."""

    prelude: str
    columns: Sequence[str]
    source: str
    params: dict[str, object]


def scan(org_id: str, group: Sequence[Aggregate], combinator: str = "") -> Scan:
    """Returns the SELECT of aggregates that end together, with a combinator on their functions.

    It binds the first and the last moment of its rows as `start` and `stop`.
    """
    table, stop = group[0].rows.table, group[0].rows.stop
    start = min(aggregate.rows.start for aggregate in group)
    where = Where(org_id).within(table.moment, start, stop)
    common = _common(group)
    for column, values in common.items():
        where.any_of(column, values)
    bound = _BoundValues(where.params)
    columns = [_column(aggregate, combinator, start, common, bound) for aggregate in group]
    prelude = group[0].rows.prelude
    source = f"FROM {table.name} {merged(where)}"
    return Scan(f"WITH {prelude} " if prelude else "", columns, source, where.params)


def _common(group: Sequence[Aggregate]) -> dict[str, tuple[str, ...]]:
    """Returns the columns whose values all of the group restrict, with all those values."""
    named = [dict(aggregate.rows.among) for aggregate in group]
    return {
        column: tuple(sorted({value for columns in named for value in columns[column]}))
        for column in named[0]
        if all(column in columns for columns in named)
    }


def _column(
    aggregate: Aggregate,
    combinator: str,
    start: int,
    common: Mapping[str, tuple[str, ...]],
    bound: "_BoundValues",
) -> str:
    rows = aggregate.rows
    conditions = []
    if rows.start > start:
        conditions.append(f"{rows.table.moment} >= {moment(bound.moment(rows.start))}")
    for column, values in rows.among:
        if common.get(column) != tuple(sorted(values)):
            conditions.append(f"{column} IN ({', '.join(map(bound.text, values))})")
    for sql, value, key in rows.terms:
        conditions.append(bound.into(bound.into(sql, key, "@"), value))
    arguments = [" AND ".join(conditions) or "true"]
    if aggregate.argument:
        arguments.insert(0, bound.into(aggregate.argument, aggregate.value))
    return f"{aggregate.combined(combinator)}({', '.join(arguments)})"


class _BoundValues:
    """Values that are bound on the server, each once."""

    def __init__(self, params: dict[str, object]) -> None:
        self._params = params
        self._names: dict[str | int, str] = {}

    def text(self, value: str) -> str:
        """Binds a text and returns its SQL."""
        return f"{{{self._name(value)}:String}}"

    def moment(self, us: int) -> str:
        """Binds a moment and returns the name of its parameter."""
        return self._name(us)

    def into(self, sql: str, value: str | None, place: str = "?") -> str:
        """Returns `sql` with the value in its `place`."""
        return sql if value is None else sql.replace(place, self.text(value))

    def _name(self, value: str | int) -> str:
        name = self._names.setdefault(value, f"v{len(self._names)}")
        self._params[name] = value
        return name

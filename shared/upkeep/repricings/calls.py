"""The stored calls of a range, and the values that they would have if they were stored now."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.rewriting import merged
from shared.foundation.clickhouse.where import Where, moment, us
from shared.intake.ingest.stored_calls import (
    CALL_VALUES,
    COST_PLACE,
    SOURCE_PLACE,
    values_of,
)
from shared.reading.events.families import MODEL, TOOL
from shared.reading.prices.book import PriceBook
from shared.reading.prices.cost import UNITS
from shared.upkeep.repricings.figures import RepricedCall
from shared.upkeep.rewriting.places import Place

# A run yields to reads and to ingest.
_SETTINGS = {
    "os_threads_nice_value_query": 10,
    "max_threads": 1,
    "do_not_merge_across_partitions_select_final": 1,
    "max_execution_time": 120,
}
_AMOUNTS = frozenset({"cost_usd", "reported_usd", "computed_usd"})
_TEXTS = frozenset({"provider", "service_tier", "cost_source", "unpriced_reason", "price_id"})


def _old(name: str) -> str:
    """Returns SQL of the stored value in the form that a new one has."""
    if name in _AMOUNTS:
        return f"toInt128({name} * {UNITS})"
    if name in _TEXTS:
        return f"CAST({name}, 'Nullable(String)')"
    return f"CAST({name}, 'Array(String)')" if name == "cost_notes" else name


_NAMES = ("ts", "session_id", "id", "event_type", "model", "context_window", "payload")
_PAYLOAD = _NAMES.index("payload")
_CALLS = f"""
SELECT {us("ts")} AS at, session_id, id, CAST(event_type, 'String'),
    CAST(model, 'Nullable(String)'), context_window, payload, {", ".join(map(_old, CALL_VALUES))}
FROM {TABLE} {{merged}}
ORDER BY ts, session_id, id
LIMIT {{limit}}
"""
# Changes of these are changes of what a call costs. Others, such as the name of a price that says
# the same in a newer table, are written too.
_COUNTED = tuple(
    map(CALL_VALUES.index, ("cost_usd", "reported_usd", "computed_usd", "cost_source"))
)

Columns = Sequence[Sequence[Any]]


class CallFilter(NamedTuple):
    """The calls of a run: None admits all."""

    model: str | None = None
    agent_id: str | None = None
    environment: str | None = None


class RepricedRound(NamedTuple):
    """The calls of a round: for figures, and the keys and values of those that differ."""

    calls: list[RepricedCall]
    keys: list[tuple[int, str, int]]
    values: list[tuple[object, ...]]


def conditions(org_id: str, wanted: CallFilter) -> Where:
    """Returns the conditions of the calls of a run, without its range."""
    where = Where(org_id)
    where.add("event_type IN ({of_model:String}, {of_tool:String})")
    # Only a model's answer is a call without a cost of its own.
    where.add("event_type = {of_model:String} OR position(payload, 'cost_usd') > 0")
    where.params.update(of_model=MODEL.end, of_tool=TOOL.end)
    for name, value in wanted._asdict().items():
        if value is not None:
            where.any_of(name, [value])
    return where


def read(clickhouse: ClickHouse, where: Where, limit: int) -> Columns:
    """Returns the columns of the first calls by key; the first three are the key."""
    sql = _CALLS.format(merged=merged(where), limit=limit)
    return clickhouse.columns(sql, where.params, settings=_SETTINGS)


def before(where: Where, stop: int) -> Where:
    """Requires an event before a moment."""
    return where.add(f"ts < {moment('stop')}", stop=stop)


def bytes_of(columns: Columns) -> int:
    """Returns the size of the payloads."""
    return sum(map(len, columns[_PAYLOAD]))


def reprice(book: PriceBook, columns: Columns) -> RepricedRound:
    """Computes the calls of columns that `read` returned."""
    found = RepricedRound([], [], [])
    if not columns:
        return found
    for ts, session_id, event_id, event_type, model, window, payload, *old in zip(
        *columns, strict=True
    ):
        raw = payload if isinstance(payload, bytes) else payload.encode()
        new = values_of(book, event_type, raw, ts, window)
        if new is None:
            continue
        stored = (*old[:-1], tuple(old[-1]))
        if new[SOURCE_PLACE] is not None or stored[SOURCE_PLACE] is not None:
            is_changed = any(new[place] != stored[place] for place in _COUNTED)
            found.calls.append(
                RepricedCall(model, stored[COST_PLACE], new[COST_PLACE], is_changed)  # type: ignore[arg-type]
            )
        if new != stored:
            found.keys.append((ts, session_id, event_id))
            found.values.append(new)
    return found


def place_of(stored: Sequence[Any] | None, start: int) -> Place:
    """Returns a stored place, else the beginning of the range."""
    return Place(start) if stored is None else Place.of(stored)

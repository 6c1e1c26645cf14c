"""Turns accepted batches into the columns of `events`."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from operator import attrgetter

from msgspec import UNSET

from shared.foundation.clickhouse.event_columns import CALL_COLUMNS, EVENT_COLUMNS, PAYLOAD_COLUMNS
from shared.intake.ingest import usage
from shared.intake.ingest.batch import Batch
from shared.intake.ingest.calls import ENDS, cost_in, is_call
from shared.intake.ingest.dimensions import (
    EventDimensions,
    OmittedValues,
    drop_refused,
    places_of_dimensions,
    read_dimensions,
)
from shared.intake.ingest.fields import Fields, is_error, read_fields
from shared.intake.ingest.rules import IngestRules
from shared.intake.ingest.summary import summarise
from shared.reading.events.families import MODEL
from shared.reading.prices.cost import CallCost
from shared.reading.prices.names import tier_of

Columns = dict[str, list[object]]

# Events of which all columns are made before those of the next ones. The fields of more events do
# not fit into a processor's cache: a whole block took a third longer.
_TOGETHER = 1000
_BATCH_COLUMNS = [(c.name, c.field) for c in EVENT_COLUMNS if c.source == "batch"]
# One getter for each column: a tuple for each event would keep the garbage collector busy, which
# took three quarters of the time.
_Getters = list[tuple[str, Callable[[Fields], object]]]
_PAYLOAD_GETTERS: _Getters = [(column.name, attrgetter(column.field)) for column in PAYLOAD_COLUMNS]
_CALL_GETTERS: _Getters = [
    *((column.name, attrgetter(column.field)) for column in CALL_COLUMNS),
    ("provider", lambda call: usage.provider_of(call.provider)),
    ("service_tier", lambda call: tier_of(call.service_tier)),
]
_COST_GETTERS: list[tuple[str, Callable[[CallCost], object]]] = [
    (name, attrgetter(field))
    for name, field in {
        "cost_usd": "cost",
        "reported_usd": "reported",
        "computed_usd": "computed",
        "cost_source": "source",
        "unpriced_reason": "unpriced_reason",
        "price_id": "price_id",
    }.items()
]


def columns_of(
    org_id: str, batch: Batch, rules: IngestRules, left_out: OmittedValues | None = None
) -> Columns:
    """Returns all inserted columns of a batch of one organization, each as long as the batch.

    `left_out` counts the values of dimensions that have no place.
    """
    columns: Columns = defaultdict(list)
    append_columns(columns, org_id, batch, rules, left_out)
    return columns


def append_columns(
    columns: Columns,
    org_id: str,
    batch: Batch,
    rules: IngestRules,
    left_out: OmittedValues | None = None,
) -> None:
    """Appends the columns of a batch of one organization to those of others; see `columns_of`."""
    counted = OmittedValues() if left_out is None else left_out
    for start in range(0, len(batch), _TOGETHER):
        piece = batch.slice(start, start + _TOGETHER)
        columns["org_id"] += [org_id] * len(piece)
        for name, field in _BATCH_COLUMNS:
            columns[name] += getattr(piece, field)
        _append_derived(columns, piece, rules, counted)


def _append_derived(
    columns: Columns, batch: Batch, rules: IngestRules, counted: OmittedValues
) -> None:
    types, payloads = batch.event_types, batch.payloads
    fields = list(map(read_fields, payloads))
    ends = [place for place, event_type in enumerate(types) if event_type in ENDS]
    calls = {place: fields[place] for place in ends if is_call(types[place], fields[place])}
    # It fills the fields of calls, and therefore comes first.
    costs = [
        cost_in(rules.prices, types[place], call, batch.ts[place]) for place, call in calls.items()
    ]
    windows = [
        rules.window_of(call.model) or None
        if call.model is not None and types[place] == MODEL.end
        else None
        for place, call in calls.items()
    ]
    fills = [
        window and fill_of(call, window)
        for call, window in zip(calls.values(), windows, strict=True)
    ]
    columns["summary"] += map(summarise, types, fields, payloads)
    # Few events say anything about it, and a call for each of the others would take longer.
    columns["is_error"] += [
        (event.error is not UNSET or event.outcome is not None or event_type == "error")
        and is_error(event_type, event)
        for event_type, event in zip(types, fields, strict=True)
    ]
    for name, value_of in _PAYLOAD_GETTERS:
        columns[name] += map(value_of, fields)
    columns["context_window"] += _spread(calls, windows, len(batch))
    columns["context_fill"] += _spread(calls, fills, len(batch))
    for name, value_of in _CALL_GETTERS:
        columns[name] += _spread(calls, map(value_of, calls.values()), len(batch))
    for name, cost_value_of in _COST_GETTERS:
        columns[name] += _spread(calls, map(cost_value_of, costs), len(batch))
    columns["cost_notes"] += _spread(calls, [one.notes for one in costs], len(batch), ())
    places = places_of_dimensions(fields, rules.dimensions)
    found = [
        read_dimensions(types[place], fields[place], payloads[place], rules.dimensions, counted)
        for place in places
    ]
    drop_refused(found, rules.dimensions, counted)
    for name, nothing in EventDimensions._field_defaults.items():
        columns[name] += _spread(places, map(attrgetter(name), found), len(batch), nothing)


def _spread(
    places: Iterable[int], values: Iterable[object], length: int, elsewhere: object = None
) -> list[object]:
    """Returns a column that has the values at these places."""
    column: list[object] = [elsewhere] * length
    for place, value in zip(places, values, strict=True):
        column[place] = value
    return column


def fill_of(fields: Fields, window: int) -> float | None:
    """Returns the share of a context window that a call fills, None without tokens."""
    if fields.input_tokens is None and fields.output_tokens is None:
        return None
    return ((fields.input_tokens or 0) + (fields.output_tokens or 0)) / window

"""Turns accepted batches into the columns of `events`."""

from collections.abc import Callable, Iterable
from operator import attrgetter

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
    counted = OmittedValues() if left_out is None else left_out
    fields = [read_fields(payload) for payload in batch.payloads]
    ends = [place for place, event_type in enumerate(batch.event_types) if event_type in ENDS]
    calls = {
        place: fields[place] for place in ends if is_call(batch.event_types[place], fields[place])
    }
    # It fills the fields of calls, and therefore comes first.
    costs = [
        cost_in(rules.prices, batch.event_types[place], call, batch.ts[place])
        for place, call in calls.items()
    ]
    windows: list[int | None] = [None] * len(batch)
    for place, call in calls.items():
        if call.model is not None and batch.event_types[place] == MODEL.end:
            windows[place] = rules.window_of(call.model) or None
    columns: Columns = {"org_id": [org_id] * len(batch)}
    for name, field in _BATCH_COLUMNS:
        columns[name] = list(getattr(batch, field))
    columns["summary"] = list(map(summarise, batch.event_types, fields, batch.payloads))
    columns["is_error"] = list(map(is_error, batch.event_types, fields))
    columns["context_window"] = list(windows)
    columns["context_fill"] = [
        window and fill_of(event, window) for event, window in zip(fields, windows, strict=True)
    ]
    for name, value_of in _PAYLOAD_GETTERS:
        columns[name] = list(map(value_of, fields))
    for name, value_of in _CALL_GETTERS:
        columns[name] = _spread(calls, map(value_of, calls.values()), len(batch))
    for name, cost_value_of in _COST_GETTERS:
        columns[name] = _spread(calls, map(cost_value_of, costs), len(batch))
    notes = [one.notes for one in costs]
    columns["cost_notes"] = _spread(calls, notes, len(batch), ())
    places = places_of_dimensions(fields, rules.dimensions)
    found = [
        read_dimensions(
            batch.event_types[place],
            fields[place],
            batch.payloads[place],
            rules.dimensions,
            counted,
        )
        for place in places
    ]
    drop_refused(found, rules.dimensions, counted)
    for name, nothing in EventDimensions._field_defaults.items():
        columns[name] = _spread(places, map(attrgetter(name), found), len(batch), nothing)
    return columns


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

"""Turns accepted batches into the columns of `events`."""

from operator import attrgetter

from shared.foundation.clickhouse.event_columns import EVENT_COLUMNS, PAYLOAD_COLUMNS
from shared.intake.ingest.batch import Batch
from shared.intake.ingest.fields import Fields, is_error, read_fields
from shared.intake.ingest.summary import summarise
from shared.reading.model_windows.builtin import WindowOf

Columns = dict[str, list[object]]

_BATCH_COLUMNS = [(c.name, c.field) for c in EVENT_COLUMNS if c.source == "batch"]
# One getter for each column: a tuple for each event would keep the garbage collector busy, which
# took three quarters of the time.
_PAYLOAD_GETTERS = [(column.name, attrgetter(column.field)) for column in PAYLOAD_COLUMNS]


def columns_of(org_id: str, batch: Batch, window_of: WindowOf) -> Columns:
    """Returns all inserted columns of a batch of one organization, each as long as the batch."""
    fields = [read_fields(payload) for payload in batch.payloads]
    windows = [
        _window(event_type, event, window_of)
        for event_type, event in zip(batch.event_types, fields, strict=True)
    ]
    columns: Columns = {"org_id": [org_id] * len(batch)}
    for name, field in _BATCH_COLUMNS:
        columns[name] = list(getattr(batch, field))
    columns["summary"] = list(map(summarise, batch.event_types, fields, batch.payloads))
    columns["is_error"] = list(map(is_error, batch.event_types, fields))
    columns["context_window"] = list(windows)
    columns["context_fill"] = [
        _fill(event, window) for event, window in zip(fields, windows, strict=True)
    ]
    for name, value_of in _PAYLOAD_GETTERS:
        columns[name] = list(map(value_of, fields))
    return columns


def _window(event_type: str, fields: Fields, window_of: WindowOf) -> int | None:
    if event_type != "model_response" or fields.model is None:
        return None
    return window_of(fields.model) or None


def _fill(fields: Fields, window: int | None) -> float | None:
    if window is None or (fields.input_tokens is None and fields.output_tokens is None):
        return None
    return ((fields.input_tokens or 0) + (fields.output_tokens or 0)) / window

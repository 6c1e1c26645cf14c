"""The columns of the table `events`: one row each, and everything about a column is in its row.

The insert, the lists of the API, the views of people's SQL, the filters and the schemas of
responses derive from these rows. Migrations are literal; a test compares the table that they make
with the rows.
"""

from typing import Literal, NamedTuple

from shared.foundation.clickhouse.where import us

TABLE = "events"
# `arrival` is a moment in milliseconds, above the position of the event in its body, which takes
# these low bits: 2^21 events are far more than a body of 128 MiB holds.
POSITION_BITS = 21


class EventColumn(NamedTuple):
    """A column; the order of the rows is the order of the view and of responses.

    - `type`: the type in the table.
    - `source`: `organization`; `batch`, the field `field` of `Batch`; `payload`, the field `field`
      of the payload; `call`, the same of calls only; or `derived` in `shared.intake.ingest.rows`.
    - `published`: the view `events` of people's SQL has the column.
    - `listed`: every event in a list has it, and `about` describes it there.
    - `filter`: describes the values of the filter with the column's name. Without a description
      there is no such filter. `label` names it in the UI.
    """

    name: str
    type: str
    source: Literal["organization", "batch", "payload", "call", "derived"]
    field: str = ""
    published: bool = True
    listed: bool = False
    about: str = ""
    filter: str = ""
    label: str = ""

    @property
    def is_nullable(self) -> bool:
        """Returns whether an event may lack the value."""
        return "Nullable(" in self.type


_NAME = "LowCardinality(String)"
_OPTIONAL_NAME = "LowCardinality(Nullable(String))"
_OPTIONAL_TEXT = "Nullable(String)"
_OPTIONAL_NUMBER = "Nullable(UInt32)"
_NAMES = "Array(LowCardinality(String))"
_PAIRS = "Map(LowCardinality(String), String)"
# Dollars; sums of them are exact.
_AMOUNT = "Nullable(Decimal(38, 12))"


def _sent(
    name: str, type_: str, *, listed: bool = False, filter_: str = "", label: str = ""
) -> EventColumn:
    """Returns a column with the field of the payload that has its name."""
    return EventColumn(name, type_, "payload", name, listed=listed, filter=filter_, label=label)


def _of_call(name: str, *, listed: bool = False) -> EventColumn:
    """Returns a column with a number of calls."""
    return EventColumn(name, _OPTIONAL_NUMBER, "call", name, listed=listed)


EVENT_COLUMNS: tuple[EventColumn, ...] = (
    EventColumn("org_id", _NAME, "organization", published=False),
    EventColumn("id", "UInt64", "batch", "ids", listed=True, about="below 2^53"),
    EventColumn(
        "session_id",
        "String",
        "batch",
        "session_ids",
        listed=True,
        filter="session",
        label="Session",
    ),
    EventColumn(
        "agent_id", _NAME, "batch", "agent_ids", listed=True, filter="agent", label="Agent"
    ),
    EventColumn(
        "event_type",
        _NAME,
        "batch",
        "event_types",
        listed=True,
        filter="event type, such as `tool_use`",
        label="Type",
    ),
    EventColumn("ts", "DateTime64(6, 'UTC')", "batch", "ts", listed=True),
    EventColumn("arrival", "UInt64", "batch", "arrivals", published=False),
    EventColumn(
        "environment",
        _NAME,
        "batch",
        "environments",
        listed=True,
        filter="environment",
        label="Environment",
    ),
    EventColumn("payload", "String", "batch", "payloads"),
    EventColumn("summary", "String", "derived"),
    EventColumn("is_error", "Bool", "derived", listed=True),
    _sent("error_type", _OPTIONAL_NAME, listed=True, filter_="error type", label="Error type"),
    _sent("tool_name", _OPTIONAL_NAME, filter_="tool", label="Tool"),
    _sent("tool_call_id", _OPTIONAL_TEXT),
    _sent("hook_name", _OPTIONAL_NAME, filter_="hook", label="Hook"),
    _sent("hook_id", _OPTIONAL_TEXT),
    _sent("trigger_event", _OPTIONAL_NAME, filter_="trigger event of a hook", label="Trigger"),
    _sent("input_id", _OPTIONAL_TEXT),
    _sent("pause_id", _OPTIONAL_TEXT),
    _sent("request_id", _OPTIONAL_TEXT),
    _sent("model", _OPTIONAL_NAME, filter_="model", label="Model"),
    _sent("parent_id", _OPTIONAL_TEXT),
    _sent("outcome", _OPTIONAL_NAME),
    _sent("duration_ms", _OPTIONAL_NUMBER),
    _sent("input_tokens", _OPTIONAL_NUMBER, listed=True),
    _sent("output_tokens", _OPTIONAL_NUMBER, listed=True),
    EventColumn(
        "context_window",
        _OPTIONAL_NUMBER,
        "derived",
        listed=True,
        about="tokens the model can hold",
    ),
    EventColumn(
        "context_fill",
        "Nullable(Float64)",
        "derived",
        listed=True,
        about="(input + output tokens) / context_window",
    ),
    EventColumn(
        "user_id", _OPTIONAL_TEXT, "derived", listed=True, about="its own, else its session's"
    ),
    EventColumn(
        "agent_version", _OPTIONAL_NAME, "derived", listed=True, about="its own, else its session's"
    ),
    EventColumn("tags", _NAMES, "derived", listed=True, about="its own"),
    EventColumn("attributes", _PAIRS, "derived", listed=True, about="its own"),
    EventColumn("provider", _OPTIONAL_NAME, "derived", listed=True, filter="provider of a model"),
    EventColumn(
        "service_tier",
        _OPTIONAL_NAME,
        "derived",
        listed=True,
        about="null for the standard one",
        filter="tier of service, such as `batch`",
    ),
    _of_call("cache_read_tokens", listed=True),
    _of_call("cache_write_tokens", listed=True),
    _of_call("cache_write_1h_tokens", listed=True),
    _of_call("reasoning_tokens", listed=True),
    _of_call("audio_input_tokens"),
    _of_call("audio_output_tokens"),
    _of_call("web_searches"),
    EventColumn("cost_usd", _AMOUNT, "derived", listed=True, about="null if nothing tells it"),
    EventColumn("reported_usd", _AMOUNT, "derived"),
    EventColumn("computed_usd", _AMOUNT, "derived"),
    EventColumn(
        "cost_source",
        _OPTIONAL_NAME,
        "derived",
        listed=True,
        about="of a call: reported, computed or unpriced",
        filter="source of a call's cost: reported, computed, unpriced",
    ),
    EventColumn("unpriced_reason", _OPTIONAL_NAME, "derived"),
    EventColumn("price_id", _OPTIONAL_NAME, "derived"),
    EventColumn("cost_notes", _NAMES, "derived"),
)
PAYLOAD_COLUMNS = tuple(column for column in EVENT_COLUMNS if column.source == "payload")
CALL_COLUMNS = tuple(column for column in EVENT_COLUMNS if column.source == "call")
LISTED = tuple(column for column in EVENT_COLUMNS if column.listed)
# What is read of a call, and what it costs; and what says whose an event is. Events that are stored
# may be written again with other values in these (`shared.foundation.clickhouse.rewriting`).
USAGE_NAMES = (
    "input_tokens",
    "output_tokens",
    *(column.name for column in CALL_COLUMNS),
    "provider",
    "service_tier",
    "context_fill",
)
COST_NAMES = (
    "cost_usd",
    "reported_usd",
    "computed_usd",
    "cost_source",
    "unpriced_reason",
    "price_id",
    "cost_notes",
)
DIMENSION_NAMES = ("user_id", "agent_version", "tags", "attributes")

# The order of events everywhere: time, then arrival, then position in the batch.
ORDER = ("ts", "arrival", "id")
ORDER_BY = ", ".join(ORDER)
# The same as one value, for comparisons and argMin.
ORDER_KEY = f"({ORDER_BY})"
# The same for selection, with the time in microseconds.
SELECT_KEY = f"{us('ts')}, arrival, id"


def order_key_of(alias: str) -> str:
    """Returns `ORDER_KEY` of the table with this alias."""
    return f"({', '.join(f'{alias}.{name}' for name in ORDER)})"

"""The columns of exported files, which are the same in every format."""

from typing import Literal, NamedTuple

from shared.foundation.clickhouse.event_columns import EVENT_COLUMNS, EventColumn

What = Literal["events", "sessions", "evaluations"]

Kind = Literal[
    "text", "whole", "number", "flag", "moment", "json", "agents", "texts", "scores", "pairs"
]

# One value for each column. A moment is in microseconds since the epoch, `json` is text that is
# JSON, `agents` are (name, number) pairs, `scores` and `pairs` are dictionaries of numbers and of
# texts.
Row = tuple[object, ...]


class ExportColumn(NamedTuple):
    """A column of a file."""

    name: str
    kind: Kind
    nullable: bool = False


# By the first part that the type in the table has.
_KINDS: dict[str, Kind] = {
    "Array(": "texts",
    "Map(": "pairs",
    "String": "text",
    "UInt": "whole",
    "Float": "number",
    "Decimal": "number",
    "Bool": "flag",
    "DateTime": "moment",
}


def _of_events(column: EventColumn) -> ExportColumn:
    kind = next(kind for part, kind in _KINDS.items() if part in column.type)
    return ExportColumn(
        column.name, "json" if column.name == "payload" else kind, column.is_nullable
    )


COLUMNS: dict[What, tuple[ExportColumn, ...]] = {
    "events": tuple(_of_events(column) for column in EVENT_COLUMNS if column.published),
    "sessions": (
        ExportColumn("session_id", "text"),
        ExportColumn("agent_id", "text"),
        ExportColumn("agents", "agents"),
        ExportColumn("environment", "text"),
        ExportColumn("event_count", "whole"),
        ExportColumn("error_count", "whole"),
        ExportColumn("started_at", "moment"),
        ExportColumn("last_event_at", "moment"),
        ExportColumn("ended_at", "moment", nullable=True),
        ExportColumn("first_event_id", "whole"),
        ExportColumn("last_event_id", "whole"),
        ExportColumn("input_tokens", "whole"),
        ExportColumn("output_tokens", "whole"),
        ExportColumn("user_id", "text", nullable=True),
        ExportColumn("agent_version", "text", nullable=True),
        ExportColumn("tags", "texts"),
        ExportColumn("attributes", "pairs"),
        ExportColumn("cache_read_tokens", "whole"),
        ExportColumn("cache_write_tokens", "whole"),
        ExportColumn("cache_write_1h_tokens", "whole"),
        ExportColumn("reasoning_tokens", "whole"),
        ExportColumn("model_calls", "whole"),
        ExportColumn("unpriced_calls", "whole"),
        ExportColumn("cost_usd", "number", nullable=True),
        ExportColumn("reported_usd", "number", nullable=True),
        ExportColumn("computed_usd", "number", nullable=True),
    ),
    "evaluations": (
        ExportColumn("evaluation_id", "text"),
        ExportColumn("session_id", "text"),
        ExportColumn("agent_id", "text"),
        ExportColumn("environment", "text"),
        ExportColumn("status", "text"),
        ExportColumn("scores", "scores", nullable=True),
        ExportColumn("reasoning", "pairs", nullable=True),
        ExportColumn("summary", "text", nullable=True),
        ExportColumn("error", "text", nullable=True),
        ExportColumn("attempt_count", "whole"),
        ExportColumn("duration_ms", "whole", nullable=True),
        ExportColumn("completed_at", "moment"),
    ),
}

"""The columns of exported files, which are the same in every format."""

from typing import Literal, NamedTuple

from shared.foundation.clickhouse.event_columns import EVENT_COLUMNS, EventColumn

What = Literal["events", "sessions", "evaluations"]

Kind = Literal["text", "whole", "number", "flag", "moment", "json", "agents", "scores", "reasoning"]

# One value for each column. A moment is in microseconds since the epoch, `json` is text that is
# JSON, `agents` are (name, number) pairs, `scores` and `reasoning` are dictionaries.
Row = tuple[object, ...]


class Column(NamedTuple):
    """A column of a file."""

    name: str
    kind: Kind
    nullable: bool = False


# By a part of the type in the table.
_KINDS: dict[str, Kind] = {
    "String": "text",
    "UInt": "whole",
    "Float": "number",
    "Bool": "flag",
    "DateTime": "moment",
}


def _of_events(column: EventColumn) -> Column:
    [kind] = [kind for part, kind in _KINDS.items() if part in column.type]
    return Column(column.name, "json" if column.name == "payload" else kind, column.is_nullable)


COLUMNS: dict[What, tuple[Column, ...]] = {
    "events": tuple(_of_events(column) for column in EVENT_COLUMNS if column.published),
    "sessions": (
        Column("session_id", "text"),
        Column("agent_id", "text"),
        Column("agents", "agents"),
        Column("environment", "text"),
        Column("event_count", "whole"),
        Column("error_count", "whole"),
        Column("started_at", "moment"),
        Column("last_event_at", "moment"),
        Column("ended_at", "moment", nullable=True),
        Column("first_event_id", "whole"),
        Column("last_event_id", "whole"),
        Column("input_tokens", "whole"),
        Column("output_tokens", "whole"),
    ),
    "evaluations": (
        Column("evaluation_id", "text"),
        Column("session_id", "text"),
        Column("agent_id", "text"),
        Column("environment", "text"),
        Column("status", "text"),
        Column("scores", "scores", nullable=True),
        Column("reasoning", "reasoning", nullable=True),
        Column("summary", "text", nullable=True),
        Column("error", "text", nullable=True),
        Column("attempt_count", "whole"),
        Column("duration_ms", "whole", nullable=True),
        Column("completed_at", "moment"),
    ),
}

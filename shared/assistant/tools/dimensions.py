"""The tool that reads the values of dimensions."""

from typing import Annotated, Any

from msgspec import Meta

from shared.assistant.asker import Asker
from shared.assistant.tools.filtered import filtered
from shared.assistant.tools.tool import Rows, Text, Tool, ToolResult
from shared.assistant.values import cut
from shared.foundation.core import pages
from shared.foundation.core.clock import format_us
from shared.reading.dimensions.names import PREFIX
from shared.reading.sessions.dimension_values import FIELDS, ValueCount, values_of
from shared.reading.sessions.selection import SessionFilters

_OfSessions = filtered("OfDimensions", SessionFilters)


class ListDimensionValues(_OfSessions):  # type: ignore[misc, valid-type] # made from the declared filters
    """The dimension, and the sessions whose values are counted; the time is of the last event."""

    field: Annotated[Text, Meta(description=f"{', '.join(FIELDS)} or {PREFIX}<key>")] = "user_id"
    q: Annotated[Text, Meta(description="any part of a value, in any case")] = ""
    limit: Rows = 20


def _list(asker: Asker, wanted: ListDimensionValues) -> ToolResult:
    runtime = asker.runtime
    found = values_of(
        runtime.clickhouse,
        runtime.redis,
        asker.org,
        wanted.field,
        wanted.filters,
        q=wanted.q,
        limit=wanted.limit,
    )
    value = {
        "field": wanted.field,
        "values": [_row(one) for one in found.values],
        "more": found.truncated,
        "link": pages.page(asker.org_slug, "sessions"),
    }
    return ToolResult(value, len(found.values))


def _row(one: ValueCount) -> dict[str, Any]:
    return {
        "value": cut(one.value),
        "sessions": one.sessions,
        "last_seen_at": format_us(one.last_seen_at),
    }


TOOLS = (
    Tool(
        "list_dimension_values",
        "evaluations:read",
        "Lists the values of a dimension, such as users or tags, in the sessions that the filters"
        " choose, each with the number of its sessions, most first. Up to a minute old.",
        ListDimensionValues,
        _list,
    ),
)

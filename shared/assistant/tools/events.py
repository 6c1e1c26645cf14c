"""Tools that read events, failures and latencies."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from shared.assistant.asker import Asker
from shared.assistant.tools.filtered import filtered
from shared.assistant.tools.tool import Arguments, Rows, Text, Tool, ToolResult
from shared.assistant.values import ALONE, IN_LIST, cut, number, plain
from shared.foundation.clickhouse.event_columns import LISTED
from shared.foundation.core import pages
from shared.foundation.core.clock import format_us
from shared.foundation.core.errors import NotFound
from shared.reading.events.error_summary import error_groups, error_summary
from shared.reading.events.families import FAMILIES, Measured
from shared.reading.events.filters import EventFilters
from shared.reading.events.latency import latency_aggregate, latency_query
from shared.reading.events.latency.query import LatencyFilters
from shared.reading.events.one import find
from shared.reading.events.page import read_page

_HEAD = tuple(column.name for column in LISTED)
_MEASURED = {family.measured: family for family in FAMILIES if family.measured}
# The payload of an event of a transcript, in characters: twenty of them fill a tool's result.
_OF_TRANSCRIPT = 2000


_OfEvents = filtered("OfEvents", EventFilters, without=("event_id", "search_exclude"))


class ListEvents(_OfEvents):  # type: ignore[misc, valid-type] # made from the declared filters
    """A list of events."""

    oldest_first: bool = False
    limit: Rows = 30


class ReadTranscript(Arguments):
    """A part of a session."""

    session_id: Text
    cursor: Annotated[str | None, Meta(description="`next_cursor` of the answer before")] = None
    limit: Annotated[int, Meta(ge=1, le=50)] = 20


class ReadEvent(Arguments):
    """One event."""

    session_id: Text
    event_id: Annotated[int, Meta(ge=0, le=2**63 - 1)]


class CountErrors(_OfEvents):  # type: ignore[misc, valid-type] # as above
    """The failures to count."""

    group_by: Literal[
        "error_type", "tool_name", "agent_id", "user_id", "agent_version", "model"
    ] = "error_type"


class MeasureLatency(_OfEvents):  # type: ignore[misc, valid-type] # as above
    """The pairs of events to measure."""

    of: Measured = "tools"


def _list(asker: Asker, wanted: ListEvents) -> ToolResult:
    return _page(asker, "summary", wanted.filters, IN_LIST, wanted.limit, wanted.oldest_first)


def _transcript(asker: Asker, wanted: ReadTranscript) -> ToolResult:
    filters = EventFilters(session_id=[wanted.session_id])
    return _page(
        asker, "payload", filters, _OF_TRANSCRIPT, wanted.limit, True, cursor=wanted.cursor
    )


def _page(
    asker: Asker,
    last: str,
    filters: EventFilters,
    most: int,
    limit: int,
    ascending: bool,
    cursor: str | None = None,
) -> ToolResult:
    found = read_page(
        asker.runtime.clickhouse,
        asker.org,
        (*_HEAD, last),
        filters,
        ascending=ascending,
        cursor=cursor,
        limit=limit,
        effective=True,
    )
    rows = [_row(asker, row, last, most) for row in found.rows]
    return ToolResult({"events": rows, "next_cursor": found.next_cursor}, len(rows))


def _read(asker: Asker, wanted: ReadEvent) -> ToolResult:
    columns = (*_HEAD, "payload")
    row = find(asker.runtime.clickhouse, asker.org, wanted.session_id, wanted.event_id, columns)
    if row is None:
        raise NotFound("there is no such event in this session")
    return ToolResult(_row(asker, row, "payload", 4 * ALONE))


def _row(asker: Asker, row: Any, last: str, most: int) -> dict[str, Any]:
    event = dict(zip((*_HEAD, last), row, strict=False))
    event["ts"] = format_us(event["ts"])
    event["cost_usd"] = number(event["cost_usd"])
    event[last] = cut(event[last], most)
    event["link"] = pages.session(asker.org_slug, event["session_id"], event["id"])
    return {name: value for name, value in event.items() if value is not None}


def _errors(asker: Asker, wanted: CountErrors) -> ToolResult:
    clickhouse, filters = asker.runtime.clickhouse, wanted.filters
    found = error_summary(clickhouse, asker.org, filters)
    groups = error_groups(clickhouse, asker.org, filters, wanted.group_by)
    counted = {name: found[name] for name in ("total", "sessions", "agents", "last_ts")}
    link = pages.page(asker.org_slug, "errors")
    return ToolResult({**counted, "link": link, "groups": plain(groups)}, len(groups))


def _latency(asker: Asker, wanted: MeasureLatency) -> ToolResult:
    family = _MEASURED[wanted.of]
    query = latency_query(
        filters=wanted.filters_of(LatencyFilters),
        start_event_type=family.start,
        end_event_type=family.end,
        bin_count=1,
        outcome="all",
        pair_key_paths=[],
        distribution_key_paths=[family.group],
        payload_contains=[],
        payload_sum_paths=[],
    )
    found = latency_aggregate(asker.runtime.clickhouse, asker.org, query)
    names = found["distribution"]
    value = {
        "unit": "ms",
        "bounds": found["bounds"],
        "all": found["summary"],
        "unpaired_starts": found["events"]["unpaired_start"],
        "by_name": plain(names),
        "link": pages.page(asker.org_slug, "latency"),
    }
    return ToolResult(value, len(names))


TOOLS = (
    Tool(
        "list_events",
        "events:read",
        "Lists events without payloads, newest first. With session_id and oldest_first it is the"
        " outline of a session.",
        ListEvents,
        _list,
    ),
    Tool(
        "read_transcript",
        "events:read",
        "Reads a session from its beginning, with payloads: messages, tool calls and results.",
        ReadTranscript,
        _transcript,
    ),
    Tool("read_event", "events:read", "Reads one event with its payload.", ReadEvent, _read),
    Tool(
        "count_errors",
        "events:read",
        "Counts the events that report a failure, in total and by type, tool, agent, user, version"
        " or model.",
        CountErrors,
        _errors,
    ),
    Tool(
        "measure_latency",
        "events:read",
        "Measures how long tools, models, hooks or people took: counts, failures and quantiles in"
        " milliseconds, in total and by name. Without `since` it looks at the 24 hours before"
        " `until`, which is now if it is left out.",
        MeasureLatency,
        _latency,
    ),
)

"""Request and response schemas of the routes that aggregate events."""

from typing import get_args

from marshmallow import Schema, validate

from shared.reading.events.error_summary import BINS, GROUPS, LARGEST_GROUPS
from shared.reading.events.filters import EventFilters
from shared.reading.events.latency.aggregate import EDGES_MS, OTHER
from shared.reading.events.latency.conditions import NONE
from shared.reading.events.latency.parameters import MAX_CONTAINS, MAX_PATHS, MAX_SUMS
from shared.reading.events.latency.query import (
    DEFAULT_PAIR_PATHS,
    DEFAULT_TYPES,
    MAX_BINS,
    SUM_FIELDS,
    LatencyFilters,
    Outcome,
    Rank,
)
from web import fields
from web.filters import filtered
from web.params import Limit
from web.statement import AsSql

_PATHS = (
    "A path is a column such as `tool_name`, or a dotted path into the payload such as"
    f" `input.city`; several, comma-separated, at most {MAX_PATHS}"
)


# So many keys are readable, and the answer stays small.
MAX_KEYS = 500


def _type(role: str, default: str) -> fields.Field:
    return fields.text(
        f"type of the {role} event; without both, `{default}`; one alone or"
        " twice the same is refused",
        optional=True,
        validate=validate.Length(1, 64),
    )


def _paths(description: str) -> fields.Field:
    return fields.values(f"{description}. {_PATHS}")


class _PairChoice(Schema):
    """The pairs that count."""

    start_event_type = _type("starting", DEFAULT_TYPES[0])
    end_event_type = _type("closing", DEFAULT_TYPES[1])
    outcome = fields.text(
        "`error`: only pairs whose closing event reports a failure; `success`: only the others",
        load_default="all",
        validate=validate.OneOf(get_args(Outcome)),
    )
    pair_key_paths = _paths(
        "path of the key that a start and its close share: the first path that both have;"
        f" default `{','.join(DEFAULT_PAIR_PATHS)}`"
    )
    distribution_key_paths = _paths(
        "path of the key of `distribution`: the first path that one of the two events has, the"
        " closing event's first; default `tool_name`, `model` or `hook_name` for starts of tools,"
        " models or hooks, else `agent_id`"
    )
    payload_contains = fields.values(
        "`key:text`: the payload's value at the path `key` contains the text, in"
        " any case, in one of a pair's events; several, comma-separated, must all match;"
        f" at most {MAX_CONTAINS}"
    )


class _Pairs(AsSql, _PairChoice):
    """The figures to return."""

    bin_count = fields.integer(
        "number of equal parts of the range", load_default=24, validate=validate.Range(1, MAX_BINS)
    )
    payload_sum_paths = fields.values(
        "`name:field`: the total of the closing events' field"
        f" ({', '.join(SUM_FIELDS)}) is returned as `sums.name`; several, comma-separated, at"
        f" most {MAX_SUMS}"
    )
    distribution_limit = fields.integer(
        "number of keys in `distribution`", load_default=10, validate=validate.Range(1, MAX_KEYS)
    )
    distribution_order = fields.text(
        "the figure that chooses the keys, the highest first",
        load_default="count",
        validate=validate.OneOf(get_args(Rank)),
    )


class _Calls(_PairChoice):
    """The latencies to list."""

    latency_from = fields.number("pairs that took at least so many milliseconds", optional=True)
    latency_to = fields.number("pairs that took less", optional=True)
    limit = Limit(default=100, cap=500)


LatencyAggregateQuery = filtered(LatencyFilters, _Pairs)
LatencyCallsQuery = filtered(LatencyFilters, _Calls)


def _count(description: str) -> fields.Field:
    return fields.integer(description)


def _latency(description: str) -> fields.Field:
    return fields.number(f"{description}, in ms; null without pairs", null=True)


def _moment(description: str) -> fields.Field:
    return fields.text(description, format="date-time")


class LatencyFigures(Schema):
    """Counts and latencies of some pairs. Quantiles are exact and interpolated."""

    count = _count("pairs")
    error_count = _count("pairs whose closing event reports a failure")
    p50 = _latency("median")
    p95 = _latency("95 % are shorter")
    p99 = _latency("99 % are shorter")
    max = _latency("longest")


class LatencyBin(LatencyFigures):
    """The pairs that start in one part of the range."""

    ts = _moment("start of the part")
    p10 = _latency("10 % are shorter")
    p25 = _latency("25 % are shorter")
    p75 = _latency("75 % are shorter")
    p90 = _latency("90 % are shorter")


class LatencyOfKey(LatencyFigures):
    """The pairs with one key."""

    key = fields.text(f"`{OTHER}`: all further keys; `{NONE}`: pairs without a key")


class LatencyBounds(Schema):
    """The range of time, from inclusive, to exclusive."""

    from_ = fields.text(data_key="from", format="date-time")
    to = fields.text(format="date-time")
    bin_ms = fields.number("milliseconds per bin")


class LatencyHeatmap(Schema):
    """The number of pairs of each bin in each of 12 fixed bands of latency."""

    edges_ms = fields.list_of(
        fields.integer(),
        f"the {len(EDGES_MS)} edges of the bands, in ms: {EDGES_MS[0]} to"
        f" {EDGES_MS[-1]}. Band n holds edges[n] <= latency < edges[n + 1]; the first also what"
        " is shorter, the last what is longer",
    )
    counts = fields.list_of(fields.list_of(fields.integer()), "the counts of the bands of each bin")


class LatencyEvents(Schema):
    """Events in the range that match the filters, whatever `outcome` is."""

    start = _count("starting events, paired or not")
    end = _count("closing events, paired or not")
    unpaired_start = _count("starting events without a close")


class LatencyAggregate(Schema):
    """Latencies over the whole range, by time, by band and by key."""

    bounds = fields.nested(LatencyBounds)
    bins = fields.rows(LatencyBin)
    heatmap = fields.nested(LatencyHeatmap)
    summary = fields.nested(LatencyFigures)
    events = fields.nested(LatencyEvents)
    sums = fields.mapping(
        "totals by their names in `payload_sum_paths`", keys=fields.text(), values=fields.integer()
    )
    distribution = fields.rows(
        LatencyOfKey,
        f"the 10 keys with most pairs, largest first, and `{OTHER}` last if there are more;"
        " `distribution_limit` and `distribution_order` choose other ones",
    )


class LatencyCall(Schema):
    """A pair."""

    ts = _moment("time of the start")
    session_id = fields.text()
    event_id = fields.integer("id of the starting event")
    key = fields.text(f"the key as in `distribution`; `{NONE}` without one")
    latency_ms = fields.number()
    is_error = fields.flag("the closing event reports a failure")


class LatencyCalls(Schema):
    """The longest pairs."""

    total = fields.integer("pairs that match")
    calls = fields.rows(LatencyCall, "the longest first")


class ErrorSummaryBounds(Schema):
    """The range of the bins, milliseconds since the epoch, from inclusive, to exclusive."""

    from_ms = _count("`ts_from`, else the first match; without any 24 hours before `to_ms`")
    to_ms = _count("`ts_to`, else just after the last match; without any now")


class _Grouping(AsSql):
    """The groups to count."""

    group_by = fields.text(
        "with it the answer has `groups`; `message` is the message with `<*>` for what varies, or"
        " the outcome without one; `user_id` and `agent_version` are its own, else its session's",
        optional=True,
        validate=validate.OneOf(GROUPS),
    )


ErrorSummaryQuery = filtered(EventFilters, _Grouping)


class ErrorGroup(Schema):
    """The events that report a failure and have one value."""

    key = fields.text(
        "null: those without a value; by message also those beyond the largest groups", null=True
    )
    total = _count("events")
    sessions = _count("sessions of these events")
    last_ts = fields.text("time of the last one", format="date-time")


class ErrorSummary(Schema):
    """The number of events that report a failure."""

    total = _count("events")
    sessions = _count("sessions of these events")
    agents = _count("agents of these events")
    last_ts = fields.text("time of the last one", null=True, format="date-time")
    bins = fields.list_of(fields.integer(), f"number in each of {BINS} equal parts of the bounds")
    bounds = fields.nested(ErrorSummaryBounds)
    groups = fields.rows(
        ErrorGroup, f"the {LARGEST_GROUPS} largest, with `group_by` only", required=False
    )

"""Turns the parameters of the latency aggregate into a query: forms, defaults, bounds."""

from collections.abc import Sequence
from datetime import UTC, datetime

from shared.foundation.core.clock import now_us, to_us
from shared.foundation.core.errors import Invalid
from shared.reading.events.families import NAMED
from shared.reading.events.latency.query import (
    DAY_US,
    DEFAULT_PAIR_PATHS,
    DEFAULT_TYPES,
    SUM_FIELDS,
    Contains,
    LatencyFilters,
    LatencyQuery,
    Outcome,
    Rank,
    SumField,
)

MAX_PATHS = 8
MAX_PATH_CHARS = 256
MAX_PATH_STEPS = 10
MAX_CONTAINS = 5
MAX_TEXT_CHARS = 256
MAX_SUMS = 10
MAX_NAME_CHARS = 64

# The path that distinguishes pairs, by the type of their start; by default the agent.
_DISTRIBUTION_PATHS = {family.start: (family.group,) for family in NAMED}
_FIRST_US = to_us(datetime.min.replace(tzinfo=UTC))


def latency_query(
    filters: LatencyFilters,
    *,
    start_event_type: str | None,
    end_event_type: str | None,
    bin_count: int,
    outcome: Outcome,
    pair_key_paths: list[str],
    distribution_key_paths: list[str],
    payload_contains: list[str],
    payload_sum_paths: list[str],
    distribution_limit: int = 10,
    distribution_order: Rank = "count",
) -> LatencyQuery:
    """Returns the query of these parameters, with defaults in place of empty ones.

    Raises `Invalid`, naming the parameter, for one event type without the other, two equal ones, a
    range that ends before it starts, and paths, texts and sums of another form or too many.
    """
    start_type, end_type = _types(start_event_type, end_event_type)
    start, stop = _range(filters)
    by_type = _DISTRIBUTION_PATHS.get(start_type, ("agent_id",))
    return LatencyQuery(
        start=start,
        stop=stop,
        start_type=start_type,
        end_type=end_type,
        bin_count=bin_count,
        outcome=outcome,
        filters=filters,
        pair_paths=_paths("pair_key_paths", pair_key_paths) or DEFAULT_PAIR_PATHS,
        distribution_paths=_paths("distribution_key_paths", distribution_key_paths) or by_type,
        contains=_contains(payload_contains),
        sums=_sums(payload_sum_paths),
        names=distribution_limit,
        names_by=distribution_order,
    )


def _types(start: str | None, end: str | None) -> tuple[str, str]:
    if start is None and end is None:
        return DEFAULT_TYPES
    if start is None:
        raise Invalid.field("start_event_type", "is required together with end_event_type")
    if end is None:
        raise Invalid.field("end_event_type", "is required together with start_event_type")
    if start == end:
        raise Invalid.field("end_event_type", "must differ from start_event_type")
    return start, end


def _range(filters: LatencyFilters) -> tuple[int, int]:
    stop = now_us() if filters.ts_to is None else to_us(filters.ts_to)
    start = max(stop - DAY_US, _FIRST_US) if filters.ts_from is None else to_us(filters.ts_from)
    if start >= stop:
        raise Invalid.field("ts_from", "must be before ts_to, which is now by default")
    return start, stop


def _paths(parameter: str, items: Sequence[str]) -> tuple[str, ...]:
    if len(items) > MAX_PATHS:
        raise Invalid.field(parameter, f"must have at most {MAX_PATHS} paths")
    if len(set(items)) < len(items):
        raise Invalid.field(parameter, "names a path twice")
    return tuple(_path(parameter, item) for item in items)


def _contains(items: Sequence[str]) -> tuple[Contains, ...]:
    name = "payload_contains"
    if len(items) > MAX_CONTAINS:
        raise Invalid.field(name, f"must have at most {MAX_CONTAINS} texts")
    found = []
    for item in items:
        path, colon, text = item.partition(":")
        if not colon or not text:
            raise Invalid.field(name, f"{_shown(item)} is not of the form key:text")
        if len(text) > MAX_TEXT_CHARS:
            raise Invalid.field(name, f"must have texts of at most {MAX_TEXT_CHARS} characters")
        found.append(Contains(_path(name, path), text))
    return tuple(found)


def _sums(items: Sequence[str]) -> dict[str, SumField]:
    parameter = "payload_sum_paths"
    if len(items) > MAX_SUMS:
        raise Invalid.field(parameter, f"must have at most {MAX_SUMS} sums")
    sums: dict[str, SumField] = {}
    for item in items:
        name, colon, wanted = item.rpartition(":")
        field = next((field for field in SUM_FIELDS if field == wanted), None)
        if not colon or not name or field is None:
            fields = ", ".join(SUM_FIELDS)
            reason = f"{_shown(item)} is not of the form name:field with a field of {fields}"
            raise Invalid.field(parameter, reason)
        if len(name) > MAX_NAME_CHARS:
            raise Invalid.field(
                parameter, f"must have names of at most {MAX_NAME_CHARS} characters"
            )
        if name in sums:
            raise Invalid.field(parameter, f"names {_shown(name)} twice")
        sums[name] = field
    return sums


def _path(parameter: str, path: str) -> str:
    steps = path.split(".")
    if len(path) > MAX_PATH_CHARS or len(steps) > MAX_PATH_STEPS:
        reason = (
            f"must have paths of at most {MAX_PATH_CHARS} characters and {MAX_PATH_STEPS} steps"
        )
        raise Invalid.field(parameter, reason)
    if not all(steps):
        raise Invalid.field(parameter, f"{_shown(path)} is not a dotted path like input.city")
    return path


def _shown(text: str) -> str:
    """Returns the text as an error shows it, shortened if it is long."""
    return repr(text if len(text) <= 80 else text[:80] + "…")

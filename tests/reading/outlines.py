"""Pairs of the events of an outline, found as its clients find them."""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tests.reading.latencies import quantile


class Outlined(NamedTuple):
    """An event of an outline; `t` in microseconds since the first one."""

    place: int
    t: int
    type: str
    agent: int
    pair: int
    duration_ms: int | None


def events_of(outline: dict[str, Any]) -> list[Outlined]:
    """Returns the events of one answer."""
    columns = outline["columns"]
    types = [outline["types"][place] for place in columns["type"]]
    values = zip(
        columns["t"], types, columns["agent"], columns["pair"], columns["duration_ms"], strict=True
    )
    return [Outlined(place, *row) for place, row in enumerate(values)]


def pairs(events: Sequence[Outlined], start: str, end: str) -> Iterator[tuple[Outlined, Outlined]]:
    """Yields the pairs of a family: a start and the close that belongs to it."""
    groups = defaultdict(list)
    for event in events:
        if event.type in (start, end):
            groups[event.pair, event.agent if event.pair == 0 else -1].append(event)
    for (key, _), members in groups.items():
        starts = [event for event in members if event.type == start]
        ends = [event for event in members if event.type == end]
        if key and len(starts) == len(ends) == 1:
            yield starts[0], ends[0]
            continue
        waiting = deque[Outlined]()
        for event in sorted(members, key=lambda one: (one.t, one.type == end, one.place)):
            if event.type == start:
                waiting.append(event)
            elif waiting:
                yield waiting.popleft(), event


def latency(first: Outlined, second: Outlined) -> float:
    """Returns the latency of a pair in milliseconds."""
    if second.duration_ms is not None:
        return second.duration_ms
    return max(second.t - first.t, 0) / 1000


def figures(latencies: Sequence[float]) -> dict[str, float | int | None]:
    """Returns what the latency aggregate says about these pairs."""
    ascending = sorted(latencies)
    return {
        "count": len(ascending),
        "p50": quantile(ascending, 0.5),
        "p95": quantile(ascending, 0.95),
    }

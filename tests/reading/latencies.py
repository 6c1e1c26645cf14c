"""The latency aggregate, computed in the slow and obvious way from the events of an export."""

import json
import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

EDGES = [1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000]
NAMES = "tool_name tool_call_id hook_name hook_id trigger_event input_id pause_id request_id"
TEXTS = {*NAMES.split(), "error_type", "parent_id", "outcome"}
FAILURES = {"failed", "failure", "error", "timeout", "rejected", "denied", "blocked"}


@dataclass(frozen=True)
class Event:
    """An event of an export. `place` is its position there."""

    place: int
    at: datetime
    payload: dict[str, Any]

    @classmethod
    def of_line(cls, line: bytes, place: int = 0) -> "Event":
        """Returns the event of a line as it was sent."""
        payload = json.loads(line)
        return cls(place, datetime.fromisoformat(payload["timestamp"]), payload)

    @property
    def type(self) -> str:
        """Its type."""
        return str(self.payload["type"])

    @property
    def session(self) -> str:
        """Its session."""
        return str(self.payload["session_id"])

    @property
    def is_error(self) -> bool:
        """Whether it reports a failure."""
        if self.type == "error" or self.payload.get("error") not in (None, False, ""):
            return True
        may_fail = self.type in ("agent_end", "tool_result", "hook_completed")
        return may_fail and self.payload.get("outcome") in FAILURES

    def number(self, name: str) -> int | None:
        """Returns a numeric field."""
        value = self.payload.get(name)
        return value if type(value) is int and 0 <= value < 2**32 else None

    def text(self, path: str) -> str:
        """Returns the text at a path, or '' if there is none."""
        if path == "agent_id":
            return str(self.payload.get("agent_id", "main"))
        if path == "environment":
            return str(self.payload.get("environment", "default"))
        if path == "event_type":
            return self.type
        if path == "model":
            return self._string("model") or self._string("model_name")
        if path in TEXTS:
            return self._string(path)
        value: Any = self.payload
        for step in path.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        if value is None or isinstance(value, str):
            return value or ""
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    def _string(self, name: str) -> str:
        value = self.payload.get(name)
        return value if isinstance(value, str) else ""


@dataclass
class Wanted:
    """A request, in the API's terms."""

    since: datetime
    until: datetime
    start: str = "tool_use"
    end: str = "tool_result"
    bin_count: int = 24
    outcome: str = "all"
    keys: Sequence[str] = ("tool_call_id", "request_id", "hook_id", "id")
    names: Sequence[str] = ("tool_name",)
    sums: dict[str, str] = field(default_factory=dict)
    filters: Sequence[Callable[[Event], bool]] = ()


@dataclass
class Pair:
    """A start and its close. One of them is None if it has no partner."""

    first: Event | None
    second: Event | None

    @property
    def events(self) -> list[Event]:
        """The events that exist."""
        return [event for event in (self.first, self.second) if event is not None]

    def latency(self) -> float:
        """The latency in milliseconds."""
        assert self.first is not None
        assert self.second is not None
        told = self.second.number("duration_ms")
        between = (self.second.at - self.first.at) / timedelta(milliseconds=1)
        return max(between, 0) if told is None else told

    def name(self, paths: Iterable[str]) -> str:
        """Returns the pair's key in the distribution."""
        assert self.first is not None
        assert self.second is not None
        for path in paths:
            for event in (self.second, self.first):
                if 0 < len(event.text(path).encode()) <= 1024:
                    return event.text(path)
        return "(none)"


def aggregate(events: Iterable[Event], wanted: Wanted) -> dict[str, Any]:
    """Returns the answer of GET /events/latency_aggregate."""
    found = [
        pair
        for pair in _all_pairs(events, wanted)
        if all(any(holds(event) for event in pair.events) for holds in wanted.filters)
    ]
    begun = [pair for pair in found if pair.first and _inside(pair.first, wanted)]
    ended = [pair for pair in found if pair.second and _inside(pair.second, wanted)]
    pairs = [pair for pair in begun if pair.second and _has_outcome(pair.second, wanted.outcome)]
    whole = wanted.until - wanted.since
    bins: list[list[Pair]] = [[] for _ in range(wanted.bin_count)]
    by_name = defaultdict(list)
    for pair in pairs:
        assert pair.first is not None
        bins[(pair.first.at - wanted.since) * wanted.bin_count // whole].append(pair)
        by_name[pair.name(wanted.names)].append(pair)
    return {
        "bounds": {
            "from": _written(wanted.since),
            "to": _written(wanted.until),
            "bin_ms": whole / timedelta(milliseconds=1) / wanted.bin_count,
        },
        "bins": [
            {
                # Rounded up to the first microsecond of the bin.
                "ts": _written(wanted.since - -number * whole // wanted.bin_count),
                **figures(inside, (10, 25, 50, 75, 90, 95, 99)),
            }
            for number, inside in enumerate(bins)
        ],
        "heatmap": {"edges_ms": EDGES, "counts": [_bands(inside) for inside in bins]},
        "summary": figures(pairs, (50, 95, 99)),
        "events": {
            "start": len(begun),
            "end": len(ended),
            "unpaired_start": sum(pair.second is None for pair in begun),
        },
        "sums": {
            name: sum(pair.second.number(of) or 0 for pair in pairs if pair.second)
            for name, of in wanted.sums.items()
        },
        "distribution": _distribution(by_name),
    }


def figures(pairs: Sequence[Pair], percents: Sequence[int]) -> dict[str, Any]:
    """Returns counts, quantiles and the longest latency."""
    latencies = sorted(pair.latency() for pair in pairs)
    return {
        "count": len(pairs),
        "error_count": sum(pair.second is not None and pair.second.is_error for pair in pairs),
        **{f"p{percent}": quantile(latencies, percent / 100) for percent in percents},
        "max": latencies[-1] if latencies else None,
    }


def quantile(ascending: Sequence[float], level: float) -> float | None:
    """Returns the value at a level from 0 (first) to 1 (last), interpolated between neighbours."""
    if not ascending:
        return None
    place = level * (len(ascending) - 1)
    below, above = ascending[math.floor(place)], ascending[math.ceil(place)]
    return below + (above - below) * (place - math.floor(place))


def _all_pairs(events: Iterable[Event], wanted: Wanted) -> list[Pair]:
    """Returns the pairs of every session, and the events without a partner."""
    sessions = defaultdict(list)
    for event in events:
        near = wanted.since - timedelta(hours=1) <= event.at < wanted.until + timedelta(days=1)
        if event.type in (wanted.start, wanted.end) and near:
            sessions[event.session].append(event)
    return [pair for found in sessions.values() for pair in _pairs(found, wanted)]


def _pairs(events: list[Event], wanted: Wanted) -> list[Pair]:
    """Returns the pairs of one session."""
    starts = [event for event in events if event.type == wanted.start]
    ends = [event for event in events if event.type == wanted.end]
    paths = [
        path
        for path in wanted.keys
        if any(event.text(path) for event in starts) and any(event.text(path) for event in ends)
    ]
    groups = defaultdict(list)
    for event in events:
        others = ends if event.type == wanted.start else starts
        own = [path for path in paths if event.text(path)]
        shared = [
            path for path in own if any(event.text(path) == other.text(path) for other in others)
        ]
        path = [*shared, *own, ""][0]
        groups[path, event.text(path or "agent_id")].append(event)
    found = []
    for (path, _), members in groups.items():
        for pair in _in_order(members, wanted, is_keyed=bool(path)):
            if _differ_before(path, paths, pair):
                found += [Pair(pair.first, None), Pair(None, pair.second)]
            else:
                found.append(pair)
    return found


def _in_order(events: list[Event], wanted: Wanted, *, is_keyed: bool) -> list[Pair]:
    """Pairs each close with the oldest open start."""
    starts = [event for event in events if event.type == wanted.start]
    ends = [event for event in events if event.type == wanted.end]
    if is_keyed and len(starts) == len(ends) == 1:
        return [Pair(starts[0], ends[0])]
    found, waiting = [], deque[Event]()
    for event in sorted(events, key=lambda one: (one.at, one.type == wanted.end, one.place)):
        if event.type == wanted.start:
            waiting.append(event)
        else:
            found.append(Pair(waiting.popleft() if waiting else None, event))
    return found + [Pair(event, None) for event in waiting]


def _differ_before(path: str, paths: Sequence[str], pair: Pair) -> bool:
    """Returns whether both events have a value at an earlier path, and the values differ."""
    if not path or pair.first is None or pair.second is None:
        return False
    for earlier in paths[: paths.index(path)]:
        values = {pair.first.text(earlier), pair.second.text(earlier)}
        if len(values) == 2 and "" not in values:
            return True
    return False


def _inside(event: Event, wanted: Wanted) -> bool:
    return wanted.since <= event.at < wanted.until


def _has_outcome(end: Event, outcome: str) -> bool:
    return outcome == "all" or end.is_error is (outcome == "error")


def _bands(pairs: Sequence[Pair]) -> list[int]:
    bands = [0] * 12
    for pair in pairs:
        latency = min(max(pair.latency(), EDGES[0]), EDGES[-1] - 1)
        [band] = [n for n in range(12) if EDGES[n] <= latency < EDGES[n + 1]]
        bands[band] += 1
    return bands


def _distribution(by_name: dict[str, list[Pair]]) -> list[dict[str, Any]]:
    names = sorted(by_name, key=lambda name: (-len(by_name[name]), name))
    rows = [{"key": name, **figures(by_name[name], (50, 95, 99))} for name in names[:10]]
    if names[10:]:
        rest = [pair for name in names[10:] for pair in by_name[name]]
        rows.append({"key": "(other)", **figures(rest, (50, 95, 99))})
    return rows


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

"""Stored events, and conditions on their sessions decided in Python, one session at a time."""

import hashlib
import itertools
import json
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from typing import Any

from shared.evaluation.evaluators.conditions.nodes import AllOf, AnyOf, Condition, Leaf, Negation
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.rewriting import FIRST_VERSION
from shared.foundation.core.clock import to_us
from shared.intake.ingest import store
from shared.intake.ingest.batch import Batch
from shared.intake.ingest.rows import columns_of
from shared.intake.ingest.rules import IngestRules

Event = dict[str, Any]

# A batch a millisecond, from 2026-11-02T10:00:00Z on.
_arrivals = itertools.count(1_793_613_600_000 << 21, 1 << 21)
_COMPARED = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
}
_COLUMNS = {
    "event_types": "event_type",
    "tool_names": "tool_name",
    "models": "model",
    "hook_names": "hook_name",
    "error_types": "error_type",
}


def store_lines(clickhouse: ClickHouse, org_id: str, lines: Sequence[bytes]) -> list[Event]:
    """Stores events as ingest does, as one batch; returns the rows, a dictionary of columns each.

    Batches arrive in the order of the calls.
    """
    first = next(_arrivals)
    fields = [json.loads(line) for line in lines]
    ids = [hashlib.blake2b(line, digest_size=8).digest() for line in lines]
    batch = Batch(
        [int.from_bytes(one, "big") >> 11 for one in ids],
        [to_us(datetime.fromisoformat(one["timestamp"])) for one in fields],
        [first + place for place in range(len(lines))],
        [one["session_id"] for one in fields],
        [one.get("agent_id", "main") for one in fields],
        [one["type"] for one in fields],
        [one.get("environment", "default") for one in fields],
        list(lines),
    )
    columns = columns_of(org_id, batch, IngestRules())
    store.insert(clickhouse, columns)
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def write_again(clickhouse: ClickHouse, event: Event, **changed: object) -> Event:
    """Stores a newer copy of one event, with other values in columns that may be written again."""
    newer = {**event, **changed, "version": FIRST_VERSION}
    given = {name: [value] for name, value in newer.items() if value is not None}
    clickhouse.insert("events", given)
    return newer


@dataclass(frozen=True)
class SessionEvents:
    """The events of one session in order, each once."""

    events: tuple[Event, ...]

    @cached_property
    def root(self) -> str:
        """The agent of the first agent_start, else of the first event."""
        starts = [one for one in self.events if one["event_type"] == "agent_start"]
        return str((starts or self.events)[0]["agent_id"])

    @cached_property
    def ends(self) -> list[Event]:
        """The ends of the root agent."""
        of_root = [one for one in self.events if one["agent_id"] == self.root]
        return [one for one in of_root if one["event_type"] == "agent_end"]

    def value(self, field: str) -> Any:
        """Returns the value of a field that has one: a text, a number or a boolean."""
        events = self.events
        if field == "environment":
            return events[0]["environment"]
        if field == "agent_id":
            return self.root
        if field == "outcome":
            return ((self.ends[-1]["outcome"] if self.ends else None) or "").lower()
        if field == "ended":
            return bool(self.ends)
        if field == "duration_secs":
            return (events[-1]["ts"] - events[0]["ts"]) / 1_000_000
        if field == "event_count":
            return len(events)
        if field == "agent_count":
            return len({one["agent_id"] for one in events})
        if field == "error_count":
            return sum(one["is_error"] for one in events)
        if field == "tool_failures":
            return sum(one["is_error"] and one["event_type"] == "tool_result" for one in events)
        return sum(one[field] or 0 for one in events)

    def texts(self, field: str) -> set[str]:
        """Returns the values that occur."""
        column = _COLUMNS.get(field, "agent_id")
        return {one[column] for one in self.events} - {None}

    def holds(self, leaf: Leaf) -> bool:
        """Returns whether a comparison is true."""
        field, wanted = leaf.field, leaf.value
        if field == "session_id":
            return str(self.events[0]["session_id"]).startswith(str(wanted))
        if field == "payload":
            return any(_contains(one["payload"], str(wanted)) for one in self.events)
        if leaf.op in ("in", "not_in"):
            assert isinstance(wanted, tuple)
            named = [one.lower() if field == "outcome" else one for one in wanted]
            return (self.value(field) in named) == (leaf.op == "in")
        if leaf.op in ("any_of", "all_of", "none_of"):
            assert isinstance(wanted, tuple)
            found = self.texts(field) & set(wanted)
            return {"any_of": bool(found), "all_of": found == set(wanted), "none_of": not found}[
                leaf.op
            ]
        if leaf.op == "is":
            return bool(self.value(field) == wanted)
        return bool(_COMPARED[leaf.op](self.value(field), wanted))

    def against(self, condition: Condition, *, wanted: bool = True) -> Leaf | None:
        """Returns the first leaf by which the condition is not as `wanted`, None if it is."""
        match condition:
            case Leaf():
                return None if self.holds(condition) == wanted else condition
            case Negation(part):
                return self.against(part, wanted=not wanted)
            case AllOf(parts) | AnyOf(parts):
                found = [self.against(part, wanted=wanted) for part in parts]
                # One part is enough to end all of `all`, or to make `any` hold.
                one_decides = isinstance(condition, AllOf) == wanted
                if one_decides or None not in found:
                    return next((leaf for leaf in found if leaf), None)
                return None


def by_session(rows: Iterable[Event]) -> dict[str, SessionEvents]:
    """Returns the sessions by id. Of copies the newest version counts, else the first arrival."""
    kept: dict[tuple[str, int, int], Event] = {}
    for row in sorted(rows, key=lambda one: (-one.get("version", 0), one["arrival"])):
        kept.setdefault((row["session_id"], row["ts"], row["id"]), row)
    found: dict[str, list[Event]] = {}
    for row in sorted(kept.values(), key=lambda one: (one["ts"], one["arrival"], one["id"])):
        found.setdefault(row["session_id"], []).append(row)
    return {name: SessionEvents(tuple(events)) for name, events in found.items()}


def _contains(payload: bytes, needle: str) -> bool:
    return needle.lower() in _searched(payload)


@cache
def _searched(payload: bytes) -> str:
    """Returns all keys and values in lower case; no needle has the character between them."""
    decoded = json.loads(payload, parse_int=str, parse_float=str)
    return "\0".join(text.lower() for text in _texts(decoded))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, str):
        yield value
    else:
        yield json.dumps(value)

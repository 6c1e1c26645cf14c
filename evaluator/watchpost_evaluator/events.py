"""The events of a session, and the calls that pairs of them make."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

# As Watchpost decides it when it stores an event.
FAILURES = frozenset({"failed", "failure", "error", "timeout", "rejected", "denied", "blocked"})
_WITH_OUTCOME = frozenset({"agent_end", "tool_result", "hook_completed"})
_LARGEST_COUNT = 2**32 - 1

_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?(?:[Zz]|([+-])(\d\d):?(\d\d))"
)


def moment(text: object) -> datetime:
    """Returns the moment of an RFC 3339 text, in UTC. Raises `ValueError`."""
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"{text!r} is no time with a zone, such as 2026-11-01T08:00:00Z")
    day, clock, fraction, sign, hours, minutes = match.groups()
    micros = (fraction or "").ljust(6, "0")
    read = datetime.strptime(f"{day}T{clock}.{micros}+0000", "%Y-%m-%dT%H:%M:%S.%f%z")
    ahead = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    return (read + ahead if sign == "-" else read - ahead).astimezone(timezone.utc)


@dataclass(frozen=True)
class Event:
    """A stored event. `at`: in UTC. `payload`: the event as it was sent."""

    id: int | str
    at: datetime
    type: str
    payload: Mapping[str, Any]

    @property
    def agent_id(self) -> str:
        """Returns the agent; an event without one belongs to `main`."""
        agent = self.payload.get("agent_id")
        return agent if isinstance(agent, str) and agent else "main"

    @property
    def failed(self) -> bool:
        """Returns whether the event reports a failure."""
        if self.type == "error" or _is_error(self.payload.get("error")):
            return True
        return self.type in _WITH_OUTCOME and self.text("outcome") in FAILURES

    def count(self, name: str) -> int | None:
        """Returns a whole number of the payload, such as `input_tokens`; None if it is none."""
        value = self.payload.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value // 1:
            return None
        return int(value) if 0 <= value <= _LARGEST_COUNT else None

    def text(self, name: str) -> str | None:
        """Returns a text of the payload, None if the field is no text."""
        value = self.payload.get(name)
        return value if isinstance(value, str) else None


def _is_error(error: object) -> bool:
    return error is not None and error is not False and error != ""


@dataclass(frozen=True)
class Call:
    """A start and its end; one of them may be missing."""

    start: Event | None
    end: Event | None

    @property
    def events(self) -> tuple[Event, ...]:
        """Returns the one or two events."""
        return tuple(event for event in (self.start, self.end) if event is not None)

    @property
    def at(self) -> datetime:
        """Returns when it began, or ended if its start is missing."""
        return self.events[0].at

    @property
    def agent_id(self) -> str:
        """Returns the agent that made the call."""
        return self.events[0].agent_id

    @property
    def failed(self) -> bool:
        """Returns whether the end reports a failure. A call without an end did not fail."""
        return self.end is not None and self.end.failed

    @property
    def error(self) -> Any:
        """Returns the error as it was sent, None without one."""
        error = self._of_end("error")
        return error if _is_error(error) else None

    @property
    def duration_ms(self) -> float | None:
        """Returns the milliseconds that the end names, or those between both events."""
        if self.end is None:
            return None
        named = self.end.count("duration_ms")
        if named is not None or self.start is None:
            return named
        return max(0.0, (self.end.at - self.start.at) / timedelta(milliseconds=1))

    def _of_start(self, name: str) -> Any:
        return None if self.start is None else self.start.payload.get(name)

    def _of_end(self, name: str) -> Any:
        return None if self.end is None else self.end.payload.get(name)

    def _text(self, *names: str) -> str:
        found = (event.text(name) for event in self.events for name in names)
        return next((text for text in found if text), "")


class ToolCall(Call):
    """A `tool_use` and its `tool_result`. `input` and `output` are as they were sent."""

    @property
    def name(self) -> str:
        """Returns the tool's name, "" without one."""
        return self._text("tool_name")

    @property
    def input(self) -> Any:
        """Returns what the tool was given."""
        return self._of_start("input")

    @property
    def output(self) -> Any:
        """Returns what the tool answered, None without an end."""
        return self._of_end("output")


class ModelCall(Call):
    """A `model_request` and its `model_response`."""

    @property
    def model(self) -> str:
        """Returns the model's name, "" without one."""
        return self._text("model", "model_name")

    @property
    def messages(self) -> Any:
        """Returns the messages of the request."""
        return self._of_start("messages")

    @property
    def content(self) -> Any:
        """Returns what the model said."""
        return self._of_end("content")

    @property
    def stop_reason(self) -> Any:
        """Returns why the model ended."""
        return self._of_end("stop_reason")

    @property
    def input_tokens(self) -> int | None:
        """Returns the tokens that the model read, None if nobody counted."""
        return None if self.end is None else self.end.count("input_tokens")

    @property
    def output_tokens(self) -> int | None:
        """Returns the tokens that the model wrote, None if nobody counted."""
        return None if self.end is None else self.end.count("output_tokens")


class Pairing(NamedTuple):
    """The types of the two events of a call, and their field with the call's id."""

    start: str
    end: str
    key: str
    name: str


TOOLS = Pairing("tool_use", "tool_result", "tool_call_id", "tool_name")
MODELS = Pairing("model_request", "model_response", "request_id", "model")


def paired(events: Iterable[Event], pairing: Pairing) -> list[tuple[Event | None, Event | None]]:
    """Returns the pairs in the order of their first events.

    An end belongs to the oldest start before it with its id. Without an id it belongs to the oldest
    one without an id of its agent and name.
    """
    pairs: list[list[Event | None]] = []
    waiting: defaultdict[tuple[str, ...], deque[list[Event | None]]] = defaultdict(deque)
    for event in events:
        if event.type not in (pairing.start, pairing.end):
            continue
        call_id = event.text(pairing.key)
        key = (call_id,) if call_id else (event.agent_id, event.text(pairing.name) or "")
        if event.type == pairing.start:
            pairs.append([event, None])
            waiting[key].append(pairs[-1])
        elif waiting[key]:
            waiting[key].popleft()[1] = event
        else:
            pairs.append([None, event])
    return [(start, end) for start, end in pairs]

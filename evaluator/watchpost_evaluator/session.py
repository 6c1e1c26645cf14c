"""A session as evaluators see it, made of any form in which Watchpost gives one out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from functools import cached_property
from typing import Any, NamedTuple

from watchpost_evaluator.errors import BadSession
from watchpost_evaluator.events import (
    MODELS,
    TOOLS,
    Event,
    ModelCall,
    ToolCall,
    moment,
    paired,
)
from watchpost_evaluator.turns import ROLES, Turn, matching, turns_of

_FIRST_MOMENT = datetime(2026, 1, 1, tzinfo=timezone.utc)


class Tokens(NamedTuple):
    """The tokens of all answers of models."""

    input: int
    output: int

    @property
    def total(self) -> int:
        """Returns both together."""
        return self.input + self.output


class Session:
    """A session. `ended_at`: when its root agent ended last, None if it did not.

    `events` are in their order, oldest first.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        """Reads an export (`GET /v1/sessions/{id}/export?format=json`), or a request of Watchpost.

        Events that a person writes may be as they are sent, with `type` and without an id; those
        without `timestamp` are a second apart. Raises `BadSession` that names the wrong field.
        """
        events = _field(document, "events", list)
        self.events = tuple(_event(one, place) for place, one in enumerate(events))
        first = self.events[0] if self.events else None
        sent = first.payload if first is not None else {}
        self.id = _text(document, "session_id") or str(sent.get("session_id") or "session")
        self.environment = _text(document, "environment") or str(
            sent.get("environment") or "default"
        )
        self.agent_id = _text(document, "agent_id") or _root(self.events)
        self.started_at = _moment(document, "started_at") or (
            _FIRST_MOMENT if first is None else first.at
        )
        self.ended_at = (
            _moment(document, "ended_at")
            if "ended_at" in document
            else max((end.at for end in self._ends()), default=None)
        )

    def __repr__(self) -> str:
        """Returns a short form for messages of tests."""
        return f"<Session {self.id}: {len(self.events)} events>"

    @property
    def goal(self) -> str | None:
        """Returns the goal of the root agent's first start that has one."""
        starts = (one for one in self.events if one.type == "agent_start")
        goals = (one.text("goal") for one in starts if one.agent_id == self.agent_id)
        return next((goal for goal in goals if goal), None)

    @property
    def outcome(self) -> str | None:
        """Returns the outcome of the root agent's last end in small letters, None without one."""
        ends = self._ends()
        outcome = ends[-1].text("outcome") if ends else None
        return outcome.strip().lower() if outcome else None

    @property
    def duration_secs(self) -> float:
        """Returns the seconds between the first and the last event."""
        if not self.events:
            return 0.0
        times = [event.at for event in self.events]
        return (max(times) - min(times)) / timedelta(seconds=1)

    @cached_property
    def tokens(self) -> Tokens:
        """The sums over all events that have `input_tokens` or `output_tokens`."""
        return Tokens(
            sum(event.count("input_tokens") or 0 for event in self.events),
            sum(event.count("output_tokens") or 0 for event in self.events),
        )

    def turns(self, agent: str | None = None) -> list[Turn]:
        """Returns who said what, in order, and what tools did; or what one agent said and did.

        Of the messages of a request only what is new, as the pages of Watchpost show it.
        """
        return [turn for turn in self._turns if agent in (None, turn.agent_id)]

    def text(self, role: str | None = None) -> str:
        """Returns the words of the turns, or of those with this role, each on lines of its own."""
        return "\n".join(turn.words for turn in self._of_role(role) if turn.words)

    def find(self, regex: str | re.Pattern[str], role: str | None = None) -> list[Turn]:
        """Returns the turns, or those with this role, in whose words `regex` is found."""
        return matching(self._of_role(role), regex)

    def tool_calls(self, name: str | None = None, failed: bool | None = None) -> list[ToolCall]:
        """Returns the calls of tools, or those with this name and this `failed`."""
        return [
            call
            for call in self._tool_calls
            if name in (None, call.name) and failed in (None, call.failed)
        ]

    def model_calls(self) -> list[ModelCall]:
        """Returns the calls of models."""
        return list(self._model_calls)

    def errors(self) -> list[Event]:
        """Returns the events that report a failure."""
        return [event for event in self.events if event.failed]

    def agents(self) -> list[str]:
        """Returns the agents in the order in which they appear."""
        return list(dict.fromkeys(event.agent_id for event in self.events))

    def count(self, type: str) -> int:  # noqa: A002 the word that events use
        """Returns the number of events of a type."""
        return sum(event.type == type for event in self.events)

    def _of_role(self, role: str | None) -> list[Turn]:
        if role is not None and role not in ROLES:
            raise ValueError(f"{role!r} is no role; there are {', '.join(ROLES)}")
        return [turn for turn in self._turns if role in (None, turn.role)]

    @cached_property
    def _turns(self) -> tuple[Turn, ...]:
        return turns_of(self.events)

    @cached_property
    def _tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(ToolCall(start, end) for start, end in paired(self.events, TOOLS))

    @cached_property
    def _model_calls(self) -> tuple[ModelCall, ...]:
        return tuple(ModelCall(start, end) for start, end in paired(self.events, MODELS))

    def _ends(self) -> list[Event]:
        ends = (one for one in self.events if one.type == "agent_end")
        return [one for one in ends if one.agent_id == self.agent_id]


def read_session(content: bytes) -> Session:
    """Reads a session of a file: an export as JSON or as lines of JSON, or events one a line.

    Raises `BadSession` that says what is wrong.
    """
    try:
        document = json.loads(content)
    except ValueError:
        lines = enumerate(content.splitlines(), 1)
        document = {"events": [_line(number, line) for number, line in lines if line.strip()]}
    return session_of(document)


def session_of(document: object) -> Session:
    """Returns the session of an export, or of a list of events. Raises `BadSession`."""
    if isinstance(document, list):
        document = {"events": document}
    if not isinstance(document, Mapping):
        raise BadSession("a session is an object with events, or a list of events")
    if "events" not in document and {"type", "event_type"} & document.keys():
        document = {"events": [document]}
    return Session(document)


def _line(number: int, line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise BadSession(f"line {number} is not JSON: {error}") from None


def _event(given: Any, place: int) -> Event:
    """Reads a stored event, or one as it is sent."""
    where = f"events[{place}]"
    if not isinstance(given, Mapping):
        raise BadSession(f"{where} is no object")
    stored = isinstance(given.get("payload"), Mapping) and "event_type" in given
    event_type = given.get("event_type" if stored else "type")
    if not isinstance(event_type, str):
        raise BadSession(f"{where} has no type")
    at = given.get("ts" if stored else "timestamp")
    try:
        read = _FIRST_MOMENT + timedelta(seconds=place) if at is None else moment(at)
    except ValueError as error:
        raise BadSession(f"{where}: {error}") from None
    return Event(
        _event_id(given, stored, place), read, event_type, given["payload"] if stored else given
    )


def _event_id(given: Mapping[str, Any], stored: bool, place: int) -> int | str:
    """Returns the id; workers of a pool get the numbers as texts."""
    if not stored:
        return place + 1
    named = given.get("id")
    if isinstance(named, str) and named.isascii() and named.isdigit():
        return int(named)
    if isinstance(named, bool) or not isinstance(named, (int, str)):
        raise BadSession(f"events[{place}] has no id")
    return named


def _root(events: Sequence[Event]) -> str:
    starts: Iterable[Event] = (event for event in events if event.type == "agent_start")
    first = next(iter(starts), None) or (events[0] if events else None)
    return first.agent_id if first is not None else "main"


def _field(document: Mapping[str, Any], name: str, kind: type) -> Any:
    value = document.get(name)
    if not isinstance(value, kind):
        raise BadSession(f"the session has no {name}")
    return value


def _text(document: Mapping[str, Any], name: str) -> str | None:
    value = document.get(name)
    if value is not None and not isinstance(value, str):
        raise BadSession(f"{name} of the session is no text")
    return value


def _moment(document: Mapping[str, Any], name: str) -> datetime | None:
    value = document.get(name)
    try:
        return None if value is None else moment(value)
    except ValueError as error:
        raise BadSession(f"{name}: {error}") from None

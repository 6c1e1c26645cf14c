"""The turns of a session: who said what, in order, and what tools did."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import NamedTuple

from watchpost_evaluator._turns import turns
from watchpost_evaluator.events import Event

ROLES = ("goal", "system", "user", "assistant", "tool", "hook", "error", "end")


class TurnTool(NamedTuple):
    """The call of a turn of the role `tool`; texts are "" if absent."""

    name: str
    call_id: str
    input: str
    output: str
    failed: bool
    duration_ms: float | None


@dataclass(frozen=True)
class Turn:
    """A turn as `GET /v1/sessions/{id}/turns` has it, but whole: `cut` is 0.

    `text` of a tool's turn is its error. `reasoning` is what the model thought before.
    """

    n: int
    role: str
    agent_id: str
    at: datetime
    text: str
    reasoning: str
    tool: TurnTool | None
    event_ids: tuple[int | str, ...]
    cut: int = 0

    @property
    def ts(self) -> str:
        """Returns the moment of its first event as a text."""
        return self.at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    @property
    def words(self) -> str:
        """Returns all its text: of a tool what it was given, its output and its error."""
        if self.tool is None:
            return self.text
        return "\n".join(filter(None, (self.tool.input, self.tool.output, self.text)))


def turns_of(events: Iterable[Event]) -> tuple[Turn, ...]:
    """Returns the turns of a session's events."""
    rows = turns(
        {"id": one.id, "ts": one.at, "event_type": one.type, "payload": one.payload}
        for one in events
    )
    return tuple(
        Turn(
            row["n"],
            row["role"],
            row["agent_id"],
            row["ts"],
            row["text"],
            row["reasoning"],
            None if row["tool"] is None else TurnTool(**row["tool"]),
            tuple(row["event_ids"]),
        )
        for row in rows
    )


def matching(found: Iterable[Turn], pattern: str | re.Pattern[str]) -> list[Turn]:
    """Returns the turns in whose words the pattern is found."""
    compiled = re.compile(pattern)
    return [turn for turn in found if compiled.search(turn.words)]

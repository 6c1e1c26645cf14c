"""The script of one session of the demonstration: the events of an agent at work, in order."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from devstack.up.profiles import Profile

Event = dict[str, Any]


@dataclass
class Script:
    """The events of a session. Its clock is simulated: it ends when the last event happened.

    `finished` False leaves out `agent_end`, as in a session that still runs.
    """

    session_id: str
    profile: Profile
    environment: str
    dice: random.Random
    finished: bool
    _elapsed: timedelta = timedelta()
    _calls: int = 0

    def events(self, ended_at: datetime) -> list[Event]:
        """Returns all events, oldest first, the last one at `ended_at`."""
        timed = [(self._elapsed, event) for event in self._play()]
        return [self._stamped(ended_at - (self._elapsed - at), event) for at, event in timed]

    def _play(self) -> Iterator[Event]:
        profile, dice = self.profile, self.dice
        yield self._event("agent_start", goal=dice.choice(profile.goals))
        turns = dice.randint(*profile.turns)
        for turn in range(turns):
            yield from self._model_call(last=turn == turns - 1)
            if turn < turns - 1:
                yield from self._tool_call(dice.choice(profile.tools))
            if profile.helper and turn == turns // 2:
                yield from self._help(profile.helper)
        if dice.random() < 0.15:
            yield self._event("error", error_type="RateLimitError", message="429 from the provider")
        if self.finished:
            good = dice.random() < profile.success_rate
            yield self._event(
                "agent_end",
                outcome="success" if good else dice.choice(("failed", "timeout")),
                summary="Did what was asked." if good else "Gave up: a tool kept failing.",
            )

    def _model_call(self, *, last: bool) -> Iterator[Event]:
        request_id = self._next_id("req")
        asked = self.dice.randint(400, 6000)
        answered = self.dice.randint(40, 700)
        yield self._event(
            "model_request",
            model=self.profile.model,
            request_id=request_id,
            messages=[{"role": "user", "content": f"(about {asked} tokens of conversation)"}],
            tools=list(self.profile.tools),
        )
        yield self._event(
            "model_response",
            after_ms=answered * 9,
            model=self.profile.model,
            request_id=request_id,
            stop_reason="end_turn" if last else "tool_use",
            input_tokens=asked,
            output_tokens=answered,
            role="assistant",
            content="Here is the result." if last else "Let me look that up.",
        )

    def _tool_call(self, tool: str) -> Iterator[Event]:
        call_id = self._next_id("call")
        guarded = self.dice.random() < 0.15
        if guarded:
            yield from self._hook(call_id)
        yield self._event(
            "tool_use", tool_name=tool, tool_call_id=call_id, input={"query": f"{tool} {call_id}"}
        )
        failed = self.dice.random() < self.profile.tool_failure_rate
        result: Event = {"error": self.profile.tool_error} if failed else {"output": "3 rows found"}
        yield self._event(
            "tool_result",
            after_ms=round(self.dice.randint(20, 4000) * self.profile.slowness),
            tool_name=tool,
            tool_call_id=call_id,
            **result,
        )

    def _hook(self, call_id: str) -> Iterator[Event]:
        hook: Event = {"hook_name": "policy-check", "hook_id": f"hook-{call_id}"}
        yield self._event("hook_triggered", trigger_event="pre_tool_use", **hook)
        yield self._event("hook_completed", after_ms=12, outcome="allowed", **hook)

    def _help(self, helper: str) -> Iterator[Event]:
        """Adds a helper agent. Its failure does not change the session's outcome."""
        parent = self.profile.agent_id
        yield self._event("agent_start", agent_id=helper, goal="Help", parent_id=parent)
        outcome = self.dice.choice(("success", "failed"))
        yield self._event("agent_end", agent_id=helper, outcome=outcome, summary="Reported back.")

    def _event(self, event_type: str, after_ms: int = 0, **fields: Any) -> Event:
        pause_us = self.dice.randint(1_000, 400_000)
        self._elapsed += timedelta(milliseconds=after_ms, microseconds=pause_us)
        if after_ms:
            fields["duration_ms"] = after_ms
        fields.setdefault("agent_id", self.profile.agent_id)
        return {"type": event_type, **fields}

    def _stamped(self, at: datetime, event: Event) -> Event:
        return {
            "timestamp": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "session_id": self.session_id,
            "environment": self.environment,
            **event,
        }

    def _next_id(self, kind: str) -> str:
        self._calls += 1
        return f"{self.session_id}-{kind}-{self._calls}"

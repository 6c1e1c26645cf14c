"""Made-up conversations, the events that agents tell of them, and the turns that they are."""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Said = tuple[str, ...]
# Short texts come again and again; a text with a number comes once.
USER_WORDS = ("yes", "ok", "go on")
ASSISTANT_WORDS = ("Done.", "Sure.")


@dataclass
class Telling:
    """Which events an agent sends, and how much of the conversation each of its requests has."""

    history: str = "all"
    human_input: bool = False
    answers: bool = True
    tools: bool = True
    ids: bool = True
    requests: bool = True


@dataclass
class Conversation:
    """A conversation of one agent: its events so far, and its turns."""

    telling: Telling
    rng: random.Random
    agent_id: str = "main"
    events: list[dict[str, Any]] = field(default_factory=list)
    turns: list[Said] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    _sent: int = 0
    _calls: int = 0

    def add(self, kind: str, **fields: object) -> None:
        """Adds an event."""
        payload = {"type": kind, "agent_id": self.agent_id, **fields}
        self.events.append(
            {"id": 0, "ts": "2026-11-02T10:00:00Z", "event_type": kind, "payload": payload}
        )

    def ask(self) -> None:
        """Lets the user say something."""
        text = self._words(USER_WORDS, "question")
        self.turns.append(("user", text))
        self.messages.append({"role": "user", "content": text})
        if self.telling.human_input:
            self.add("human_input", response=text)

    def answer(self) -> None:
        """Lets the model answer, after some calls of tools."""
        for _ in range(self.rng.choice((0, 0, 1, 2))):
            self._call_tools()
        text = self._words(ASSISTANT_WORDS, "answer")
        self._request()
        self.turns.append(("assistant", text))
        self.messages.append({"role": "assistant", "content": text})
        self._respond(content=text)

    def _call_tools(self) -> None:
        self._request()
        calls = [self._call() for _ in range(self.rng.choice((1, 1, 2)))]
        self.messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        self._respond(tool_calls=calls)
        named = [call.get("id") for call in calls]
        outputs = {}
        for call, name in zip(calls, named, strict=True):
            output = f"output of {call['function']['arguments']}"
            self.turns.append(("tool", call["function"]["arguments"], output))
            outputs[call["function"]["arguments"]] = output
            if self.telling.tools:
                known = {} if name is None else {"tool_call_id": name}
                arguments = json.loads(call["function"]["arguments"])
                self.add("tool_use", tool_name="look", input=arguments, **known)
            told = {"role": "tool", "content": output, "name": "look"}
            self.messages.append(told if name is None else {**told, "tool_call_id": name})
        ends = list(calls)
        if self.telling.ids:
            self.rng.shuffle(ends)
        for call in ends if self.telling.tools else ():
            known = {"tool_call_id": call["id"]} if "id" in call else {}
            output = outputs[call["function"]["arguments"]]
            self.add("tool_result", tool_name="look", output=output, **known)

    def _call(self) -> dict[str, Any]:
        self._calls += 1
        arguments = json.dumps({"n": self._calls}, separators=(",", ":"))
        call: dict[str, Any] = {
            "type": "function",
            "function": {"name": "look", "arguments": arguments},
        }
        return {**call, "id": f"{self.agent_id}{self._calls}"} if self.telling.ids else call

    def _request(self) -> None:
        if self.telling.requests:
            self.add("model_request", messages=self._shown())
        self._sent = len(self.messages)

    def _respond(self, **fields: object) -> None:
        if self.telling.answers:
            self.add("model_response", role="assistant", **fields)
        else:
            self.add("model_response", stop_reason="end")

    def _shown(self) -> Sequence[dict[str, Any]]:
        """Returns the messages of a request, each with its history."""
        messages, history = self.messages, self.telling.history
        if history == "delta":
            new = [message for message in messages[self._sent :] if message["role"] != "assistant"]
            return new or messages[-1:]
        if history == "window":
            return messages[-8:]
        if history == "pinned":
            return list(messages) if len(messages) < 9 else [messages[0], *messages[-8:]]
        return list(messages)

    def _words(self, words: Sequence[str], noun: str) -> str:
        if self.rng.random() < 0.6:
            return self.rng.choice(words)
        return f"{noun} {len(self.turns)}"


def conversation(telling: Telling, seed: int, agent_id: str = "main") -> Conversation:
    """Makes a conversation of ten questions and answers."""
    made = Conversation(telling, random.Random(seed), agent_id)
    for _ in range(10):
        made.ask()
        made.answer()
    return made


def numbered(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Gives events ids in their order."""
    return [{**event, "id": n} for n, event in enumerate(events)]


def said(turns: Iterable[Mapping[str, Any]]) -> list[Said]:
    """Returns the roles and texts of turns, of tools with inputs and outputs."""
    return [
        (turn["role"], turn["text"])
        if turn["tool"] is None
        else (turn["role"], turn["tool"]["input"], turn["tool"]["output"])
        for turn in turns
    ]

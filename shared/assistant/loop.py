"""One turn: the model answers and calls tools until it has said everything."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from shared.assistant import artifacts
from shared.assistant.asker import Asker
from shared.assistant.evidence import Evidence
from shared.assistant.frames import Frames
from shared.assistant.limits import (
    MAX_ANSWER_CHARS,
    MAX_CALLS_OF_STEP,
    MAX_STEPS,
    MAX_TURN_SECS,
)
from shared.assistant.model import CallPiece, Model, ModelFailed, ModelRefused, Piece, Usage
from shared.assistant.prompt import ASK_USER, Prompt, described
from shared.assistant.request import TurnRequest
from shared.assistant.tools import table
from shared.assistant.tools.tool import ToolResult
from shared.foundation.core import pages
from shared.foundation.core.errors import WatchpostError
from shared.foundation.core.logs import get_logger

log = get_logger(__name__)

# Answers without reported tokens are counted by the length of the texts.
_CHARS_PER_TOKEN = 4


class Stopped(Exception):
    """Nobody waits for the answer any more, or the worker has to stop."""


@dataclass
class _Call:
    """A call of a tool, put together from its pieces."""

    id: str = ""
    name: str = ""
    arguments: str = ""

    @property
    def message(self) -> dict[str, Any]:
        """Returns the call as the model's server takes it back."""
        function = {"name": self.name, "arguments": self.arguments or "{}"}
        return {"id": self.id, "type": "function", "function": function}


@dataclass
class _Answer:
    """An answer of the model, as far as it has arrived."""

    texts: list[str] = field(default_factory=list)
    calls: dict[int, _Call] = field(default_factory=dict)
    reported: Usage = field(default_factory=Usage)

    def add(self, piece: Piece) -> None:
        """Adds a chunk."""
        self.texts.append(piece.text)
        for part in piece.calls:
            _add_piece(self.calls, part)
        self.reported = piece.usage or self.reported

    @property
    def text(self) -> str:
        """Returns the text so far."""
        return "".join(self.texts)

    @property
    def chars(self) -> int:
        """Returns the length of what the model has written, the arguments of calls included."""
        return len(self.text) + sum(len(call.arguments) for call in self.calls.values())


@dataclass
class Turn:
    """The state of a turn.

    `is_over` is asked several times a second. `renewed` returns the asker with the permissions of
    that moment, before each tool; it raises `Stopped` if the person lost access.
    """

    asker: Asker
    renewed: Callable[[], Asker]
    model: Model
    model_name: str
    request: TurnRequest
    frames: Frames
    is_over: Callable[[], bool]
    tool_calls: int = 0
    usage: Usage = field(default_factory=Usage)

    def __post_init__(self) -> None:
        self._prompt = Prompt(self.asker.name, self.asker.org_slug, self.request)
        self._evidence = Evidence(pages.page(self.asker.org_slug, ""))
        for message in self.request.messages:
            if message.role == "assistant":
                self._evidence.said(message.content.text)
            else:
                self._evidence.saw(message.content.text)
        self._evidence.saw(self.request.context)
        self._deadline = time.monotonic() + MAX_TURN_SECS
        self._said = 0
        shows = artifacts.OPEN_ARTIFACT in self.request.page_actions
        self._drafts = {
            name: tool
            for name, tool in artifacts.DRAFTS.items()
            if shows and tool.permission in self.asker.permissions
        }

    def run(self) -> None:
        """Writes the frames of the turn but the last one.

        Raises `ModelFailed`, `Stopped`, and `Unavailable` while Redis is down.
        """
        tools = described([*table.allowed(self.asker), *self._drafts.values()])
        for _ in range(MAX_STEPS):
            text, calls = self._answer(tools)
            if not calls:
                return
            self._prompt.add_calls(text, [call.message for call in calls])
            if any(self._run(call) for call in calls):
                return
        raise ModelFailed("The language model called tools without end. Ask for less at once.")

    def _answer(self, tools: Sequence[dict[str, Any]]) -> tuple[str, list[_Call]]:
        """Streams one answer of the model; returns its text and its calls."""
        answer = _Answer()
        stream = self.model.stream(self.model_name, self._prompt.messages, tools)
        was_taken = True
        try:
            for piece in stream:
                self._require_going_on()
                if piece is None:
                    continue
                answer.add(piece)
                self._say(self._evidence.pass_on(piece.text))
        except ModelRefused:
            was_taken = False
            raise
        finally:
            # The model also worked for an answer that broke off, or that the client left.
            if was_taken:
                self._count(answer)
        self._say(self._evidence.rest())
        return answer.text, [call for _, call in sorted(answer.calls.items())][:MAX_CALLS_OF_STEP]

    def _say(self, text: str) -> None:
        self._said += len(text)
        if self._said > MAX_ANSWER_CHARS:
            raise ModelFailed("The language model's answer is too long. Ask for less.")
        if text:
            self.frames.write("text-delta", text=text)

    def _run(self, call: _Call) -> bool:
        """Runs a call and adds its result; returns whether the turn waits for the person."""
        self._require_going_on()
        self.asker = self.renewed()
        self.tool_calls += 1
        if call.name == ASK_USER:
            return self._ask(call)
        self.frames.write("tool-start", tool=call.name, input=_shown(call.arguments))
        started = time.monotonic()
        try:
            found: ToolResult | None = self._call(call)
            result = None if found is None else found.value
            failure = None
        except WatchpostError as error:
            found, result, failure = None, {"error": error.message}, error.code
        ms = round((time.monotonic() - started) * 1000)
        rows = None if found is None else found.rows
        counted = {} if rows is None else {"rows": rows}
        self.frames.write("tool-end", tool=call.name, ok=failure is None, **counted, ms=ms)
        self._log(call, failure or "ok", rows, ms)
        text = self._prompt.add_result(call.id, result)
        if failure is None:
            self._evidence.saw(text)
            self._evidence.counted([] if rows is None else [rows])
        return False

    def _call(self, call: _Call) -> ToolResult:
        draft = self._drafts.get(call.name)
        if draft is None:
            return table.call(self.asker, call.name, call.arguments.encode())
        found = draft.call(self.asker, call.arguments.encode())
        self.frames.write("ui-action", action=artifacts.OPEN_ARTIFACT, artifact=found.value)
        return ToolResult({"shown": True})

    def _ask(self, call: _Call) -> bool:
        try:
            question = str(msgspec.json.decode(call.arguments or "{}")["question"])[:2000]
        except (msgspec.MsgspecError, KeyError, TypeError):
            self._prompt.add_result(call.id, {"error": "ask_user needs a question"})
            return False
        self.frames.write("ask-user", callId=call.id, question=question)
        return True

    def _count(self, answer: _Answer) -> None:
        sent = answer.reported.prompt_tokens
        got = answer.reported.completion_tokens
        if not sent and not got:
            sent = len(msgspec.json.encode(self._prompt.messages)) // _CHARS_PER_TOKEN
            got = answer.chars // _CHARS_PER_TOKEN
        self.usage.prompt_tokens += max(sent, 0)
        self.usage.completion_tokens += max(got, 0)

    def _require_going_on(self) -> None:
        if time.monotonic() > self._deadline:
            raise ModelFailed(f"The answer took longer than {MAX_TURN_SECS:g} s. Ask for less.")
        if self.is_over():
            raise Stopped

    def _log(self, call: _Call, outcome: str, rows: int | None, ms: int) -> None:
        log.info(
            "assistant_tool",
            who=self.asker.name,
            org_id=self.asker.org,
            tool=call.name[:64],
            outcome=outcome,
            rows=rows,
            duration_ms=ms,
        )


def _add_piece(calls: dict[int, _Call], part: CallPiece) -> None:
    call = calls.setdefault(part.index, _Call(id=f"call_{part.index}"))
    call.id = part.id or call.id
    if part.function is not None:
        call.name += part.function.name or ""
        call.arguments += part.function.arguments or ""


def _shown(arguments: str) -> Any:
    """Returns the arguments as JSON, or their text if they are none."""
    try:
        return msgspec.json.decode(arguments or "{}")
    except (msgspec.MsgspecError, RecursionError):
        return arguments[:2000]

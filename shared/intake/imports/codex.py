"""Rollouts of Codex: one object a line; the items up to a count of tokens are a response."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from shared.intake.imports.content import shown, text_of
from shared.intake.imports.dimensions import (
    Dimensions,
    dimensions_of,
    last_part,
    repository_of,
    told,
)
from shared.intake.imports.file import ImportFile, Line
from shared.intake.imports.node import Node, plain, read_node
from shared.intake.imports.outcomes import (
    BadLine,
    HeldLines,
    IgnoredLine,
    ImportEvent,
    Outcome,
    given,
)
from shared.intake.ingest.envelope import EventRejected

AGENT = "codex"
_TYPES = frozenset({"session_meta", "response_item", "event_msg"})


def knows(node: Node) -> bool:
    """Returns whether a line is of this format."""
    return node.text("type") in _TYPES


def convert(lines: Iterable[Line], file: ImportFile) -> Iterator[Outcome]:
    """Yields what the lines say, in order; what a line yields depends on no later line."""
    rollout = _Rollout(file)
    for line in lines:
        try:
            yield from rollout.read(line, read_node(line.text))
        except EventRejected as error:
            yield BadLine(line.number, str(error))
    yield from rollout.end()


@dataclass
class _CodexResponse:
    """The items of the model since the last response."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[dict[str, object]] = field(default_factory=list)
    lines: int = 0


@dataclass(frozen=True)
class _PayloadLine:
    """A line with its payload."""

    line: Line
    us: int
    payload: Node


class _Rollout:
    """The lines of a file that were read so far."""

    def __init__(self, file: ImportFile) -> None:
        self._named = file.last_uuid
        self._session = ""
        self._model = ""
        self._provider: str | None = None
        self._dimensions: Dimensions = {}
        self._started = False
        self._has_messages = False
        self._response = _CodexResponse()
        # The tools of calls by their ids.
        self._tools: dict[str, str] = {}

    def read(self, line: Line, node: Node) -> Iterator[Outcome]:
        """Yields what a line says."""
        read = _kind(node)
        if read is None:
            yield IgnoredLine(line.number)
            return
        us = node.time_us("timestamp")
        if us is None:
            raise EventRejected("timestamp is missing")
        items = self._response.lines
        outcomes = list(read(self, _PayloadLine(line, us, node.node("payload"))))
        yield from outcomes
        if not outcomes and self._response.lines == items:
            yield IgnoredLine(line.number)

    def end(self) -> Iterator[Outcome]:
        """Yields the lines that wait for the rest of their response."""
        if self._response.lines:
            yield HeldLines(self._response.lines)

    def meta(self, said: _PayloadLine) -> Iterator[Outcome]:
        """Describes the session; a copy of another's history has a line of that one too."""
        if not self._session:
            meta = said.payload
            git = meta.node("git")
            self._session = meta.text("id")
            self._provider = told(meta.text("model_provider"))
            self._dimensions = dimensions_of(
                meta.text("cli_version"),
                branch=git.text("branch"),
                repository=repository_of(git.text("repository_url")) or last_part(meta.text("cwd")),
            )
        return iter(())

    def context(self, said: _PayloadLine) -> Iterator[Outcome]:
        """Names the model of the responses that follow."""
        self._model = said.payload.text("model") or self._model
        return iter(())

    def person(self, said: _PayloadLine) -> Iterator[Outcome]:
        """Yields the words of a person."""
        self._has_messages = True
        yield from self._asked(said, said.payload.text("message"))

    def item(self, said: _PayloadLine) -> Iterator[Outcome]:
        """Yields the words of a person as later versions write them, in place of a message."""
        item = said.payload.node("item")
        if item.text("type") == "UserMessage" and not self._has_messages:
            yield from self._asked(said, text_of(item))

    def _asked(self, said: _PayloadLine, text: str) -> Iterator[Outcome]:
        yield from self._finish(said)
        if not self._started:
            self._started = True
            yield self._event(said, "agent_start", given(goal=text))
        yield self._event(said, "human_input", given(response=text))

    def message(self, said: _PayloadLine) -> Iterator[Outcome]:
        """Adds the words of the model."""
        if said.payload.text("role") == "assistant":
            self._response.texts.append(text_of(said.payload))
            self._response.lines += 1
        return iter(())

    def reasoning(self, said: _PayloadLine) -> Iterator[Outcome]:
        """Adds the thoughts of the model."""
        thought = text_of(said.payload, "summary") or text_of(said.payload)
        self._response.thoughts.append(thought)
        self._response.lines += 1
        return iter(())

    def call(self, said: _PayloadLine) -> Iterator[Outcome]:
        """Yields the use of a tool."""
        item = said.payload
        call = item.text("call_id") or item.text("id")
        tool = item.text("name") or item.text("type").removesuffix("_call")
        self._tools[call] = tool
        arguments = plain(item.text("arguments")) or item.text("input") or item.value("action")
        self._response.calls.append(given(id=call, name=tool, arguments=arguments))
        self._response.lines += 1
        fields = given(tool_name=tool, tool_call_id=call, input=arguments)
        yield self._event(said, "tool_use", fields)

    def output(self, said: _PayloadLine) -> Iterator[Outcome]:
        """Yields the result of a tool."""
        call = said.payload.text("call_id")
        output = shown(said.payload, "output")
        output = plain(output) if isinstance(output, str) else output
        fields = given(
            tool_name=self._tools.get(call), tool_call_id=call, output=output, error=_error(output)
        )
        yield self._event(said, "tool_result", fields)

    def tokens(self, said: _PayloadLine) -> Iterator[Outcome]:
        """Yields the response whose items came before this count."""
        usage = said.payload.node("info").node("last_token_usage")
        return self._finish(said, usage) if usage.members else iter(())

    def ended(self, said: _PayloadLine) -> Iterator[Outcome]:
        """Yields a response that was never counted."""
        return self._finish(said)

    def aborted(self, said: _PayloadLine) -> Iterator[Outcome]:
        """Yields the interruption by a person."""
        yield from self._finish(said)
        fields = given(reason=said.payload.text("reason"))
        yield self._event(said, "human_interrupt", fields)

    def error(self, said: _PayloadLine) -> Iterator[Outcome]:
        """Yields an error of the turn."""
        yield from self._finish(said)
        kind = said.payload.text("codex_error_info") or "error"
        fields = given(error_type=kind, message=said.payload.text("message"))
        yield self._event(said, "error", fields)

    def compacted(self, said: _PayloadLine) -> Iterator[Outcome]:
        """Yields the moment at which the conversation was compacted."""
        yield from self._finish(said)
        fields = given(message=said.payload.text("message"))
        yield self._event(said, "context_compacted", fields)

    def _finish(self, said: _PayloadLine, usage: Node | None = None) -> Iterator[Outcome]:
        """Yields the response if it has items; without `usage` its tokens are not known."""
        response, counts = self._response, usage or Node()
        if not response.lines:
            return
        self._response = _CodexResponse()
        fields = given(
            model=self._model,
            role="assistant",
            content="\n".join(filter(None, response.texts)),
            reasoning="\n".join(filter(None, response.thoughts)),
            tool_calls=response.calls or None,
            input_tokens=counts.number("input_tokens"),
            output_tokens=counts.number("output_tokens"),
            cache_read_tokens=counts.number("cached_input_tokens"),
            reasoning_tokens=counts.number("reasoning_output_tokens"),
            provider=self._provider,
        )
        yield self._event(said, "model_response", fields)

    def _event(self, said: _PayloadLine, kind: str, fields: dict[str, object]) -> ImportEvent:
        session = self._session or self._named
        if not session:
            raise EventRejected("the session is not known: no session_meta came before")
        line, dimensions = said.line, self._dimensions
        return ImportEvent(
            line.number, said.us, session, AGENT, kind, fields, line.origin, dimensions=dimensions
        )


_Read = Callable[[_Rollout, _PayloadLine], Iterator[Outcome]]
# The kinds of lines: their type, and the type of their payload. All others are ignored.
_KINDS: dict[tuple[str, str], _Read] = {
    ("session_meta", ""): _Rollout.meta,
    ("turn_context", ""): _Rollout.context,
    ("compacted", ""): _Rollout.compacted,
    ("response_item", "message"): _Rollout.message,
    ("response_item", "reasoning"): _Rollout.reasoning,
    ("response_item", "*_call"): _Rollout.call,
    ("response_item", "*_call_output"): _Rollout.output,
    ("event_msg", "user_message"): _Rollout.person,
    ("event_msg", "item_completed"): _Rollout.item,
    ("event_msg", "token_count"): _Rollout.tokens,
    ("event_msg", "task_complete"): _Rollout.ended,
    ("event_msg", "turn_aborted"): _Rollout.aborted,
    ("event_msg", "error"): _Rollout.error,
}
_WITHOUT_KINDS = frozenset({"session_meta", "turn_context", "compacted"})


def _kind(node: Node) -> _Read | None:
    kind, item = node.text("type"), node.node("payload").text("type")
    if kind in _WITHOUT_KINDS:
        item = ""
    for end in ("_call", "_call_output"):
        if kind == "response_item" and item.endswith(end):
            item = f"*{end}"
    return _KINDS.get((kind, item))


def _error(output: object) -> str | None:
    """Returns the failure of a tool that told how it ended."""
    facts = output.get("metadata") if isinstance(output, dict) else None
    code = facts.get("exit_code") if isinstance(facts, dict) else None
    return f"exit code {code}" if isinstance(code, int) and code != 0 else None

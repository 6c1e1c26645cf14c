"""Transcripts of Claude Code: one object a line; a response is spread over several lines."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from shared.intake.imports.content import shown, text_of
from shared.intake.imports.dimensions import Dimensions, dimensions_of, last_part, told
from shared.intake.imports.file import ImportFile, Line
from shared.intake.imports.node import Node, read_node
from shared.intake.imports.outcomes import (
    BadLine,
    HeldLines,
    IgnoredLine,
    ImportEvent,
    Outcome,
    given,
)
from shared.intake.ingest.envelope import EventRejected

AGENT = "claude-code"
# Tiers that are none. Each response has a tier, and only some have a speed that is one.
_ORDINARY_TIERS = frozenset({"standard", "default", "auto", "normal"})
# Messages with this model were made by Claude Code itself.
_SYNTHETIC = "<synthetic>"


def knows(node: Node) -> bool:
    """Returns whether a line is of this format."""
    return "sessionId" in node and ("uuid" in node or "message" in node)


def convert(lines: Iterable[Line], file: ImportFile) -> Iterator[Outcome]:
    """Yields what the lines say, in order; what a line yields depends on no later line."""
    transcript = _Transcript(file)
    for line in lines:
        try:
            yield from transcript.read(line, read_node(line.text))
        except EventRejected as error:
            yield BadLine(line.number, str(error))
    yield from transcript.end()


@dataclass
class _TranscriptLine:
    """A line that says something: where and when it was said, by which agent of which version."""

    line: Line
    us: int
    session: str
    agent: str
    dimensions: Dimensions

    def event(self, kind: str, fields: dict[str, object], nth: int = 0) -> ImportEvent:
        """Makes an event of this line."""
        line, of = self.line, self.dimensions
        return ImportEvent(
            line.number, self.us, self.session, self.agent, kind, fields, line.origin, nth, of
        )


@dataclass
class _ClaudeResponse:
    """A response of the model whose lines are still coming."""

    id: str
    asked: _TranscriptLine
    last: _TranscriptLine
    message: Node
    usage: Node = field(default_factory=Node)
    cost_usd: float | None = None
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[dict[str, object]] = field(default_factory=list)
    # The events of its lines, and of results that came before its end.
    waiting: list[ImportEvent] = field(default_factory=list)
    lines: int = 0

    def add(self, place: _TranscriptLine, node: Node, message: Node) -> None:
        """Adds a line with its message."""
        self.last, self.message = place, message
        self.lines += 1
        if (cost_usd := node.amount("costUSD")) is not None:
            self.cost_usd = cost_usd
        if "usage" in message:
            self.usage = message.node("usage")
        for block in message.nodes("content"):
            kind = block.text("type")
            if kind == "text":
                self.texts.append(block.text("text"))
            elif kind == "thinking":
                self.thoughts.append(block.text("thinking"))
            elif kind == "tool_use":
                call = given(
                    id=block.text("id"), name=block.text("name"), arguments=block.value("input")
                )
                self.calls.append(call)

    def called(self, results: list[Node]) -> bool:
        """Returns whether all of these are results of its calls."""
        calls = {call.get("id") for call in self.calls}
        return calls.issuperset(result.text("tool_use_id") for result in results)

    def events(self) -> Iterator[ImportEvent]:
        """Yields everything of the response, now that it is complete."""
        model = self.message.text("model")
        asked = given(model=model, request_id=self.id)
        yield self.asked.event("model_request", asked)
        fields = given(
            model=model,
            role="assistant",
            content="\n".join(self.texts),
            reasoning="\n".join(filter(None, self.thoughts)),
            tool_calls=self.calls or None,
            stop_reason=self.message.text("stop_reason"),
            **_usage(self.usage),
            cost_usd=self.cost_usd,
            request_id=self.id,
        )
        yield self.last.event("model_response", fields)
        yield from self.waiting


class _Transcript:
    """The lines of a file that were read so far."""

    def __init__(self, file: ImportFile) -> None:
        self._session = file.uuid
        self._agent = file.stem if file.stem.startswith("agent-") else ""
        self._response: _ClaudeResponse | None = None
        self._answered: set[str] = set()
        # The moments of lines by `uuid`, and the tools of calls by their ids.
        self._times: dict[str, int] = {}
        self._tools: dict[str, str] = {}
        self._started: set[str] = set()

    def read(self, line: Line, node: Node) -> Iterator[Outcome]:
        """Yields what a line says."""
        read = _KINDS.get(node.text("type"))
        us = node.time_us("timestamp") if read else None
        seen = node.text("uuid") in self._times
        if us is not None and node.text("uuid"):
            self._times.setdefault(node.text("uuid"), us)
        aside = node.is_true("isMeta") or node.is_true("isCompactSummary")
        if read is None or us is None or seen or aside:
            yield IgnoredLine(line.number)
            return
        yield from read(self, self._place(line, node, us), node)

    def end(self) -> Iterator[Outcome]:
        """Yields the lines that wait for the rest of their response."""
        if self._response is not None:
            yield HeldLines(self._response.lines)

    def _place(self, line: Line, node: Node, us: int) -> _TranscriptLine:
        session = self._session or node.text("sessionId")
        if not session:
            raise EventRejected("sessionId is missing")
        agent = self._agent
        if not agent and node.is_true("isSidechain") and node.text("agentId"):
            agent = f"agent-{node.text('agentId')}"
        dimensions = dimensions_of(
            node.text("version"),
            branch=node.text("gitBranch"),
            repository=last_part(node.text("cwd")),
        )
        return _TranscriptLine(line, us, session, agent or AGENT, dimensions)

    def user(self, place: _TranscriptLine, node: Node) -> Iterator[Outcome]:
        """Yields the results of tools, and the words of a person."""
        message = node.node("message")
        text = text_of(message)
        results = [one for one in message.nodes("content") if one.text("type") == "tool_result"]
        events = [self._result(place, one, nth) for nth, one in enumerate(results)]
        response = self._response
        if response is not None and events and not text and response.called(results):
            # Tools may run while the model goes on: its next line belongs to the same response.
            response.waiting += events
            response.lines += 1
            return
        yield from self._finish()
        yield from events
        if text:
            if place.agent not in self._started:
                self._started.add(place.agent)
                parent = None if place.agent == AGENT else AGENT
                yield place.event("agent_start", given(goal=text, parent_id=parent))
            yield place.event("human_input", given(response=text))
        elif not events:
            yield IgnoredLine(place.line.number)

    def assistant(self, place: _TranscriptLine, node: Node) -> Iterator[Outcome]:
        """Yields responses that are complete, and errors of the API."""
        message = node.node("message")
        if node.is_true("isApiErrorMessage"):
            yield from self._finish()
            fields = given(error_type="api_error", message=text_of(message))
            yield place.event("error", fields)
        elif message.text("model") == _SYNTHETIC:
            yield IgnoredLine(place.line.number)
        else:
            yield from self._answer(place, node, message)

    def system(self, place: _TranscriptLine, node: Node) -> Iterator[Outcome]:
        """Yields the moment at which the conversation was compacted."""
        if node.text("subtype") != "compact_boundary":
            yield IgnoredLine(place.line.number)
            return
        yield from self._finish()
        facts = node.node("compactMetadata")
        fields = given(
            trigger=facts.text("trigger"),
            tokens_before=facts.number("preTokens"),
            message=node.text("content"),
        )
        yield place.event("context_compacted", fields)

    def _answer(self, place: _TranscriptLine, node: Node, message: Node) -> Iterator[Outcome]:
        # Without an id a line is a response by itself.
        name = message.text("id") or node.text("uuid") or f"line {place.line.number}"
        if name in self._answered:
            yield from self._addition(place, message, name)
            return
        if self._response is None or self._response.id != name:
            yield from self._finish()
            parent_us = self._times.get(node.text("parentUuid"), place.us)
            asked = replace(place, us=parent_us)
            self._response = _ClaudeResponse(name, asked, place, message)
        self._response.add(place, node, message)
        self._response.waiting += self._uses(place, message)
        if message.text("stop_reason"):
            yield from self._finish()

    def _addition(self, place: _TranscriptLine, message: Node, name: str) -> Iterator[Outcome]:
        """Yields what a line adds to a response that counts already."""
        yield from self._finish()
        text = text_of(message)
        uses = self._uses(place, message)
        if text:
            fields = given(role="assistant", content=text, request_id=name)
            yield place.event("model_message", fields)
        yield from uses
        if not (text or uses):
            yield IgnoredLine(place.line.number)

    def _finish(self) -> Iterator[ImportEvent]:
        if self._response is not None:
            self._answered.add(self._response.id)
            yield from self._response.events()
            self._response = None

    def _uses(self, place: _TranscriptLine, message: Node) -> list[ImportEvent]:
        uses = [one for one in message.nodes("content") if one.text("type") == "tool_use"]
        return [self._use(place, one, nth) for nth, one in enumerate(uses)]

    def _use(self, place: _TranscriptLine, block: Node, nth: int) -> ImportEvent:
        call, tool = block.text("id"), block.text("name")
        self._tools[call] = tool
        fields = given(tool_name=tool, tool_call_id=call, input=block.value("input"))
        return place.event("tool_use", fields, nth)

    def _result(self, place: _TranscriptLine, block: Node, nth: int) -> ImportEvent:
        call = block.text("tool_use_id")
        output = shown(block, "content")
        failed = (text_of(block) or "error") if block.is_true("is_error") else None
        fields = given(
            tool_name=self._tools.get(call), tool_call_id=call, output=output, error=failed
        )
        return place.event("tool_result", fields, nth)


_Read = Callable[[_Transcript, _TranscriptLine, Node], Iterator[Outcome]]
# The kinds of lines that can be events. All others are ignored.
_KINDS: dict[str, _Read] = {
    "user": _Transcript.user,
    "assistant": _Transcript.assistant,
    "system": _Transcript.system,
}


def _usage(usage: Node) -> dict[str, object]:
    """Returns the fields of usage; the input is all that was read, cached or not."""
    parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    plain, read, written = map(usage.number, parts)
    known = [part for part in (plain, read, written) if part is not None]
    return {
        "input_tokens": sum(known) if known else None,
        "output_tokens": usage.number("output_tokens"),
        "cache_read_tokens": read,
        "cache_write_tokens": written,
        "cache_write_1h_tokens": usage.node("cache_creation").number("ephemeral_1h_input_tokens"),
        "web_searches": usage.node("server_tool_use").number("web_search_requests"),
        "service_tier": _tier(usage),
    }


def _tier(usage: Node) -> str | None:
    """Returns the service tier, and the speed where that is none."""
    tiers = [tier for name in ("service_tier", "speed") if (tier := told(usage.text(name)))]
    others = (tier for tier in tiers if tier.lower() not in _ORDINARY_TIERS)
    return next(others, tiers[0] if tiers else None)

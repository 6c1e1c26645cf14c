"""Agents that do nothing but trace themselves, with the SDK of OpenTelemetry.

The content of each span has a mark: its span id, and whether the span is still open or done. So it
shows whose content a stored event has, and whether it is that of the finished span.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.trace import (
    SpanContext,
    TraceFlags,
    Tracer,
    format_span_id,
    set_span_in_context,
)

OPERATION, SESSION, MARK = "gen_ai.operation.name", "session.id", "storm.mark"
PENDING, PENDING_TYPE = "pending_span", "logfire.span_type"
_PENDING_PARENT = "logfire.pending_parent_id"
_TURNS_A_SESSION = 15
# A turn names its session on all spans or on the root only; or it names two, or none.
_NAMINGS = ("all", "all", "all", "root", "root", "root", "two", "none")
_BAD_SHARE = 0.05
_ERROR_SHARE = 0.2
_LONG_SHARE = 0.05
_LONG_SECS = 4.0
# Before 2000: such a span is rejected alone.
_BAD_START_NS = 1
# Where the mark is at the start of a span, and at its end.
_CONTENT = {
    "invoke_agent": ("gen_ai.input.messages", "gen_ai.output.messages"),
    "chat": ("gen_ai.input.messages", "gen_ai.output.messages"),
    "execute_tool": ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
    "task": ("input.value", "output.value"),
}


def mark(span_id: int, state: str) -> str:
    """Returns the mark of a span that is `open` or `done`."""
    return f"mark-{format_span_id(span_id)}-{state}"


class Agent:
    """Takes one turn after the other; each is a trace."""

    def __init__(self, tracer: Tracer, name: str, seed: str) -> None:
        self._tracer, self._name = tracer, name
        self._dice = random.Random(seed)
        self._turns = 0

    def take_turn(self) -> int:
        """Makes the trace of a turn. Returns the number of its spans."""
        dice, number = self._dice, self._turns // _TURNS_A_SESSION
        self._turns += 1
        naming = dice.choice(_NAMINGS)
        session = f"session-{self._name}-{number}"
        named = {SESSION: session}
        root = {} if naming == "none" else named
        below = named if naming == "all" else {}
        other = {SESSION: f"{session}-other"} if naming == "two" else below
        spans = 4
        with self._span("invoke_agent", "bot", root) as agent:
            inside = set_span_in_context(agent)
            with self._span("chat", "gpt", below, inside):
                self._work()
            with self._span("execute_tool", "search", below, inside) as tool:
                self._work()
                if dice.random() < _ERROR_SHARE:
                    tool.record_exception(ValueError(mark(_id(tool), "done")))
            with self._span("chat", "gpt", other, inside):
                self._work()
            # An `other` span of a trace without a name may have to be stored or not.
            if naming == "all":
                spans += self._delegate(inside, below)
            if dice.random() < _BAD_SHARE:
                spans += self._break(inside)
            if dice.random() < _LONG_SHARE:
                time.sleep(_LONG_SECS)
        return spans

    def _delegate(self, inside: Context, attributes: dict[str, str]) -> int:
        with (
            self._span("task", "plan", attributes, inside) as task,
            self._span("invoke_agent", "helper", attributes, set_span_in_context(task)) as helper,
            self._span("chat", "gpt", attributes, set_span_in_context(helper)),
        ):
            self._work()
        return 3

    def _break(self, inside: Context) -> int:
        span = self._tracer.start_span("bad", inside, start_time=_BAD_START_NS)
        span.end()
        return 1

    def _work(self) -> None:
        time.sleep(self._dice.uniform(0, 0.02))

    @contextmanager
    def _span(
        self, operation: str, name: str, attributes: dict[str, str], inside: Context | None = None
    ) -> Iterator[Span]:
        given = {OPERATION: operation, **attributes}
        span = self._tracer.start_span(f"{operation} {name}", inside or Context(), attributes=given)
        assert isinstance(span, Span)  # noqa: S101 every span is sampled
        yield span
        for key in _CONTENT[operation]:
            span.set_attribute(key, mark(_id(span), "done"))
        span.end()


class Announcer(SpanProcessor):
    """Announces the spans of every third trace at their start by pending spans, as Logfire does."""

    def __init__(self, to: SpanProcessor) -> None:
        self._to = to

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:  # noqa: ARG002
        """Passes on a pending span."""
        context = span.get_span_context()
        operation = (span.attributes or {}).get(OPERATION)
        if context is None or context.trace_id % 3 or not isinstance(operation, str):
            return
        own = SpanContext(
            context.trace_id,
            # Different from the real one, and the same each time.
            context.span_id ^ (1 << 63 | 1),
            is_remote=False,
            trace_flags=TraceFlags(TraceFlags.SAMPLED),
        )
        parent = span.parent
        attributes = {
            **(span.attributes or {}),
            PENDING_TYPE: PENDING,
            _PENDING_PARENT: format_span_id(parent.span_id if parent else 0),
            _CONTENT[operation][0]: mark(context.span_id, "open"),
        }
        pending = ReadableSpan(
            span.name,
            own,
            context,
            span.resource,
            attributes,
            kind=span.kind,
            start_time=span.start_time,
            end_time=span.start_time,
            instrumentation_scope=span.instrumentation_scope,
        )
        self._to.on_end(pending)


def _id(span: Span) -> int:
    return span.get_span_context().span_id

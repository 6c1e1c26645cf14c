"""Spans with OpenTelemetry's SDK, sent by its exporter from a thread of their own.

Only `exporter` imports this, and only while traces are on.
"""

import threading
from asyncio import CancelledError
from collections.abc import Collection
from contextvars import Token
from types import TracebackType
from typing import Self

from opentelemetry import context, trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Link, NonRecordingSpan, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from shared.foundation.core.tracing.sending import SpanQueue, SpanSender, say_rarely
from shared.foundation.core.tracing.spans import Attributes, Kind, Value
from shared.foundation.core.version import VERSION

# A process that ends waits no longer than this for its last spans.
CLOSE_SECS = 2.0
MAX_LINKS = 100

_HEADER = "traceparent"
_KINDS = {
    "server": SpanKind.SERVER,
    "client": SpanKind.CLIENT,
    "consumer": SpanKind.CONSUMER,
    "internal": SpanKind.INTERNAL,
}
_PROPAGATOR = TraceContextTextMapPropagator()
# A trace that is not sampled: what follows from it is not recorded either.
_UNSAMPLED = f"00-{1:032x}-{1:016x}-00"


class _Live:
    """A span; `is_current` in its block if others can be parts of it."""

    def __init__(self, span: trace.Span, *, is_current: bool) -> None:
        self._span = span
        self._is_current = is_current
        self._token: Token[Context] | None = None

    def __enter__(self) -> Self:
        if self._is_current:
            self._token = context.attach(trace.set_span_in_context(self._span))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Others are no errors: a generator that is closed, or a process that is told to end.
        if isinstance(error, Exception):
            self.fail(type(error).__name__)
        elif isinstance(error, CancelledError):
            self.fail("timeout")
        if self._token is not None:
            context.detach(self._token)
        self._span.end()

    def note(self, name: str, value: Value) -> None:
        self._span.set_attribute(name, value)

    def fail(self, reason: str) -> None:
        # Texts of errors can quote payloads, so the span has none.
        self._span.set_attribute("error.type", reason)
        self._span.set_status(Status(StatusCode.ERROR))


class LiveTracer:
    """Makes the spans of this process and sends them to `url`, a full one of OTLP over HTTP."""

    def __init__(self, url: str, process: str) -> None:
        say_rarely(url)
        self._provider = TracerProvider(resource=_resource(process), shutdown_on_exit=False)
        self._sender = SpanSender(url)
        self._provider.add_span_processor(SpanQueue(self._sender))
        self._tracer = self._provider.get_tracer("watchpost", VERSION)

    def work(self, name: str, kind: Kind, attributes: Attributes, causes: Collection[str]) -> _Live:
        """See `spans.work`."""
        # A request begins a trace, whatever an earlier one left in its thread.
        parent = Context() if kind == "server" else context.get_current()
        found = [_context_of(one) for one in dict.fromkeys(causes)]
        sampled = [one for one in found if _span_in(one).trace_flags.sampled]
        if len(found) == 1 or not sampled:
            parent, sampled = next(iter(found), parent), []
        return _Live(
            self._tracer.start_span(
                name,
                context=parent,
                kind=_KINDS[kind],
                attributes=attributes,
                links=[Link(_span_in(one)) for one in sampled[:MAX_LINKS]],
            ),
            is_current=True,
        )

    def part(self, name: str, attributes: Attributes) -> _Live:
        """See `spans.part`."""
        span = self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes)
        return _Live(span, is_current=False)

    def silence(self) -> _Live:
        """See `spans.silence`."""
        return _Live(NonRecordingSpan(_span_in(_context_of(_UNSAMPLED))), is_current=True)

    def is_inside(self) -> bool:
        """See `spans.is_inside`."""
        return trace.get_current_span().is_recording()

    def traceparent(self) -> str | None:
        """See `spans.traceparent`."""
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier)
        return carrier.get(_HEADER)

    def close(self) -> None:
        """Sends the spans that wait, or gives them up after `CLOSE_SECS`."""
        # The SDK would wait for an exporter that hangs or repeats, up to 30 s.
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(CLOSE_SECS)
        if closing.is_alive():
            # Ends the wait before the next attempt, and gives up the rest.
            self._sender.shutdown()  # type: ignore[no-untyped-call] # OpenTelemetry's


def _resource(process: str) -> Resource:
    """Returns what describes this process; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win."""
    ours = {"service.name": "watchpost", "service.version": VERSION, "watchpost.process": process}
    return Resource.create({**ours, **OTELResourceDetector().detect().attributes})


def _context_of(traceparent: str) -> Context:
    return _PROPAGATOR.extract({_HEADER: traceparent}, Context())


def _span_in(found: Context) -> trace.SpanContext:
    return trace.get_current_span(found).get_span_context()

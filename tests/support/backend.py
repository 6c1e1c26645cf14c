"""A receiver of OTLP over HTTP on a loopback port, which keeps the spans that it gets."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from shared.foundation.core.config import Settings
from shared.foundation.core.tracing.exporter import Tracing
from tests.support.evaluator import Answer, Evaluator, Received, reply, running_evaluator
from tests.support.processes import wait_until

Value = str | int | bool | float


@dataclass(frozen=True)
class Arrived:
    """A span as it came in. `resource` has the attributes of the process that made it."""

    span: Span
    resource: dict[str, Value]

    @property
    def name(self) -> str:
        """The name."""
        return self.span.name

    @property
    def attributes(self) -> dict[str, Value]:
        """The attributes."""
        return {one.key: _value(one) for one in self.span.attributes}

    @property
    def trace(self) -> str:
        """The id of the trace, in hexadecimal digits."""
        return self.span.trace_id.hex()

    @property
    def has_failed(self) -> bool:
        """Whether the status is that of an error."""
        return self.span.status.code == Status.STATUS_CODE_ERROR

    def is_below(self, parent: "Arrived") -> bool:
        """Whether this span is a child of the other one."""
        return self.trace == parent.trace and self.span.parent_span_id == parent.span.span_id


@dataclass
class Backend:
    """The exports so far; `server.default` is the answer to the next ones."""

    server: Evaluator

    @property
    def url(self) -> str:
        """The value of OTEL_EXPORTER_OTLP_ENDPOINT."""
        return self.server.url

    @property
    def answer(self) -> Answer:
        """The answer to all exports."""
        return self.server.default

    @answer.setter
    def answer(self, answer: Answer) -> None:
        self.server.default = answer

    @property
    def exports(self) -> list[Received]:
        """The requests in the order of arrival."""
        return list(self.server.requests)

    @property
    def spans(self) -> list[Arrived]:
        """The spans of all exports."""
        found = []
        for request in self.exports:
            assert request.path == "/v1/traces"
            for group in ExportTraceServiceRequest.FromString(request.body).resource_spans:
                resource = {one.key: _value(one) for one in group.resource.attributes}
                for scope in group.scope_spans:
                    found += [Arrived(span, resource) for span in scope.spans]
        return found

    def named(self, name: str) -> list[Arrived]:
        """The spans of this name."""
        return [one for one in self.spans if one.name == name]

    def wait_for(self, name: str, secs: float = 60) -> Arrived:
        """Waits for the first span of this name."""
        wait_until(lambda: bool(self.named(name)), secs)
        return self.named(name)[0]


@contextmanager
def running_backend() -> Iterator[Backend]:
    """Runs a receiver that accepts everything."""
    with running_evaluator() as server:
        server.default = reply(200, headers={"Content-Type": "application/x-protobuf"})
        yield Backend(server)


@contextmanager
def traced(settings: Settings) -> Iterator[Tracing]:
    """Makes spans in this process; its `stop` returns when all of them have arrived."""
    logger = logging.getLogger("opentelemetry")
    handlers, propagates = logger.handlers[:], logger.propagate
    made = Tracing(settings)
    made.start("test")
    try:
        yield made
    finally:
        made.stop()
        logger.handlers[:], logger.propagate = handlers, propagates


def _value(attribute: object) -> Value:
    value = attribute.value  # type: ignore[attr-defined] # OpenTelemetry's messages have no types
    found: Value = getattr(value, value.WhichOneof("value"))
    return found

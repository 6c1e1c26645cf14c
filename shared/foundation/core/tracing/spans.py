"""Spans of Watchpost itself. While traces are off, a span costs a comparison and imports nothing.

Attributes have the current names of OpenTelemetry's semantic conventions. None has a value of a
payload, of a person's SQL, or an address.
"""

from collections.abc import Collection, Mapping
from types import TracebackType
from typing import Literal, Protocol, Self

from shared.foundation.core.version import VERSION

# The exporter's own requests carry it, so that a Watchpost that gets them makes no span of them.
USER_AGENT = f"watchpost-traces/{VERSION}"

ORGANIZATION = "watchpost.organization.id"

Value = str | int
Attributes = Mapping[str, Value]
Kind = Literal["server", "client", "consumer", "internal"]


class BlockSpan(Protocol):
    """A span that ends with its block, as a failed one if the block raises."""

    def __enter__(self) -> Self:
        """Begins the block."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Ends the span."""

    def note(self, name: str, value: Value) -> None:
        """Adds an attribute."""

    def fail(self, reason: str) -> None:
        """Marks the span as failed; `reason` is a code or the name of a class, never a text."""


class Tracer(Protocol):
    """The part that makes spans while traces are on; see the functions of this module."""

    def work(
        self, name: str, kind: Kind, attributes: Attributes, causes: Collection[str]
    ) -> BlockSpan:
        """Begins a span that others can be parts of."""

    def part(self, name: str, attributes: Attributes) -> BlockSpan:
        """Begins a span of a call."""

    def silence(self) -> BlockSpan:
        """Begins a block without spans."""

    def is_inside(self) -> bool:
        """Returns whether the current span is recorded."""

    def traceparent(self) -> str | None:
        """Returns the header of the current span."""


class _NoSpan:
    """The span of a block that is not recorded."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    def note(self, name: str, value: Value) -> None:
        pass

    def fail(self, reason: str) -> None:
        pass


NOTHING = _NoSpan()
_tracer: Tracer | None = None


def use(tracer: Tracer | None) -> None:
    """Makes `tracer` the one of this process; None switches traces off."""
    global _tracer
    _tracer = tracer


def work(
    name: str,
    *,
    kind: Kind = "internal",
    attributes: Attributes | None = None,
    causes: Collection[str] = (),
) -> BlockSpan:
    """Begins a span that is current in its block: a part of the current one, else a new trace.

    `causes` are headers `traceparent`. A single one becomes the parent. Several are linked, because
    the work belongs to all of them.
    """
    if _tracer is None:
        return NOTHING
    return _tracer.work(name, kind, attributes or {}, causes)


def part(name: str, attributes: Attributes) -> BlockSpan:
    """Begins the span of a call to another server; there is none outside of other spans."""
    if _tracer is None or not _tracer.is_inside():
        return NOTHING
    return _tracer.part(name, attributes)


def redis(command: str) -> BlockSpan:
    """Begins the span of a round trip to Redis, which its main command names."""
    return part(command, {"db.system.name": "redis", "db.operation.name": command})


def silence() -> BlockSpan:
    """Begins a block in which no span is made, nor later because of it."""
    return NOTHING if _tracer is None else _tracer.silence()


def is_inside() -> bool:
    """Returns whether calls are recorded here."""
    return _tracer is not None and _tracer.is_inside()


def traceparent() -> str | None:
    """Returns the W3C header that lets another process go on with the current trace, if any."""
    return None if _tracer is None else _tracer.traceparent()

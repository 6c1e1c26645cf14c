"""The part of a request's reading that differs between protobuf and JSON."""

from collections.abc import Sequence
from typing import Any, Protocol

from shared.intake.otlp.records import LogRecord, Resource, Scope, Span
from shared.intake.otlp.wire.signals import Signal


class Format(Protocol):
    """A reader of one request, from the outside in; `head` is what a level has beside its members.

    `groups`, `group` and `scope_group` raise `BadRequest` or `TooLarge`. The others raise
    `Rejected`, `DecodeError`, `UnicodeDecodeError` or `RecursionError` for a single bad part.
    """

    def groups(self, body: bytes) -> Sequence[bytes]:
        """Returns the groups of records of one resource."""

    def group(self, data: bytes) -> tuple[Any, Sequence[bytes]]:
        """Returns the head of a group with its resource, and the groups of one scope."""

    def scope_group(self, data: bytes) -> tuple[Any, Sequence[bytes]]:
        """Returns the head of a group with its scope, and its records."""

    def resource(self, head: Any) -> Resource:
        """Reads the resource of a group."""

    def scope(self, head: Any) -> Scope:
        """Reads the scope of a group."""

    def span(self, data: bytes, now_ns: int, resource: int, scope: int) -> Span:
        """Reads a span."""

    def log(self, data: bytes, now_ns: int, resource: int, scope: int) -> LogRecord:
        """Reads a log record."""

    def belongs_to(self, data: bytes) -> Signal | None:
        """Returns the kind of request to which a record belongs, if it looks like one."""

    def describe(self, data: bytes) -> tuple[str, str]:
        """Returns the span id of a record that cannot be read, and an excerpt; "" if unknown."""

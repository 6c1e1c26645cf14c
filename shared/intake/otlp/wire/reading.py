"""Reads a request: collects the good records, and counts the bad ones by their reasons."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from google.protobuf.message import DecodeError

from shared.foundation.core.errors import BadRequest
from shared.intake.otlp.records import Records
from shared.intake.otlp.wire.as_json import Json
from shared.intake.otlp.wire.as_protobuf import Protobuf
from shared.intake.otlp.wire.checks import NOT_DECODED, NOT_UTF_8, TOO_DEEP, Rejected, Tally
from shared.intake.otlp.wire.formats import Format
from shared.intake.otlp.wire.signals import METRICS, TRACES, Signal

T = TypeVar("T")

PROTOBUF, JSON = "application/x-protobuf", "application/json"

# BadRecord records of a request that are described.
MAX_DESCRIBED = 1000
# Records that are read in one step, in about a millisecond.
_TOGETHER = 50


class BadRecord(msgspec.Struct):
    """A record that was rejected: its span id and an excerpt as far as they are known, and why.

    `resource` is the position of its resource, None if that is bad itself.
    """

    span_id: str
    reason: str
    excerpt: str
    resource: int | None


class Reading:
    """The reading of one request; afterwards `records`, `tally` and `bad` have what it contains.

    `rejected` counts bad records by the position of their resource and the reason.
    """

    def __init__(self, signal: Signal, media_type: str, now_ns: int) -> None:
        self.records = Records(now_ns // 1_000_000, [], [], [], [])
        self.tally = Tally()
        self.bad: list[BadRecord] = []
        self.rejected: Counter[tuple[int | None, str]] = Counter()
        self._signal = signal
        self._now_ns = now_ns
        self._format: Format = Json(signal) if media_type == JSON else Protobuf()
        self._first: bytes | None = None

    def steps(self, body: bytes) -> Iterator[None]:
        """Reads the body in steps of about a millisecond, which end with each item.

        Raises `BadRequest` for a body that cannot be read, or that is one of another signal, and
        `TooLarge` for one with too many parts.
        """
        for group in self._format.groups(body):
            head, scope_groups = self._format.group(group)
            resource = self._part(self._format.resource, head, self.records.resources, "resource")
            for scope_group in scope_groups:
                head, records = self._format.scope_group(scope_group)
                scope = self._part(self._format.scope, head, self.records.scopes, "scope")
                for start in range(0, len(records), _TOGETHER):
                    self._take(records[start : start + _TOGETHER], resource, scope)
                    yield
        self._require_own_records()

    def _part(
        self, read: Callable[[Any], T], head: Any, into: list[T], name: str
    ) -> int | Rejected:
        """Returns the position of a resource or scope, or the reason to reject its records."""
        try:
            into.append(_checked(read, head))
        except Rejected as error:
            return Rejected(f"{name}: {error}")
        return len(into) - 1

    def _take(
        self, records: Sequence[bytes], resource: int | Rejected, scope: int | Rejected
    ) -> None:
        self.tally.total += len(records)
        if self._signal is METRICS:
            self._first = self._first or records[0]
            return
        for record in records:
            try:
                self._take_one(record, resource, scope)
            except Rejected as error:
                index = resource if isinstance(resource, int) else None
                self._reject(record, str(error), index)

    def _take_one(self, record: bytes, resource: int | Rejected, scope: int | Rejected) -> None:
        if isinstance(resource, Rejected):
            raise resource
        if isinstance(scope, Rejected):
            raise scope
        if self._signal is TRACES:
            read = self._format.span
            self.records.spans.append(_checked(read, record, self._now_ns, resource, scope))
        else:
            self.records.logs.append(
                _checked(self._format.log, record, self._now_ns, resource, scope)
            )

    def _reject(self, record: bytes, reason: str, resource: int | None) -> None:
        self.tally.reasons[reason] += 1
        self.rejected[resource, reason] += 1
        self._first = self._first or record
        if len(self.bad) < MAX_DESCRIBED:
            span_id, excerpt = self._format.describe(record)
            self.bad.append(BadRecord(span_id, reason, excerpt, resource))

    def _require_own_records(self) -> None:
        """Raises `BadRequest` if nothing could be accepted because the path is that of others."""
        if self._first is None or self.records:
            return
        signal = self._format.belongs_to(self._first)
        if signal not in (None, self._signal):
            raise BadRequest(signal.belongs, code="wrong_signal")


def _checked(read: Callable[..., T], *arguments: Any) -> T:
    """Returns the result of `read`; raises `Rejected` if it cannot be read."""
    try:
        return read(*arguments)
    except DecodeError:
        raise Rejected(NOT_DECODED) from None
    except UnicodeDecodeError:
        raise Rejected(NOT_UTF_8) from None
    except RecursionError:
        raise Rejected(TOO_DEEP) from None

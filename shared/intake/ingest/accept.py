"""Accepts a POST /events: all steps up to the moment when a collector may forget the batch."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import redis

from shared.foundation.core.body import unpack
from shared.foundation.core.errors import (
    RateLimited,
    Unavailable,
    UnsupportedMediaType,
    WatchpostError,
)
from shared.foundation.core.logs import get_logger
from shared.foundation.core.metrics.catalogue import ACCEPTED, REFUSED, SKIPPED
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import Task
from shared.foundation.queue.jobs import PERSIST_EVENTS
from shared.intake.ingest.backlog import Backlog
from shared.intake.ingest.batch import encode_sent
from shared.intake.ingest.candidates import json_elements, ndjson_lines
from shared.intake.ingest.decode import DecodedBody, decode_events
from shared.intake.ingest.receipts import receipt_of
from shared.intake.ingest.sender import Sender
from shared.intake.ingest.stream import append
from shared.intake.ingest.write_sync import OwnConnection, WriteSync
from shared.intake.receipts.origin import Origin
from shared.intake.receipts.receipt import Receipt, count_if_possible
from shared.intake.receipts.refusals import Refusals
from shared.intake.redaction.redactions import Redactions
from shared.intake.redaction.rules import Redactor

log = get_logger(__name__)

_Splitter = Callable[[bytes], list[bytes]]
_SPLITTERS: dict[str, _Splitter] = {
    "application/x-ndjson": ndjson_lines,
    "application/json": json_elements,
}


class Ingest:
    """The ingest of one web process."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._backlog = Backlog(runtime.redis, runtime.settings.ingest_backlog_bytes)
        self._redactions = Redactions(runtime)
        self._refusals = Refusals(runtime.redis)
        self._sync = WriteSync(
            disk=runtime.settings.ingest_sync, replicas=runtime.settings.redis_replicas
        )
        self._local = threading.local()
        self._unpacking = threading.BoundedSemaphore(runtime.settings.ingest_concurrency)

    def accept(self, sender: Sender, body: bytes, media_type: str, encoding: str) -> DecodedBody:
        """Accepts the good events of a body; after this returns they will be stored.

        Values of keys that the organization has redacted are removed here, before anything keeps
        them.

        Raises `UnsupportedMediaType`, `BadRequest`, `Invalid` or `TooLarge` for the body as a
        whole, and `Unavailable` if the backlog is full, Redis is down, or the redacted keys cannot
        be read; then no event was accepted.
        """
        try:
            split = _SPLITTERS[media_type]
        except KeyError:
            raise UnsupportedMediaType(
                "Content-Type must be application/x-ndjson or application/json",
                code="unsupported_content_type",
            ) from None
        org_id = sender.org_id
        with self.refusals_counted(sender):
            self.require_room(org_id)
            redactor = self.redactor(sender)
            with self.unpacking():
                unpacked = unpack(body, encoding, self._runtime.settings.ingest_max_unpacked_bytes)
                decoded = self._decode(unpacked, split, org_id, redactor)
                receipt = receipt_of(sender.origin, unpacked, decoded, redactor)
                batch = decoded.batch
                sender.admit(len(batch))
                if batch.ids:
                    # The original of a redacted body may not be kept.
                    data = (
                        None if redactor else encode_sent(batch, org_id, body, encoding, unpacked)
                    )
                    slug = sender.org_slug
                    self.keep(
                        org_id,
                        lambda client: append(client, org_id, slug, batch, receipt, data=data),
                    )
                else:
                    self.count(org_id, receipt)
        count_batch(sender.origin, len(decoded.batch), decoded.skipped)
        return decoded

    def require_room(self, org_id: str) -> None:
        """Raises `Unavailable` with `Retry-After` while the backlog is full."""
        self._backlog.require_room(org_id)

    def redactor(self, sender: Sender) -> Redactor:
        """Returns the redactor of an organization; raises `Unavailable` if it cannot be read."""
        return self._redactions.of(sender.org_id, sender.epoch)

    def unpacking(self) -> AbstractContextManager[object]:
        """Waits until a body may be unpacked.

        A small body may unpack into a hundred megabytes, so only a few are unpacked at a time.
        """
        return self._unpacking

    @contextmanager
    def refusals_counted(self, sender: Sender) -> Iterator[None]:
        """Counts a request as refused if it has to be sent again later."""
        try:
            yield
        except (Unavailable, RateLimited) as refusal:
            self.count_refusal(sender, refusal)
            raise
        if self._refusals:
            self._refusals.send()

    def count_refusal(self, sender: Sender, refusal: WatchpostError) -> None:
        """Counts a request as refused, at once or as soon as Redis takes it."""
        REFUSED.add(1, sender.origin.source, refusal.code)
        self._refusals.add(sender.org_id, sender.origin, refusal)

    def count(self, org_id: str, receipt: Receipt) -> None:
        """Counts a request that brings nothing to keep, if Redis is there."""
        count_if_possible(self._runtime.redis, [(org_id, receipt)])

    def keep(
        self, org_id: str, write: Callable[[redis.Redis], int], task: Task = PERSIST_EVENTS
    ) -> None:
        """Writes into the backlog of an organization and nudges `task`.

        `write` returns the bytes that it added. After this returns they are on Redis's disk, and on
        as many replicas as configured. Raises `Unavailable` if that is not certain.
        """
        connection = self._connection()
        with self._sync.covering(connection):
            size = write(connection.client)
        self._backlog.added(org_id, size)
        self._wake(task)

    def _decode(
        self, unpacked: bytes, split: _Splitter, org_id: str, redactor: Redactor
    ) -> DecodedBody:
        lines = split(unpacked) if unpacked.strip() else []
        redact = redactor.redact if redactor else None
        most = self._runtime.settings.ingest_max_event_bytes
        return decode_events(lines, org_id, most, redact)

    def _connection(self) -> OwnConnection:
        """Returns one connection per thread, because WriteSync covers a connection's own writes."""
        try:
            connection: OwnConnection = self._local.connection
        except AttributeError:
            connection = self._local.connection = OwnConnection(self._runtime.redis)
        return connection

    def _wake(self, task: Task) -> None:
        try:
            self._runtime.queue.nudge(task)
        except Unavailable:
            # The batch is safe, and the clock wakes the workers while anything waits.
            log.warning("ingest_wake_not_sent")


def count_batch(origin: Origin, accepted: int, skipped: int) -> None:
    """Counts the events or records of a request in the metrics."""
    ACCEPTED.add(accepted, origin.source)
    SKIPPED.add(skipped, origin.source)

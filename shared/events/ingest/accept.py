"""Accepts a POST /events: all steps up to the moment when a collector may forget the batch."""

import threading
from collections.abc import Callable

import redis

from shared.core.errors import Unavailable, UnsupportedMediaType
from shared.core.logs import get_logger
from shared.deployment.runtime import Runtime
from shared.events.batch import Batch
from shared.events.ingest.backlog import Backlog
from shared.events.ingest.body import unpack
from shared.events.ingest.candidates import json_elements, ndjson_lines
from shared.events.ingest.decode import Decoded, decode_events
from shared.events.ingest.stream import DiskSync, append
from shared.events.redaction.redactions import Redactions
from shared.events.redaction.rules import Redactor
from shared.queue.jobs import PERSIST_EVENTS

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
        self._sync = DiskSync(enabled=runtime.settings.ingest_sync)
        self._local = threading.local()
        self._turns = threading.BoundedSemaphore(runtime.settings.ingest_concurrency)

    def accept(
        self,
        *,
        org_id: str,
        org_slug: str,
        body: bytes,
        media_type: str,
        encoding: str,
        epoch: bytes | None = None,
    ) -> Decoded:
        """Accepts the good events of a body; after this returns they will be stored.

        Values of keys that the organization has redacted are removed here, before anything keeps
        them; `epoch` is one that was read before (see `EpochCache`).

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
        self._backlog.require_room(org_id)
        redactor = self._redactions.of(org_id, epoch)
        # A small body may unpack into a hundred megabytes, so only a few are unpacked at a time.
        with self._turns:
            decoded = self._decode(body, encoding, split, org_id, redactor)
            if decoded.batch.ids:
                self._enqueue(org_id, org_slug, decoded.batch)
        return decoded

    def _decode(
        self, body: bytes, encoding: str, split: _Splitter, org_id: str, redactor: Redactor
    ) -> Decoded:
        settings = self._runtime.settings
        unpacked = unpack(body, encoding, settings.ingest_max_unpacked_bytes)
        lines = split(unpacked) if unpacked.strip() else []
        redact = redactor.redact if redactor else None
        return decode_events(lines, org_id, settings.ingest_max_event_bytes, redact)

    def _enqueue(self, org_id: str, org_slug: str, batch: Batch) -> None:
        connection = self._connection()
        size = append(connection, org_id, org_slug, batch)
        self._sync.wait(connection)
        self._backlog.added(org_id, size)
        self._wake()

    def _connection(self) -> redis.Redis:
        """Returns one connection per thread, because DiskSync covers a connection's own writes."""
        try:
            connection: redis.Redis = self._local.connection
        except AttributeError:
            connection = self._runtime.redis.client()  # type: ignore[no-untyped-call] # redis-py
            self._local.connection = connection
        return connection

    def _wake(self) -> None:
        try:
            self._runtime.queue.nudge(PERSIST_EVENTS)
        except Unavailable:
            # The batch is safe, and the clock wakes the workers while anything waits.
            log.warning("ingest_wake_not_sent")

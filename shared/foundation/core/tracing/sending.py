"""Sends spans without ever holding up the code that makes them: what finds no room is dropped."""

import logging
import threading
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult

from shared.foundation.core.logs import get_logger
from shared.foundation.core.metrics.catalogue import SPANS_DROPPED
from shared.foundation.core.tracing.spans import USER_AGENT

log = get_logger(__name__)

# Spans that wait in a process, or are being sent.
MAX_WAITING = 2048
# While a collector is down, its errors become a log line this often.
SAY_SECS = 60.0


class SpanSender(OTLPSpanExporter):
    """The SDK's exporter; it counts the spans on their way and those that could not be sent."""

    def __init__(self, url: str) -> None:
        super().__init__(url, headers={"user-agent": USER_AGENT})
        self._lock = threading.Lock()
        self._waiting = 0

    def admit(self) -> bool:
        """Returns whether there is room for one more span, which then counts as waiting."""
        with self._lock:
            has_room = self._waiting < MAX_WAITING
            self._waiting += has_room
        return has_room

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Sends spans, in the thread of the queue."""
        result = SpanExportResult.FAILURE
        try:
            result = super().export(spans)
        finally:
            with self._lock:
                self._waiting -= len(spans)
            if result is not SpanExportResult.SUCCESS:
                SPANS_DROPPED.add(len(spans), "not_sent")
        return result


class SpanQueue(BatchSpanProcessor):
    """The SDK's queue with a bound of our own: the SDK's would say nothing of what it drops."""

    def __init__(self, sender: SpanSender) -> None:
        super().__init__(sender, max_queue_size=MAX_WAITING)
        self._sender = sender

    def on_end(self, span: ReadableSpan) -> None:
        """Takes a span that has ended."""
        if span.context is None or not span.context.trace_flags.sampled:
            return
        if self._sender.admit():
            super().on_end(span)
        else:
            SPANS_DROPPED.add(1, "queue_full")


class _Rarely(logging.Handler):
    """Turns the warnings of OpenTelemetry into one line in `SAY_SECS`."""

    def __init__(self, hidden: str) -> None:
        super().__init__(logging.WARNING)
        self._hidden = hidden
        self._quiet_until = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Writes the line, unless one was written a short time ago."""
        now = time.monotonic()
        if now < self._quiet_until:
            return
        self._quiet_until = now + SAY_SECS
        reason = record.getMessage()
        # The query of a URL may be a secret.
        log.warning(
            "traces_trouble",
            reason=reason.replace(self._hidden, "[hidden]") if self._hidden else reason,
        )


def say_rarely(url: str) -> None:
    """Limits the log lines of OpenTelemetry in this process; `url` is the collector's."""
    logger = logging.getLogger("opentelemetry")
    logger.handlers[:] = [_Rarely(urlsplit(url).query)]
    logger.propagate = False

"""The evaluator's GET /health, for people who monitor the deployment."""

import http.client
import threading
import time
from concurrent.futures import Future
from functools import partial
from urllib.parse import urlsplit

from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger
from web.probe import Probe

log = get_logger(__name__)

# /ready may be called every second, and the evaluator has other work.
INTERVAL_SECS = 30.0
TIMEOUT_SECS = 2.0


class EvaluatorHealthProbe:
    """The last answer. It is at most 30 s older than the last call of `start`."""

    def __init__(self, endpoint: str | None) -> None:
        self._probe = None if endpoint is None else Probe(partial(_ask, endpoint))
        self._lock = threading.Lock()
        self._current: Future[float] | None = None
        self._started_at = 0.0
        self._last = "unknown"

    def start(self) -> Future[float] | None:
        """Starts a request if the last answer is too old.

        Returns the pending first answer, if any.
        """
        if self._probe is None:
            return None
        with self._lock:
            now = time.monotonic()
            if self._current is None or (
                self._current.done() and now - self._started_at >= INTERVAL_SECS
            ):
                self._last = self._state(now)
                self._current, self._started_at = self._probe.start(), now
            return self._current if self._last == "unknown" else None

    def state(self) -> str:
        """Returns `ok`, `down`, `unknown` (no answer yet) or `disabled` (no evaluator)."""
        if self._probe is None:
            return "disabled"
        with self._lock:
            return self._state(time.monotonic())

    def _state(self, now: float) -> str:
        if self._current is None:
            return "unknown"
        if self._current.done():
            return "down" if self._current.exception() else "ok"
        return "down" if now - self._started_at >= TIMEOUT_SECS else self._last


def _ask(endpoint: str) -> float:
    """Raises `Unavailable` unless the answer is 2xx. It sends no token: /health needs none."""
    try:
        status = _status_of(f"{endpoint.rstrip('/')}/health")
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = type(error).__name__
    else:
        if 200 <= status < 300:
            return 0.0
        reason = f"status {status}"
    log.warning("evaluator_unhealthy", reason=reason)
    raise Unavailable("the evaluator is not healthy")


def _status_of(url: str) -> int:
    parts = urlsplit(url)
    make = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = make(parts.hostname or "", parts.port, timeout=TIMEOUT_SECS)
    try:
        connection.request("GET", parts.path)
        return connection.getresponse().status
    finally:
        connection.close()

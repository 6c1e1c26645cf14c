"""Limits while Redis is killed and comes back, at a real server with two processes."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from devstack import DevStack
from shared.access.settings import service as settings
from shared.access.settings.service import Editor
from shared.foundation.cache import at_once
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers, new_key
from tests.support.databases import environment
from tests.support.otlp import make_span, traces
from tests.support.processes import wait_until
from tests.support.runtime import Org
from tests.support.server import Server, running_server
from tests.support.streams import waiting_payloads

pytestmark = pytest.mark.flow

BATCH, A_DAY, SENDERS = 10, 2000, 3


@pytest.fixture
def server(migrated_stack: DevStack, tmp_path: Path) -> Iterator[Server]:
    environ = {**environment(migrated_stack.urls), "WEB_CONCURRENCY": "2"}
    with running_server(environ, tmp_path / "web.log") as running:
        yield running


@dataclass
class Traffic:
    """Requests of one key, one after the other in each thread, until it is stopped.

    `statuses` are those of each kind of request, `accepted` the numbers of accepted events.
    """

    server: Server
    headers: Headers
    stopped: threading.Event = field(default_factory=threading.Event)
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    accepted: list[int] = field(default_factory=list)

    def send_events(self, sender: int) -> None:
        """Sends batches of events that nothing else sends."""
        first = sender * 1_000_000
        while not self.stopped.is_set():
            numbers = range(first, first + BATCH)
            first += BATCH
            if self._ask("POST", "/v1/events", lines(numbers), "application/x-ndjson") == 202:
                self.accepted += numbers
            self.stopped.wait(0.02)

    def read(self) -> None:
        """Reads what different stores hold, and sends spans."""
        span = traces(make_span()).SerializeToString()
        while not self.stopped.is_set():
            for path in ("/v1/sessions", "/v1/events", "/v1/usage", "/v1/settings"):
                self._ask("GET", path)
            self._ask("POST", "/v1/traces", span, "application/x-protobuf")

    def _ask(self, method: str, path: str, body: bytes | None = None, media: str = "") -> int:
        named = {**self.headers, **({"Content-Type": media} if media else {})}
        status, _, _ = self.server.request(method, path, body, **named)
        self.statuses[path, status] += 1
        return status


def lines(numbers: range) -> bytes:
    event = {"session_id": "s", "timestamp": "2026-11-01T10:00:00Z", "type": "note"}
    return b"\n".join(json.dumps({**event, "n": n}).encode() for n in numbers)


def test_requests_get_503_and_the_limits_hold_afterwards(
    server: Server, migrated_stack: DevStack, runtime: Runtime, org: Org
) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        editor = Editor("t", None)
        key = "limits.org_events_per_day"
        settings.replace(session, runtime.settings, org.uuid, key, A_DAY, editor)
    traffic = Traffic(server, new_key(runtime, org))
    redis = migrated_stack.redis
    with ThreadPoolExecutor(SENDERS + 1) as pool:
        working = [pool.submit(traffic.send_events, number) for number in range(SENDERS)]
        working.append(pool.submit(traffic.read))
        try:
            wait_until(lambda: len(traffic.accepted) >= 2 * BATCH)
            redis.kill()
            try:
                refused = traffic.statuses["/v1/events", 503]
                wait_until(lambda: traffic.statuses["/v1/events", 503] > refused + 10)
            finally:
                redis.start()
                redis.wait_ready()
            before = len(traffic.accepted)
            wait_until(lambda: traffic.statuses["/v1/events", 429] > 5)
        finally:
            traffic.stopped.set()
        for one in working:
            one.result(60)

    assert {status for _, status in traffic.statuses} <= {200, 202, 429, 503}
    assert traffic.statuses["/v1/sessions", 200]
    assert before < len(traffic.accepted) <= A_DAY
    stored = {json.loads(payload)["n"] for payload in waiting_payloads(runtime, org)}
    assert set(traffic.accepted) <= stored
    assert len(stored) <= A_DAY

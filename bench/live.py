"""Events that come in at a steady rate and cost the sender hardly any processor time.

Each organization has one gzip body of 500 events in ten sessions. Only the second in which they
happened changes from one sending to the next. Every timestamp and session id holds that second
(`bench/bodies.py`).
"""

import itertools
import json
import threading
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from http.client import HTTPConnection

from bench.bodies import MARK, Body, stampable

BATCH_EVENTS = 500
_SESSIONS = 10
# Stands for the second in an event until its body is packed.
_STAMP = "0000-00-00T00:00:00"


def body_of(org: int) -> Body:
    """Returns an organization's body."""
    return stampable(_plain(org))


def _plain(org: int) -> bytes:
    lines = (
        json.dumps(_event(org, number, _STAMP), separators=(",", ":"))
        for number in range(BATCH_EVENTS)
    )
    return "\n".join(lines).encode().replace(_STAMP.encode(), MARK)


def _event(org: int, number: int, stamp: str) -> dict[str, object]:
    """Returns an event of one of four kinds in turn, as in an agent's loop.

    One in fifty is an error.
    """
    dice = zlib.crc32(b"%d-%d" % (org, number))
    kind = ("model_request", "model_response", "tool_use", "tool_result")[number % 4]
    event: dict[str, object] = {
        "timestamp": f"{stamp}.{number:06}Z",
        "session_id": f"live_{stamp}_{number % _SESSIONS}",
        "type": "error" if dice % 50 == 0 else kind,
        "environment": "production" if number % _SESSIONS < 8 else "staging",
        "agent_id": "main",
    }
    if dice % 50 == 0:
        event |= {"error_type": f"Error{dice % 7}", "message": f"refused {dice % 1000}"}
    elif kind.startswith("model"):
        event |= {"model": f"model-{dice % 8}", "request_id": f"{stamp}-{number // 2}"}
        if kind == "model_response":
            event |= {"input_tokens": dice % 9000, "output_tokens": dice % 800}
    else:
        event |= {"tool_name": f"tool_{dice % 12}", "tool_call_id": f"{stamp}-{number // 2}"}
    if kind in ("model_response", "tool_result"):
        event["duration_ms"] = 20 + dice % 2000
    words = " ".join(f"{dice * place % 65521:x}" for place in range(1, 30))
    event["content"] = f"the answer of {kind} was {words}"
    return event


class Sender:
    """Posts the organizations' bodies in turn at `rate` events per second until stopped."""

    def __init__(self, port: int, key: str, slugs: Sequence[str], rate: int) -> None:
        self._port = port
        self._key = key
        self._bodies = [(slug, body_of(place)) for place, slug in enumerate(slugs)]
        self._secs_a_body = BATCH_EVENTS / rate
        self._turns = itertools.count()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self.answers: Counter[int] = Counter()
        self.latest_secs = 0.0

    def start(self, connections: int) -> None:
        """Starts sending."""
        self._began = time.monotonic()
        for _ in range(connections):
            thread = threading.Thread(target=self._send, daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Stops after the answer to the last batch."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _send(self) -> None:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=60)
        while True:
            turn = next(self._turns)
            due = self._began + turn * self._secs_a_body
            if self._stop.wait(max(0.0, due - time.monotonic())):
                break
            self.latest_secs = max(self.latest_secs, time.monotonic() - due)
            slug, body = self._bodies[turn % len(self._bodies)]
            headers = {
                "Authorization": f"Bearer {self._key}",
                "X-Service-Org": slug,
                "Content-Type": "application/x-ndjson",
                "Content-Encoding": "gzip",
            }
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
            connection.request("POST", "/v1/events", body.at(stamp), headers)
            answer = connection.getresponse()
            told = answer.read()
            self.answers[answer.status] += 1
            if answer.status not in (202, 503) or b'"skipped":0' not in told.replace(b" ", b""):
                raise SystemExit(f"POST /v1/events answered {answer.status}: {told[:300]!r}")
        connection.close()

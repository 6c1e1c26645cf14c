"""Recorded sessions that are posted at a steady rate until every batch is acknowledged."""

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.client import HTTPException

import msgspec
import xxhash
from clickhouse_driver import Client

from bench.bodies import MARK, in_sessions, stampable
from bench.posting import Poster
from bench.storm.events.checks import Content, event_problems
from devstack.up.deployment import Deployment
from tests.support.airline import load_airline

BATCH_EVENTS = 250
_SENDERS = 4
_AGAIN = frozenset({429, 500, 502, 503, 504})
_PAUSE_SECS = 0.25
# The share of acknowledged batches that are posted once more, as a collector does that lost the
# answer.
_REPEATED = 0.05


class EventLoad:
    """Posts one copy of the recording after the other, each in sessions of its own."""

    def __init__(self, deployment: Deployment, rate: int, seed: int) -> None:
        self._port, self._key = int(deployment.environ["PORT"]), deployment.admin_key
        lines = list(load_airline().recent().lines)
        self._lines = in_sessions(lines, MARK)
        pieces = range(0, len(lines), BATCH_EVENTS)
        self._bodies = [
            stampable(b"\n".join(self._lines[start : start + BATCH_EVENTS])) for start in pieces
        ]
        self._sizes = [min(BATCH_EVENTS, len(lines) - start) for start in pieces]
        self._secs_a_batch = BATCH_EVENTS / rate
        self._seed = seed
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._last: int | None = None
        self._began = 0.0
        self._threads = [
            threading.Thread(target=self._send, args=(random.Random(f"{seed}-{place}"),))
            for place in range(_SENDERS)
        ]
        self._expected: dict[str, Content] = {}
        self._wrong: list[str] = []
        self.answers: Counter[str] = Counter()

    @property
    def slugs(self) -> tuple[str, ...]:
        """The organization."""
        return ("default",)

    def start(self) -> None:
        """Starts posting."""
        self._began = time.monotonic()
        for thread in self._threads:
            thread.start()

    def finish(self) -> None:
        """Posts the rest of the current copy."""
        with self._lock:
            number = next(self._numbers)
            self._numbers = itertools.count(number)
            copies = max(1, -(-number // len(self._bodies)))
            self._last = copies * len(self._bodies)
        for thread in self._threads:
            thread.join()
        self._expected = self._content(copies)

    def sessions(self, _clickhouse: Client) -> dict[str, int]:
        """Returns the number of events of each session."""
        return {session_id: content.events for session_id, content in self._expected.items()}

    def problems(self, clickhouse: Client) -> Iterator[str]:
        """Yields wrong answers, and what is wrong about the stored events."""
        yield from self._wrong
        yield from event_problems(clickhouse, self._expected)

    def _content(self, copies: int) -> dict[str, Content]:
        """Returns the content of every session of that many copies."""
        found: dict[str, list[int]] = {}
        for copy in range(copies):
            stamp = self._stamp(copy).encode()
            for line in self._lines:
                sent = line.replace(MARK, stamp)
                begin = sent.index(b'"session_id":"') + len(b'"session_id":"')
                session_id = sent[begin : sent.index(b'"', begin)].decode()
                found.setdefault(session_id, []).append(xxhash.xxh64_intdigest(sent))
        return {
            session_id: Content(len(hashes), _all_in_one(hashes))
            for session_id, hashes in found.items()
        }

    def _stamp(self, copy: int) -> str:
        return f"s{self._seed % 10**9:09}-{copy:07}-"

    def _next(self) -> int | None:
        with self._lock:
            number = next(self._numbers)
            return None if self._last is not None and number >= self._last else number

    def _send(self, dice: random.Random) -> None:
        poster = Poster(self._port, self._key, timeout=30)
        while (number := self._next()) is not None:
            time.sleep(max(0.0, self._began + number * self._secs_a_batch - time.monotonic()))
            copy, piece = divmod(number, len(self._bodies))
            body = self._bodies[piece].at(self._stamp(copy))
            for _ in range(2 if dice.random() < _REPEATED else 1):
                self._deliver(poster, body, self._sizes[piece])
        poster.close()

    def _deliver(self, poster: Poster, body: bytes, events: int) -> None:
        """Posts a batch until it is acknowledged."""
        while True:
            try:
                status, answer = poster.post(body)
            except (OSError, HTTPException) as error:
                poster.close()
                self._note(type(error).__name__)
                time.sleep(_PAUSE_SECS)
                continue
            self._note(str(status))
            if status == 202:
                if msgspec.json.decode(answer)["accepted"] != events:
                    self._wrong.append(f"a batch of {events} was answered with {answer!r}")
                return
            if status not in _AGAIN:
                self._wrong.append(f"POST /v1/events answered {status}: {answer[:200]!r}")
                return
            time.sleep(_PAUSE_SECS)

    def _note(self, answer: str) -> None:
        with self._lock:
            self.answers[answer] += 1


def _all_in_one(hashes: list[int]) -> int:
    combined = 0
    for one in hashes:
        combined ^= one
    return combined

"""A steady load of events of several organizations, and whether each was stored once."""

import gzip
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, HTTPException

from clickhouse_driver import Client

_AGAIN = frozenset({429, 500, 502, 503, 504})
_PAUSE_SECS = 0.2
_TYPES = ("agent_start", "model_request", "model_response", "tool_use", "tool_result", "agent_end")
_SHOWN = 3

_STORED = """
SELECT org_id, session_id, count(), uniqExact(id), countIf(payload NOT LIKE concat('%', mark, '%'))
FROM (SELECT *, splitByChar('-', session_id)[1] AS mark FROM events FINAL)
GROUP BY org_id, session_id
"""
_RESULTS = "SELECT org_id, session_id, count() FROM evaluations FINAL GROUP BY 1, 2"


class SteadyLoad:
    """Posts sessions of each organization over connections that stay open, until `finish`.

    `orgs` maps slugs to ids. Each sender sends a session in two batches and tries each again until
    it is acknowledged. `answers` counts every answer, and every request that got none by the name
    of the error.
    """

    def __init__(
        self, port: int, key: str, orgs: dict[str, str], rate: float, senders: int = 2
    ) -> None:
        self._port, self._key, self._orgs = port, key, orgs
        self._pause = len(orgs) * senders * len(_TYPES) / 2 / rate
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._sent: dict[str, dict[str, int]] = {slug: {} for slug in orgs}
        self.wrong: list[str] = []
        self.answers: Counter[str] = Counter()
        self._threads = [
            threading.Thread(target=self._send, args=(slug, number))
            for slug in orgs
            for number in range(senders)
        ]
        self._threads += [threading.Thread(target=self._read, args=(slug,)) for slug in orgs]

    def start(self) -> None:
        """Starts sending and reading."""
        for thread in self._threads:
            thread.start()

    def finish(self) -> None:
        """Ends every session that was begun, and waits until all of it is acknowledged."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    @property
    def accepted(self) -> int:
        """The number of batches that were acknowledged."""
        with self._lock:
            return self.answers["202"]

    def sessions(self) -> dict[tuple[str, str], int]:
        """Returns the number of events of each session, by the ids of organization and session."""
        return {
            (self._orgs[slug], session): events
            for slug, sessions in self._sent.items()
            for session, events in sessions.items()
        }

    def event_problems(self, clickhouse: Client) -> Iterator[str]:
        """Yields what was lost, doubled, or stored for another organization."""
        yield from self.wrong
        wanted = self.sessions()
        rows = {(row[0], row[1]): row[2:] for row in clickhouse.execute(_STORED)}
        mine = {one for one in rows if one[0] in self._orgs.values()}
        lost = [one for one, count in wanted.items() if rows.get(one, (0, 0, 0))[1] < count]
        if lost:
            yield f"events of {len(lost)} sessions are LOST, as {_some(lost)}"
        doubled = [one for one in mine if rows[one][0] > wanted.get(one, 0)]
        if doubled:
            yield f"events of {len(doubled)} sessions are DOUBLED, as {_some(doubled)}"
        if foreign := [one for one in mine if one not in wanted or rows[one][2]]:
            yield f"{len(foreign)} sessions are FOREIGN, as {_some(foreign)}"

    def result_problems(self, clickhouse: Client) -> Iterator[str]:
        """Yields which sessions have no result, or two."""
        wanted = self.sessions()
        rows = {(row[0], row[1]): row[2] for row in clickhouse.execute(_RESULTS)}
        if missing := wanted.keys() - rows.keys():
            yield f"{len(missing)} sessions have NO result, as {_some(missing)}"
        if twice := [one for one in wanted if rows.get(one, 0) > 1]:
            yield f"{len(twice)} sessions have TWO results, as {_some(twice)}"

    def _send(self, slug: str, number: int) -> None:
        poster = _Poster(self._port, self._key, slug)
        count, half = 0, len(_TYPES) // 2
        while not self._stopping.is_set():
            began = time.monotonic()
            session = f"{slug}-{number}-{count}"
            lines = _lines(session)
            with self._lock:
                self._sent[slug][session] = len(lines)
            for batch in (lines[:half], lines[half:]):
                # Packed so well that the body itself goes into the stream.
                self._deliver(poster, gzip.compress(b"\n".join(batch)), len(batch))
                self._stopping.wait(max(0.0, began + self._pause - time.monotonic()))
                began += self._pause
            count += 1
        poster.close()

    def _deliver(self, poster: "_Poster", body: bytes, events: int) -> None:
        while True:
            status, answer = poster.ask("POST", "/v1/events", body)
            self._note(status)
            if status == "202":
                if json.loads(answer)["accepted"] != events:
                    self.wrong.append(f"a batch of {events} was answered with {answer!r}")
                return
            if status.isdecimal() and int(status) not in _AGAIN:
                self.wrong.append(f"POST /v1/events answered {status}: {answer[:200]!r}")
                return
            time.sleep(_PAUSE_SECS)

    def _read(self, slug: str) -> None:
        reader = _Poster(self._port, self._key, slug)
        while not self._stopping.wait(0.5):
            status, answer = reader.ask("GET", "/v1/sessions?limit=20")
            self._note(f"GET {status}")
            if status == "200":
                listed = [row["session_id"] for row in json.loads(answer)["sessions"]]
                if foreign := [one for one in listed if not one.startswith(f"{slug}-")]:
                    self.wrong.append(f"GET /v1/sessions of {slug} shows {_some(foreign)}")
            elif status.isdecimal() and int(status) not in _AGAIN:
                self.wrong.append(f"GET /v1/sessions answered {status}: {answer[:200]!r}")
        reader.close()

    def _note(self, answer: str) -> None:
        with self._lock:
            self.answers[answer] += 1


class _Poster:
    """A connection that stays open, for one organization."""

    def __init__(self, port: int, key: str, slug: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {
            "Authorization": f"Bearer {key}",
            "X-Service-Org": slug,
            "Content-Type": "application/x-ndjson",
            "Content-Encoding": "gzip",
        }

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[str, bytes]:
        """Returns the status and the body, or the name of the error."""
        try:
            headers = self._headers if body else {**self._headers, "Content-Encoding": "identity"}
            self._connection.request(method, path, body, headers)
            answer = self._connection.getresponse()
            return str(answer.status), answer.read()
        except (OSError, HTTPException) as error:
            self._connection.close()
            return type(error).__name__, b""

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()


def _lines(session: str) -> list[bytes]:
    began = datetime.now(UTC) - timedelta(seconds=30)
    return [
        json.dumps(
            {
                "timestamp": (began + timedelta(milliseconds=place)).isoformat(),
                "session_id": session,
                "agent_id": "main",
                "type": event_type,
                "tool_name": "look",
                "tool_call_id": session,
                "text": "words " * 200,
            }
        ).encode()
        for place, event_type in enumerate(_TYPES)
    ]


def _some(found: Sequence[object] | set[tuple[str, str]]) -> str:
    return ", ".join(sorted(map(str, found))[:_SHOWN])

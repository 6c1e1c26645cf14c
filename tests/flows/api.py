"""The API as its clients use it: over HTTP, with retries, page by page."""

import gzip
import http.client
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

_AGAIN = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Api:
    """A client of one deployment. Every call opens a connection."""

    port: int
    key: str

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """Returns status and body of one request.

        Raises `OSError` or `HTTPException` without an answer.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(
                method, f"/v1{path}", body, {"Authorization": f"Bearer {self.key}", **named}
            )
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def get(self, path: str, **query: object) -> Any:
        """Returns the decoded answer to a GET. Fails the test for anything but 200."""
        status, body = self.request("GET", f"{path}?{urlencode(query)}" if query else path)
        assert status == 200, body
        return json.loads(body)

    def rows(self, resource: str, **query: object) -> Iterator[dict[str, Any]]:
        """Returns all rows of a list, page by page."""
        cursor: dict[str, object] = {}
        while True:
            page = self.get(f"/{resource}", **query, **cursor)
            yield from page[resource]
            if page["next_cursor"] is None:
                return
            cursor = {"cursor": page["next_cursor"]}

    def export(self, session_id: str) -> list[dict[str, Any]]:
        """Returns the lines of a session's export."""
        status, body = self.request("GET", f"/sessions/{quote(session_id, safe='')}/export")
        assert status == 200, body
        return [json.loads(line) for line in body.splitlines()]

    def deliver(self, lines: Sequence[bytes], seconds: float = 120.0) -> None:
        """Posts one gzip batch as a collector does: it retries until the batch is acknowledged."""
        body = gzip.compress(b"\n".join(lines))
        deadline = time.monotonic() + seconds
        while True:
            try:
                status, answer = self.request(
                    "POST",
                    "/events",
                    body,
                    Content_Type="application/x-ndjson",
                    Content_Encoding="gzip",
                )
            except (OSError, http.client.HTTPException) as error:
                status, answer = 503, repr(error).encode()
            if status == 202:
                assert json.loads(answer)["accepted"] == len(lines), answer
                return
            assert status in _AGAIN, answer
            assert time.monotonic() < deadline, answer
            time.sleep(0.25)


def batches(lines: Sequence[bytes], size: int = 500) -> list[Sequence[bytes]]:
    """Returns the lines in batches."""
    return [lines[start : start + size] for start in range(0, len(lines), size)]


def eventually(seconds: float, what: str, holds: Any, *, pause: float = 0.25) -> float:
    """Waits until `holds()` is true and returns the seconds.

    Fails the test when it takes too long.
    """
    started = time.monotonic()
    while not holds():
        assert time.monotonic() - started < seconds, f"not within {seconds:g} s: {what}"
        time.sleep(pause)
    return time.monotonic() - started

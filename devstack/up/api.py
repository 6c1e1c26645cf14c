"""The few calls of the service's HTTP API that a demonstration needs."""

import gzip
import http.client
import time
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec

_TIMEOUT_SECONDS = 60.0
_FULL_BACKLOG_TRIES = 20
# Keeps request lines below the 4 KiB that some servers and proxies allow.
_IDS_A_REQUEST = 50

Row = dict[str, Any]


class ApiError(Exception):
    """The service answered with an error; the message has the status and the body."""


class Api:
    """Calls to one deployment with one key, over one connection."""

    def __init__(self, url: str, key: str) -> None:
        origin = urlsplit(url)
        self._connection = http.client.HTTPConnection(
            origin.hostname or "", origin.port, timeout=_TIMEOUT_SECONDS
        )
        self._headers = {"Authorization": f"Bearer {key}"}

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def post_events(self, lines: Sequence[bytes]) -> Row:
        """Sends one gzip batch, again while the backlog is full; returns the answer."""
        headers = {"Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"}
        body = gzip.compress(b"\n".join(lines))
        for _ in range(_FULL_BACKLOG_TRIES):
            status, retry_after, answer = self._call("POST", "/v1/events", body, headers)
            if status == http.client.ACCEPTED:
                return _decoded(answer)
            if status != http.client.SERVICE_UNAVAILABLE:
                break
            time.sleep(float(retry_after or 1))
        raise ApiError(f"POST /v1/events: {status} {answer.decode(errors='replace')}")

    def rows(self, resource: str, session_ids: Sequence[str], limit: int) -> Iterator[Row]:
        """All rows of `events`, `sessions` or `evaluations` of these sessions, page by page."""
        for start in range(0, len(session_ids), _IDS_A_REQUEST):
            wanted = ",".join(session_ids[start : start + _IDS_A_REQUEST])
            yield from self.pages(resource, {"session_id": wanted, "limit": str(limit)})

    def pages(self, resource: str, query: dict[str, str]) -> Iterator[Row]:
        """All rows of a resource that a query finds, page by page."""
        cursor: str | None = None
        while True:
            page = self.get(f"/v1/{resource}", query | ({"cursor": cursor} if cursor else {}))
            yield from page[resource]
            cursor = page["next_cursor"]
            if cursor is None:
                break

    def run_sql(self, sql: str, params: Sequence[object]) -> list[list[Any]]:
        """The rows that a statement finds."""
        answer = self.send("POST", "/v1/queries/run", {"sql": sql, "params": params})
        rows: list[list[Any]] = answer["rows"]
        return rows

    def send(self, method: str, path: str, body: object) -> Row:
        """The answer of a route that is sent JSON. A lost connection may have it done twice."""
        content = msgspec.json.encode(body)
        headers = {"Content-Type": "application/json"}
        return _decoded(self._answer(method, path, content, headers))

    def get(self, path: str, query: dict[str, str]) -> Row:
        """The answer of a route that reads."""
        return _decoded(self._answer("GET", f"{path}?{urlencode(query)}"))

    def listing(self, path: str, query: dict[str, str]) -> list[Row]:
        """The answer of a route that reads a whole list."""
        answer = self._answer("GET", f"{path}?{urlencode(query)}")
        rows: list[Row] = msgspec.json.decode(answer, type=list[Row])
        return rows

    def _answer(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> bytes:
        status, _, answer = self._call(method, target, body, headers)
        if not http.client.OK <= status < http.client.MULTIPLE_CHOICES:
            path = target.partition("?")[0]
            raise ApiError(f"{method} {path}: {status} {answer.decode(errors='replace')}")
        return answer

    def _call(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, str | None, bytes]:
        """Status, Retry-After and body; a lost connection is opened again once.

        Servers close idle connections, and the same event sent twice is stored once.
        """
        try:
            return self._call_once(method, target, body, headers or {})
        except (OSError, http.client.HTTPException):
            self._connection.close()
        try:
            return self._call_once(method, target, body, headers or {})
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise ApiError(f"{method} {target}: {error!r}") from error

    def _call_once(
        self, method: str, target: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, str | None, bytes]:
        self._connection.request(method, target, body, self._headers | headers)
        response = self._connection.getresponse()
        return response.status, response.headers["Retry-After"], response.read()


def _decoded(answer: bytes) -> Row:
    row: Row = msgspec.json.decode(answer, type=Row)
    return row

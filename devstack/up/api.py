"""The calls of the service's HTTP API that the demonstration needs."""

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
    """The service answered with an error. The message has the status and the body."""


class Api:
    """Calls to one deployment with one key, over one connection."""

    def __init__(self, url: str, key: str) -> None:
        origin = urlsplit(url)
        self._connection = http.client.HTTPConnection(
            origin.hostname or "", origin.port, timeout=_TIMEOUT_SECONDS
        )
        self._headers = {"Authorization": f"Bearer {key}"}

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def post_events(self, lines: Sequence[bytes]) -> Row:
        """Sends one gzip batch and retries while the backlog is full. Returns the answer."""
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
        """Returns all rows of `events`, `sessions` or `evaluations` of these sessions."""
        for start in range(0, len(session_ids), _IDS_A_REQUEST):
            wanted = ",".join(session_ids[start : start + _IDS_A_REQUEST])
            yield from self.pages(resource, {"session_id": wanted, "limit": str(limit)})

    def pages(self, resource: str, query: dict[str, str]) -> Iterator[Row]:
        """Returns all rows of a resource that match a query, page by page."""
        cursor: str | None = None
        while True:
            page = self.get(f"/v1/{resource}", query | ({"cursor": cursor} if cursor else {}))
            yield from page[resource]
            cursor = page["next_cursor"]
            if cursor is None:
                break

    def run_sql(self, sql: str, params: Sequence[object]) -> list[list[Any]]:
        """Returns the rows of a statement."""
        answer = self.send("POST", "/v1/queries/run", {"sql": sql, "params": params})
        return msgspec.convert(answer["rows"], list[list[Any]])

    def send(self, method: str, path: str, body: object) -> Row:
        """Sends JSON to a route and returns the answer. May send twice after a lost connection."""
        content = msgspec.json.encode(body)
        headers = {"Content-Type": "application/json"}
        return _decoded(self._answer(method, path, content, headers))

    def get(self, path: str, query: dict[str, str]) -> Row:
        """Returns the answer of a GET."""
        return _decoded(self._answer("GET", f"{path}?{urlencode(query)}"))

    def listing(self, path: str, query: dict[str, str]) -> list[Row]:
        """Returns the whole list of a route that does not page."""
        answer = self._answer("GET", f"{path}?{urlencode(query)}")
        return msgspec.json.decode(answer, type=list[Row])

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
        *,
        reopen: bool = True,
    ) -> tuple[int, str | None, bytes]:
        """Returns status, Retry-After and body. Reopens a lost connection once.

        Servers close idle connections. An event that is sent twice is stored once.
        """
        try:
            self._connection.request(method, target, body, self._headers | (headers or {}))
            response = self._connection.getresponse()
            return response.status, response.headers["Retry-After"], response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            if not reopen:
                raise ApiError(f"{method} {target}: {error!r}") from error
        return self._call(method, target, body, headers, reopen=False)


def _decoded(answer: bytes) -> Row:
    return msgspec.json.decode(answer, type=Row)

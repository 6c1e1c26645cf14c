"""One connection that posts events and reads."""

from http.client import HTTPConnection

from devstack.ports import LOOPBACK


class Poster:
    """A connection to `web` that stays open and sends with one key; `org` is a slug."""

    def __init__(
        self, port: int, key: str, timeout: float = 120.0, *, org: str | None = None
    ) -> None:
        self._connection = HTTPConnection(LOOPBACK, port, timeout=timeout)
        self._auth = {"Authorization": f"Bearer {key}"}
        if org is not None:
            self._auth["X-Service-Org"] = org

    def post(self, body: bytes, encoding: str = "gzip") -> tuple[int, bytes]:
        """Posts a batch of events. Returns the status and the body of the answer."""
        headers = {
            **self._auth,
            "Content-Type": "application/x-ndjson",
            "Content-Encoding": encoding,
        }
        self._connection.request("POST", "/v1/events", body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def get(self, path: str) -> tuple[int, bytes]:
        """Returns the status and the body of the answer to a GET."""
        self._connection.request("GET", path, headers=self._auth)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def close(self) -> None:
        """Closes the connection. The next request opens it again."""
        self._connection.close()

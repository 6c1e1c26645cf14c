"""One HTTP connection to Watchpost, kept open between requests, through a proxy if one is set."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from watchpost_collect.settings import Target

TIMEOUT_SECS = 60
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
JSON, PROTOBUF = "application/json", "application/x-protobuf"


@dataclass(frozen=True)
class Answer:
    """An answer. `document` is the body if that is a JSON object, else empty."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def is_watchposts(self, counts: Sequence[str]) -> bool:
        """Returns whether the body has a type of Watchpost's and these numbers: no proxy's page."""
        return self.media_type in (JSON, PROTOBUF) and all(
            isinstance(self.document.get(name), int) for name in counts
        )

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip()

    @property
    def document(self) -> dict[str, Any]:
        try:
            decoded = json.loads(self.body)
        except ValueError:
            return {}
        return decoded if isinstance(decoded, dict) else {}

    @property
    def problem(self) -> str:
        """Returns the status and the server's reason, such as `413 body is too large`."""
        document = self.document
        text = document.get("error") or document.get("message")
        if not text and "location" in self.headers:
            text = f"the URL redirects to {self.headers['location']}"
        return f"{self.status} {text or http.client.responses.get(self.status, '')}".strip()

    @property
    def retry_after(self) -> float | None:
        """Returns the seconds that the server asks to wait, or None."""
        value = self.headers.get("retry-after", "").strip()
        if value.isdigit():
            return float(value)
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        except (TypeError, ValueError, IndexError):  # what it raises differs between versions
            return None


class Connection:
    """Sends requests one after the other. Not for several threads."""

    def __init__(self, target: Target, headers: Mapping[str, str]) -> None:
        self._target = target
        self._headers = {**headers, "Authorization": f"Bearer {target.key}"}
        self._open: http.client.HTTPConnection | None = None
        self._proxy = _proxy_of(target)

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """Returns the answer to one request. Raises `OSError` or `HTTPException` without one."""
        reused = self._open is not None
        try:
            return self._exchange(method, path, body, headers)
        except (ConnectionError, http.client.HTTPException):
            if not reused:
                raise
        # The server may have closed a connection that was idle.
        return self._exchange(method, path, body, headers)

    def _exchange(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        connection = self._open = self._open or self._connect()
        address = self._target.prefix + path
        if self._proxy and self._target.scheme == "http":
            address = self._target.url + path
        try:
            try:
                connection.request(method, address, body, {**self._headers, **headers})
            except (BrokenPipeError, ConnectionResetError):
                # A server that refuses a body answers before it has read all of it.
                if connection.sock is None:
                    raise
            response = connection.getresponse()
            named = {name.lower(): value for name, value in response.getheaders()}
            answer = Answer(response.status, named, response.read())
        except BaseException:
            self.close()
            raise
        if response.will_close:
            self.close()
        return answer

    def _connect(self) -> http.client.HTTPConnection:
        target = self._target
        host, port = self._proxy or (target.host, target.port)
        if target.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECS)
        secure = http.client.HTTPSConnection(
            host, port, timeout=TIMEOUT_SECS, context=ssl.create_default_context()
        )
        if self._proxy:
            secure.set_tunnel(target.host, target.port)
        return secure

    def close(self) -> None:
        """Closes the connection; the next request opens another."""
        if self._open is not None:
            self._open.close()
            self._open = None


def _proxy_of(target: Target) -> tuple[str, int] | None:
    """Returns host and port of the proxy that the environment names for this host."""
    if target.host in _LOOPBACK or proxy_bypass(target.host):
        return None
    proxy = getproxies().get(target.scheme)
    if not proxy:
        return None
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    return (parts.hostname, parts.port or 3128) if parts.hostname else None

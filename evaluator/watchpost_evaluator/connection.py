"""Requests to Watchpost, through a proxy if one is set, and never beyond a redirect."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.error import URLError
from urllib.parse import quote, urlsplit
from urllib.request import (
    HTTPErrorProcessor,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from watchpost_evaluator.errors import (
    BadSession,
    CredentialRefused,
    KitError,
    Unreachable,
    UsageError,
)
from watchpost_evaluator.session import Session, read_session

MOST_BYTES = 256 * 1024 * 1024
_PIECE_BYTES = 256 * 1024
TIMEOUT_SECS = 60.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Target:
    """A deployment of Watchpost, without `/v1`, and the key or token for it."""

    url: str
    key: str


@dataclass(frozen=True)
class Answer:
    """An answer. `document` is the body if that is a JSON object, else empty."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        """Returns the body as a JSON object."""
        try:
            decoded = json.loads(self.body)
        except ValueError:
            return {}
        return decoded if isinstance(decoded, dict) else {}

    @property
    def problem(self) -> str:
        """Returns the status and the server's reason, such as `404 there is no such session`."""
        document = self.document
        error = document.get("error") or document.get("message")
        if isinstance(error, dict):  # of the routes of workers
            error = error.get("message")
        if not error and "location" in self.headers:
            error = f"the URL redirects to {self.headers['location']}"
        return f"{self.status} {error or http.client.responses.get(self.status, '')}".strip()


class _EveryStatus(HTTPErrorProcessor):
    """Leaves every answer as it is. A redirect would carry the key to another server."""

    def http_response(self, request: Request, response: Any) -> Any:  # noqa: ARG002 urllib's
        """Returns the response."""
        return response

    https_response = http_response


def read_target(environ: Mapping[str, str], variable: str) -> Target:
    """Returns the deployment of WATCHPOST_URL, with the key of a variable. Raises `UsageError`."""
    address = environ.get("WATCHPOST_URL", "").strip()
    if not address:
        raise UsageError("no URL: set WATCHPOST_URL, as in http://127.0.0.1:8000")
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as error:
        raise UsageError(f"WATCHPOST_URL is malformed: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("WATCHPOST_URL must look like https://watchpost.example.com")
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError(f"WATCHPOST_URL holds a host, a port and a path only; set {variable} too")
    key = environ.get(variable, "").strip()
    if not key:
        raise UsageError(f"no key: set {variable}")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError(f"{variable} must be printable ASCII characters without spaces")
    url = address.rstrip("/")
    return Target(url[: -len("/v1")] if url.endswith("/v1") else url, key)


def exchange(
    target: Target,
    method: str,
    path: str,
    document: object = None,
    headers: Mapping[str, str] | None = None,
    timeout_secs: float = TIMEOUT_SECS,
) -> Answer:
    """Returns the answer to one request. `path` begins with `/v1`. Raises `Unreachable`."""
    body = None if document is None else json.dumps(document, allow_nan=False).encode()
    sent = {"Accept": "application/json", "Authorization": f"Bearer {target.key}"}
    if body is not None:
        sent["Content-Type"] = "application/json"
    request = Request(  # noqa: S310 read_target checks the scheme
        target.url + path, body, {**sent, **(headers or {})}, method=method
    )
    try:
        with _opener(target.url).open(request, timeout=timeout_secs) as response:
            content = _read(response)
            named = {name.lower(): value for name, value in response.headers.items()}
            answer = Answer(response.status, named, content)
    except (URLError, OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise Unreachable(
            f"cannot reach Watchpost at {target.url}: {reason or type(error).__name__}."
            " Check the URL and the network, then try again."
        ) from error
    if len(content) > MOST_BYTES:
        raise KitError(f"the answer to {method} {path} is larger than {MOST_BYTES} bytes")
    return answer


def _read(response: Any) -> bytes:
    """Returns the body, or a little more than `MOST_BYTES` of it.

    It is read in pieces: Python 3.9 allots as many bytes as it is asked for, before they are there.
    """
    content = bytearray()
    while len(content) <= MOST_BYTES:
        piece = response.read(_PIECE_BYTES)
        if not piece and response.length:
            raise http.client.IncompleteRead(bytes(content), response.length)
        if not piece:
            break
        content += piece
    return bytes(content)


@lru_cache(maxsize=8)
def _opener(url: str) -> OpenerDirector:
    """Returns one for all requests to an address: to make it takes longer than a request."""
    if urlsplit(url).hostname in _LOOPBACK:
        return build_opener(_EveryStatus, ProxyHandler({}))
    return build_opener(_EveryStatus)


def fetch(target: Target, session_id: str) -> Session:
    """Returns a stored session. Raises `KitError`."""
    path = f"/v1/sessions/{quote(session_id, safe='')}/export?format=json"
    answer = exchange(target, "GET", path)
    if answer.status in (401, 403):
        needed = answer.document.get("required_permission", "events:read")
        raise CredentialRefused(
            f"Watchpost refused the key: {answer.problem}. Check WATCHPOST_KEY;"
            f" the key needs the permission {needed}."
        )
    if answer.status != 200:
        raise KitError(f"cannot read the session {session_id}: {answer.problem}")
    try:
        return read_session(answer.body)
    except BadSession as error:
        raise KitError(f"{target.url} is no Watchpost: {error}") from error

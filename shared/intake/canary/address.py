"""Where a canary finds web, and the request that it sends there."""

import json
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from shared.foundation.core.config import Settings

_TIMEOUT_SECS = 5.0
_MOST_BYTES = 65_536
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "[::]": "[::1]"}  # noqa: S104 compared only

# The status of an answer, and the code of its error.
Answer = tuple[int, str]


class NoWebAnswer(Exception):
    """Web did not answer as Watchpost does."""


class Web:
    """The address of web: CANARY_URL, or a guess that was right once.

    PORT and PUBLIC_URL are guesses, because web may run on another machine, or be reached from
    outside only. A guess counts from its first answer on.
    """

    def __init__(self, settings: Settings) -> None:
        self._url = settings.canary_url
        here = _EVERYWHERE.get(settings.web_bind, settings.web_bind)
        self._guesses = [f"http://{here}:{settings.port}", settings.public_url]

    def url(self) -> str | None:
        """Returns the address; None if none is known and no guess answers now."""
        if self._url is None:
            self._url = next((url for url in self._guesses if url and _is_watchpost(url)), None)
        return self._url


def post(url: str, line: bytes, secret: str) -> Answer:
    """Sends one event to web; raises `NoWebAnswer`."""
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/x-ndjson"}
    status, body = _request(url, "POST", "/v1/events", line, headers)
    return status, str(body.get("code", ""))


def _is_watchpost(url: str) -> bool:
    try:
        status, body = _request(url, "GET", "/v1/health", None, {})
    except NoWebAnswer:
        return False
    return status == 200 and body == {"status": "ok"}


def _request(
    url: str, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
) -> tuple[int, Mapping[str, object]]:
    parts = urlsplit(url)
    make = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = make(parts.netloc, timeout=_TIMEOUT_SECS)
    try:
        connection.request(method, parts.path.rstrip("/") + path, body, dict(headers))
        answer = connection.getresponse()
        found = json.loads(answer.read(_MOST_BYTES) or b"{}")
    except (OSError, HTTPException, ValueError) as error:
        raise NoWebAnswer(type(error).__name__) from error
    finally:
        connection.close()
    if not isinstance(found, dict):
        raise NoWebAnswer("the answer is not ours")
    return answer.status, found

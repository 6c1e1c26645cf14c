"""Requests to the provider: bounded in time and size, without redirects."""

import json
import ssl
import time
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

import urllib3
from urllib3.exceptions import HTTPError

from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger

log = get_logger(__name__)

# Of a whole exchange. A person waits for two or three of them.
DEADLINE_SECS = 8.0
_MAX_BYTES = 1024 * 1024
_PIECE = 64 * 1024


@cache
def _trust() -> ssl.SSLContext:
    """Returns the certificates that the machine trusts; reading them takes 40 ms."""
    return ssl.create_default_context()


class Http:
    """Connections to one provider, with the certificates that the machine trusts."""

    def __init__(self) -> None:
        self._pool = urllib3.PoolManager(
            ssl_context=_trust(),
            timeout=urllib3.Timeout(total=DEADLINE_SECS),
            retries=False,
        )

    def get(self, url: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Returns the JSON object at a URL; raises `Unavailable` for everything else."""
        status, found = self._exchange("GET", url, None, headers or {})
        if status != 200 or found is None:
            raise self._gone("status", str(status))
        return found

    def post(
        self, url: str, form: Mapping[str, str], headers: Mapping[str, str]
    ) -> tuple[int, dict[str, Any]]:
        """Sends a form. Returns the status, below 500, and the JSON object of the answer.

        Raises `Unavailable` if the provider is down.
        """
        sent = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        status, found = self._exchange("POST", url, urlencode(form), sent)
        if status >= 500 or found is None:
            raise self._gone("status", str(status))
        return status, found

    def _exchange(
        self, method: str, url: str, body: str | None, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, Any] | None]:
        until = time.monotonic() + DEADLINE_SECS
        asked = {"Accept": "application/json", **headers}
        try:
            answer = self._pool.request(
                method, url, body=body, headers=asked, redirect=False, preload_content=False
            )
            try:
                content = self._read(answer, until)
            finally:
                answer.close()
        except (HTTPError, OSError) as error:
            raise self._gone("error", type(error).__name__) from None
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        return answer.status, found if isinstance(found, dict) else None

    def _read(self, answer: urllib3.BaseHTTPResponse, until: float) -> bytes:
        content = b""
        while piece := answer.read(_PIECE, decode_content=True):
            content += piece
            if len(content) > _MAX_BYTES:
                raise self._gone("size", "too large")
            if time.monotonic() > until:
                raise self._gone("error", "slow")
        return content

    def _gone(self, kind: str, reason: str) -> Unavailable:
        # Neither the URL nor the body: both may hold what must not be in a log.
        log.warning("oidc_provider_unavailable", **{kind: reason})
        return Unavailable(
            "the sign-in provider does not answer: try again", code="provider_unavailable"
        )

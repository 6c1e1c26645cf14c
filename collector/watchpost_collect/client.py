"""Requests to Watchpost that are repeated until they are answered for good."""

from __future__ import annotations

import http.client
import itertools
import random
import time
from collections.abc import Mapping, Sequence
from typing import Callable

from watchpost_collect import __version__
from watchpost_collect.connection import Answer, Connection
from watchpost_collect.errors import CredentialRefused, Unavailable, Unreachable
from watchpost_collect.settings import Target

USER_AGENT = f"watchpost-collect/{__version__}"
TRIES = 5
_FIRST_WAIT_SECS, _LONGEST_WAIT_SECS = 1.0, 60.0
_LONGEST_RETRY_AFTER_SECS = 300.0
_AGAIN = (408, 429)


class Declined(Exception):
    """Watchpost refuses this request for good, with a 4xx that is not about the credential."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.problem)
        self.answer = answer


class NotTaken(Exception):
    """A request that may be taken later. `error`: the reason why no server of Watchpost's answered.

    `retry_after`: the seconds that the server asks to wait, or None.
    """

    def __init__(
        self, problem: str, retry_after: float | None = None, error: Exception | None = None
    ) -> None:
        super().__init__(problem)
        self.retry_after = retry_after
        self.error = error


def wait_secs(failures: int, retry_after: float | None) -> float:
    """Returns how long to wait after so many failures."""
    if retry_after is not None:
        return min(_LONGEST_RETRY_AFTER_SECS, max(retry_after, 0.1))
    longest = min(_LONGEST_WAIT_SECS, _FIRST_WAIT_SECS * 2.0 ** min(failures - 1, 10))
    return longest * random.uniform(0.75, 1.0)  # noqa: S311 spreads many collectors


class Client:
    """A deployment of Watchpost.

    `tries` limits how often a request is sent before it fails for good; None: its caller sends it
    again. `tell` gets a sentence before each wait. `answered` counts the requests that were
    answered for good.
    """

    def __init__(
        self,
        target: Target,
        machine_id: str | None,
        *,
        tries: int | None,
        tell: Callable[[str], None],
    ) -> None:
        headers = {"User-Agent": USER_AGENT}
        if machine_id is not None:
            headers["X-Watchpost-Machine-Id"] = machine_id
        self._connection = Connection(target, headers)
        self._url = target.url
        self._tries = tries
        self._tell = tell
        self.answered = 0

    def close(self) -> None:
        self._connection.close()

    def post(
        self,
        path: str,
        body: bytes,
        headers: Mapping[str, str],
        *,
        expected: int = 200,
        counts: Sequence[str] = (),
    ) -> Answer:
        """Returns the answer once it has the expected status, and these numbers in its JSON.

        Raises `Declined` for a 4xx that another try would not change, and `CredentialRefused` for
        401 and 403. Without `tries` it raises `NotTaken`; with them, after the last one,
        `Unreachable` if no server of Watchpost's answered it, else `Unavailable`.
        """
        for attempt in itertools.count(1):
            try:
                return self._try(path, body, headers, expected, counts)
            except NotTaken as failure:
                if self._tries is None:
                    raise
                if attempt == self._tries:
                    self._give_up(failure)
                wait = wait_secs(attempt, failure.retry_after)
                self._tell(f"{failure}; trying again in {wait:.1f} s")
            time.sleep(wait)
        raise AssertionError  # the loop has no end

    def _try(
        self,
        path: str,
        body: bytes,
        headers: Mapping[str, str],
        expected: int,
        counts: Sequence[str],
    ) -> Answer:
        try:
            answer = self._connection.exchange("POST", path, body, headers)
        except (OSError, http.client.HTTPException) as failure:
            raise NotTaken(_described(failure), error=failure) from failure
        if answer.status == expected and answer.is_watchposts(counts):
            self.answered += 1
            return answer
        if 400 <= answer.status < 500 and answer.status not in _AGAIN:
            self.answered += 1
            _refuse(answer)
        problem = answer.problem
        if answer.status < 400:
            problem = f"{answer.status}, which is no answer of Watchpost's ({problem})"
            raise NotTaken(problem, answer.retry_after, ValueError(problem))
        raise NotTaken(problem, answer.retry_after)

    def _give_up(self, failure: NotTaken) -> None:
        tried = f"{self._url}: {failure}, after {self._tries} tries; nothing was removed."
        if failure.error is not None:
            advice = "Check the URL and the network, then run this again."
            raise Unreachable(f"cannot reach Watchpost at {tried} {advice}") from failure.error
        raise Unavailable(f"Watchpost does not take data at {tried} Run this again later.")


def _refuse(answer: Answer) -> None:
    if answer.status in (401, 403):
        needed = answer.document.get("required_permission", "events:add")
        raise CredentialRefused(
            f"Watchpost refused the key: {answer.problem}. Check WATCHPOST_KEY or --key-file;"
            f" the key needs the permission {needed}. Nothing was removed."
        )
    raise Declined(answer)


def _described(failure: Exception) -> str:
    return str(failure) or type(failure).__name__

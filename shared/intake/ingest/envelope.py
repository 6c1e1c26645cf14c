"""The fields that every event has, and the rules for them that their types do not express."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec
from msgspec import Meta

from shared.foundation.core.json_words import in_json_words
from shared.intake.ingest.batch import MAX_FUTURE

_OLDEST_US = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class EventRejected(Exception):
    """One event cannot be accepted; the message is for the sender."""


class Envelope(msgspec.Struct, gc=False):
    """The fields that every event must have, typed and bounded."""

    session_id: Annotated[str, Meta(min_length=1, max_length=256)]
    timestamp: Annotated[datetime, Meta(tz=True)]
    type: Annotated[str, Meta(min_length=1, max_length=64)]
    agent_id: Annotated[str, Meta(min_length=1, max_length=256)] = "main"
    environment: Annotated[str, Meta(min_length=1, max_length=64)] = "default"


class Bounds:
    """The rules for the events of one body; names that were found good are not checked again."""

    def __init__(self, received_us: int) -> None:
        self._newest_us = received_us + MAX_FUTURE // timedelta(microseconds=1)
        self._clean: set[str] = set()

    def holds_all(self, times_us: Sequence[int]) -> bool:
        """Returns whether all of these times, at least one, may be an event's."""
        return min(times_us) >= _OLDEST_US and max(times_us) <= self._newest_us

    def require_time(self, ts_us: int) -> None:
        """Raises `EventRejected` for a time that no event may have."""
        if ts_us < _OLDEST_US:
            raise EventRejected("timestamp is before 2000-01-01")
        if ts_us > self._newest_us:
            raise EventRejected("timestamp is more than 24 hours in the future")

    def require_names(self, event: Envelope) -> None:
        """Raises `EventRejected` for a name with a character that it may not have."""
        clean = self._clean
        if event.session_id not in clean:
            self._require_clean("session_id", event.session_id)
        if event.agent_id not in clean:
            self._require_clean("agent_id", event.agent_id)
        if event.type not in clean:
            self._require_clean("type", event.type)
        if event.environment not in clean:
            if "," in event.environment:
                raise EventRejected("environment contains a comma")
            self._require_clean("environment", event.environment)

    def _require_clean(self, name: str, value: str) -> None:
        if _CONTROL.search(value):
            raise EventRejected(f"{name} contains a control character")
        # A value with a comma is never cached: it may be a session but not an environment.
        if "," not in value:
            self._clean.add(value)


def are_clean(environments: Iterable[str], others: Iterable[str]) -> bool:
    """Returns whether no name has a character that it may not have."""
    named = "".join(environments)
    return not ("," in named or _CONTROL.search(named) or _CONTROL.search("".join(others)))


def explain(error: msgspec.ValidationError) -> str:
    """Translates msgspec's reason into the words of this API: `timestamp has no zone`."""
    field, reason = in_json_words(error)
    return f"{field} {reason}" if field else "is not an object"

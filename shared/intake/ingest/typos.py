"""Warnings about accepted events: what is nearly a known word, or a field of another JSON type.

Such an event is stored like any other, and is then missing where its sender looks for it. Events
without faults cost almost nothing here: their words are compared as sets.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from operator import attrgetter

import msgspec
from msgspec import Raw

from shared.intake.ingest.envelope import Envelope
from shared.intake.ingest.fields import FAILURES, UInt32
from shared.reading.events.families import FAMILIES

MAX_WARNINGS = 20
TYPES = frozenset({"error", "human_pause", "human_interrupt"}).union(
    *(family.types for family in FAMILIES)
)
_OUTCOMES: frozenset[str | None] = frozenset({None, "success", *FAILURES})
_NOT_A_NUMBER = "is not a whole number from 0 to 4294967295"
_NOT_A_STRING = "is not a string"
_outcome_of = attrgetter("outcome")
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode


class CheckedEvent(Envelope, gc=False):
    """The envelope, and the fields that are checked for faults."""

    outcome: str | None = None
    duration_ms: UInt32 | None = None
    input_tokens: UInt32 | None = None
    output_tokens: UInt32 | None = None


_FIELDS = {
    "outcome": (msgspec.json.Decoder(str | None).decode, _NOT_A_STRING),
    **dict.fromkeys(
        ("duration_ms", "input_tokens", "output_tokens"),
        (msgspec.json.Decoder(UInt32 | None).decode, _NOT_A_NUMBER),
    ),
}


class EventWarning(msgspec.Struct):
    """A fault of an accepted event; `index` is its position in the body, from 0."""

    index: int
    field: str
    warning: str
    did_you_mean: str | None


class Warnings:
    """The warnings of a body: the first ones, and how often each was given."""

    def __init__(self) -> None:
        self.first: list[EventWarning] = []
        self.reasons: Counter[str] = Counter()

    def check_all(self, start: int, events: Sequence[CheckedEvent], types: set[str]) -> None:
        """Checks the words of events from the position `start` on, which have these types."""
        odd = types - TYPES
        outcomes = set(map(_outcome_of, events)) - _OUTCOMES
        if any(map(_meant_type, odd)) or any(map(_meant_outcome, outcomes)):
            for index, event in enumerate(events, start):
                self._check_words(index, event.type, event.outcome)

    def check(self, index: int, event_type: str, line: bytes) -> None:
        """Checks one accepted event in any form."""
        outcome = None
        for name, raw in _members_of(line).items():
            if name not in _FIELDS:
                continue
            decode, fault = _FIELDS[name]
            try:
                value = decode(raw)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                self._add(index, name, fault)
                continue
            if name == "outcome":
                outcome = value
        self._check_words(index, event_type, outcome)

    def _check_words(self, index: int, event_type: str, outcome: object) -> None:
        if event_type not in TYPES and (meant := _meant_type(event_type)):
            self._add(index, "type", "is not a known type", meant)
        if isinstance(outcome, str) and (meant := _meant_outcome(outcome)):
            self._add(index, "outcome", "is not a known outcome", meant)

    def _add(self, index: int, field: str, warning: str, meant: str | None = None) -> None:
        self.reasons[f"{field} {warning}"] += 1
        if len(self.first) < MAX_WARNINGS:
            self.first.append(EventWarning(index, field, warning, meant))


def _members_of(line: bytes) -> dict[str, Raw]:
    try:
        return _decode_members(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}


class _Words:
    """Known words, found by any of their spellings with one letter less."""

    def __init__(self, words: Collection[str]) -> None:
        self._longest = max(map(len, words)) + 1
        self._spellings = {part: word for word in words for part in _shortened(word)}
        self._words = {word: word for word in words}

    def meant(self, name: str) -> str | None:
        """Returns the word from which this differs by a letter, by case or by hyphens."""
        if name in self._words or len(name) > self._longest:
            return None
        plain = name.lower().replace("-", "_").replace(" ", "_")
        found = self._words.get(plain) or self._spellings.get(plain)
        if found is None:
            parts = _shortened(plain)
            near = (self._words.get(part) or self._spellings.get(part) for part in parts)
            found = next(filter(None, near), None)
        return found


def _shortened(word: str) -> list[str]:
    return [word[:place] + word[place + 1 :] for place in range(len(word))]


_TYPE_WORDS = _Words(TYPES)
_OUTCOME_WORDS = _Words({"success", *FAILURES})


# Senders choose these words, so few are kept.
@lru_cache(1024)
def _meant_type(name: str) -> str | None:
    return _TYPE_WORDS.meant(name)


@lru_cache(1024)
def _meant_outcome(name: str) -> str | None:
    return _OUTCOME_WORDS.meant(name)

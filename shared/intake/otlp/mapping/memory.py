"""Remembers results that many records share, because looking for them again takes most of the time.

An instrumentation sends the same names of attributes with each of its spans, and the records of a
resource come together.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from shared.intake.otlp.records import Resource

T = TypeVar("T")

# Senders choose the names, so what is remembered of them must stay small.
MAX_REMEMBERED = 512
MAX_CHARS = 4096


class ByNames(Generic[T]):
    """The results of a function of the names of attributes. Safe for several threads."""

    def __init__(self, make: Callable[[Sequence[str]], T]) -> None:
        self._make = make
        self._remembered: dict[tuple[str, ...], T] = {}

    def of(self, names: Iterable[str]) -> T:
        """Returns the result for these names in this order."""
        key = tuple(names)
        try:
            return self._remembered[key]
        except KeyError:
            made = self._make(key)
            if sum(map(len, key)) <= MAX_CHARS:
                if len(self._remembered) >= MAX_REMEMBERED:
                    self._remembered = {}
                self._remembered[key] = made
            return made


def for_last_resource(look: Callable[[Resource], T]) -> Callable[[Resource], T]:
    """Makes a function remember its result for the last resource. Safe for several threads."""
    last: tuple[Resource, T] | None = None

    def remembered(resource: Resource) -> T:
        nonlocal last
        found = last
        if found is None or found[0] is not resource:
            last = found = resource, look(resource)
        return found[1]

    return remembered

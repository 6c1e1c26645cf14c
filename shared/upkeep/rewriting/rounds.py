"""Cuts a range of time into rounds: each is one read of events, and at most one write of copies."""

from collections.abc import Callable, Sequence
from typing import Any

from shared.upkeep.rewriting.places import Place, next_month

# A round is small enough for the memory of a worker, and for ingest beside it.
MAX_ROWS = 20_000
MAX_BYTES = 32 * 1024 * 1024
_FEWEST_ROWS = 200
_FIRST_ROWS = 2_000
_FIRST_US = 600 * 1_000_000
_STEP = 8.0

# Columns of the events after a place, before a moment, at most so many: the first ones are the key.
Read = Callable[[Place, int, int], Sequence[Sequence[Any]]]


class Rounds:
    """Chooses how far each round reads, from what the rounds before it found."""

    def __init__(self, stop: int) -> None:
        self._stop = stop
        self._rows = _FIRST_ROWS
        self._width = float(_FIRST_US)

    def next(
        self, place: Place, read: Read, bytes_of: Callable[[Sequence[Sequence[Any]]], int]
    ) -> tuple[Sequence[Sequence[Any]], Place]:
        """Returns the columns of the next events, and the place of the last one.

        `read` returns the columns, [] without any event.
        """
        stop = min(self._stop, next_month(place.ts), place.ts + int(self._width))
        columns = read(place, stop, self._rows)
        found = len(columns[0]) if columns else 0
        full = found >= self._rows
        if not found:
            self._width *= _STEP
            return columns, Place(stop)
        last = Place(*(column[-1] for column in columns[:3])) if full else Place(stop)
        # Half of what fits, so that a denser time is seldom cut.
        fitting = (last.ts - place.ts) * self._rows / found / 2
        self._width = min(max(fitting, self._width / _STEP, 1.0), self._width * _STEP)
        each = max(bytes_of(columns) / found, 1.0)
        self._rows = int(min(max(MAX_BYTES / each, _FEWEST_ROWS), MAX_ROWS))
        return columns, last

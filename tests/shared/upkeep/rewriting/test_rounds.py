"""Rounds read every event of a range once, in the order of keys, whatever their density is."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from shared.foundation.core.clock import to_us
from shared.upkeep.rewriting import rounds
from shared.upkeep.rewriting.places import Place, months_between, next_month
from shared.upkeep.rewriting.rounds import Rounds

Key = tuple[int, str, int]
START, STOP = to_us(datetime(2026, 1, 15, tzinfo=UTC)), to_us(datetime(2027, 2, 1, tzinfo=UTC))


def events(kind: str) -> list[Key]:
    rng = random.Random(5)
    if kind == "at one moment":
        return [(START + 7, f"s{n % 3}", n) for n in range(500)]
    if kind == "a burst between long gaps":
        return [(START + 200 * 86_400_000_000 + n, "s", n) for n in range(500)] + [
            (STOP - 1, "s", 1)
        ]
    return [(rng.randrange(START, STOP), "s", n) for n in range(500)]


@pytest.mark.parametrize("kind", ["at one moment", "a burst between long gaps", "anywhere"])
@pytest.mark.parametrize("most", [1, 2, 50])
def test_each_event_is_read_once(monkeypatch: pytest.MonkeyPatch, kind: str, most: int) -> None:
    for name in ("MAX_ROWS", "_FEWEST_ROWS", "_FIRST_ROWS"):
        monkeypatch.setattr(rounds, name, most)
    stored, seen = sorted(events(kind)), list[Key]()
    reads = 0

    def read(place: Place, stop: int, limit: int) -> Sequence[Sequence[object]]:
        nonlocal reads
        reads += 1
        found = [key for key in stored if tuple(place) < key and key[0] < stop][:limit]
        assert {next_month(key[0]) for key in found} <= {next_month(place.ts)}
        seen.extend(found)
        return [list(column) for column in zip(*found, strict=True)]

    place, chosen = Place(START), Rounds(STOP)
    while place.ts < STOP:
        _, place = chosen.next(place, read, lambda columns: len(columns[0]))
    assert seen == stored
    assert reads < 20 * len(stored)


def test_months_of_a_range() -> None:
    assert months_between(START, STOP) == 13
    assert months_between(START, START + 1) == 1
    assert months_between(START, START) == 0
    assert next_month(to_us(datetime(2026, 12, 31, tzinfo=UTC))) == to_us(
        datetime(2027, 1, 1, tzinfo=UTC)
    )

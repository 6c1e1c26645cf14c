"""The times at which two parts may have copies of one result."""

import random

from shared.reading.evaluations.aggregate.copies import overlaps, ranges_to_merge


def test_a_moment_of_two_parts_is_in_a_range_and_no_other_moment_is() -> None:
    draw = random.Random(7)
    for _ in range(500):
        firsts = [draw.randrange(40) for _ in range(draw.randrange(8))]
        spans = [(first, first + draw.randrange(9)) for first in firsts]
        shared = {
            moment
            for moment in range(50)
            if sum(first <= moment <= last for first, last in spans) > 1
        }
        found = overlaps(spans)
        assert found == sorted(found)
        assert {moment for first, last in found for moment in range(first, last + 1)} == shared


def test_many_or_wide_ranges_are_all_rows() -> None:
    parts = [(start, start + 8) for start in range(0, 100, 10)]
    assert ranges_to_merge(parts) == []
    assert ranges_to_merge([*parts, parts[2], (71, 73)]) == [parts[2], (71, 73)]
    assert ranges_to_merge([*parts, (1, 2), (11, 12), (21, 22)]) is None
    assert ranges_to_merge([*parts, (0, 50)]) is None

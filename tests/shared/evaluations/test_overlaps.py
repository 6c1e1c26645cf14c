"""The times at which two parts may have copies of one result."""

import random

from shared.evaluations.aggregate.copies import MAX_RANGES, overlaps


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


def test_of_many_ranges_the_nearest_are_joined() -> None:
    near = [(start, start + 1) for start in range(0, 400, 10)]
    far = [(start, start + 1) for start in (5_000, 9_000)]
    found = overlaps([*near, *near, *far, *far])
    assert len(found) <= MAX_RANGES
    assert found[-2:] == far
    assert all(any(one[0] <= at <= one[1] for one in found) for at, _ in near)

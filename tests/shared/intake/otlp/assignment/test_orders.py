"""A sample becomes the same events, however its records are cut and ordered."""

import random
from collections.abc import Callable
from itertools import permutations

import pytest

from shared.intake.otlp.cutting import part_of
from shared.intake.otlp.records import Records
from tests.support.assignment_desk import Desk, copy_of
from tests.support.otlp_samples import SAMPLES, sample


def cut(records: Records) -> list[Records]:
    """The records of a request, each in a request of its own."""
    whole = copy_of(records)
    spans = [part_of(whole, [span], []) for span in whole.spans]
    return [*spans, *(part_of(whole, [], [log]) for log in whole.logs)]


def essence(events: list[tuple[object, ...]]) -> set[tuple[object, ...]]:
    """Drops the organization, a part of ids: the rest must not depend on the way of sending."""
    return {event[:4] + event[5:] for event in events}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_becomes_the_same_events_in_every_order_and_cut(
    name: str, desk_of: Callable[[], Desk]
) -> None:
    requests = sample(name)
    desk = desk_of()
    desk.send(*requests)
    whole = desk.finish()
    assert len({event[0] for event in whole}) == 1
    assert len({event[4] for event in whole}) == len(whole) > 0
    singles = [piece for one in requests for piece in cut(one)]
    orders = list(permutations(singles)) if len(singles) <= 3 else [
        singles, singles[::-1], *(random.Random(n).sample(singles, len(singles)) for n in range(3)),
    ]  # fmt: skip
    for order in orders:
        desk = desk_of()
        for one in order:
            desk.send(one)
            desk.assign()
        assert essence(desk.finish()) == essence(whole)

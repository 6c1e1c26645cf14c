"""Each message and each call of a made-up conversation is one turn, whatever an agent sends."""

import itertools

import pytest

from shared.reading.sessions.turns.rule import turns
from tests.shared.reading.sessions.turns.conversations import (
    Said,
    Telling,
    conversation,
    numbered,
    said,
)

SEEDS = range(4)
TELLINGS = [
    Telling(history, human_input, answers, tools, ids)
    for history in ("all", "window", "pinned", "delta")
    for human_input, answers, tools, ids in itertools.product((True, False), repeat=4)
    # Where nothing has the answers, there is nothing to find.
    if answers or history != "delta"
]


@pytest.mark.parametrize("telling", TELLINGS, ids=str)
def test_every_way_to_tell_a_conversation(telling: Telling) -> None:
    for seed in SEEDS:
        made = conversation(telling, seed)
        # Without answers only the next request has an answer.
        wanted = made.turns if telling.answers else made.turns[:-1]
        assert said(turns(numbered(made.events))) == wanted


def test_events_alone() -> None:
    made = conversation(Telling(human_input=True, requests=False), 1)
    assert said(turns(numbered(made.events))) == made.turns


def test_each_agent_has_its_own_history() -> None:
    """The agents say the same words, event by event in turn."""
    one, other = (conversation(Telling(), 3, agent) for agent in ("a", "b"))
    mixed = [event for pair in zip(one.events, other.events, strict=True) for event in pair]
    found: dict[str, list[Said]] = {"a": [], "b": []}
    for turn in turns(numbered(mixed)):
        found[turn["agent_id"]] += said([turn])
    assert found == {"a": one.turns, "b": other.turns}

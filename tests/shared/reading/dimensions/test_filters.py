"""Filters by dimensions, against a recomputation of every event and session."""

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.reading.dimensions import few
from shared.reading.dimensions.conditions import parse_attributes, parse_missing
from shared.reading.events.filters import EventFilters
from shared.reading.events.page import read_page
from shared.reading.sessions.listing import page
from shared.reading.sessions.selection import SessionFilters
from tests.shared.reading.sessions.expected import sessions_of
from tests.support.events import Stored, by_session, event, store_events

USERS, VERSIONS, TAGS = ("ann", "bob", None), ("1.0", "2.0", None), ("a", "b")
ATTRIBUTES: tuple[dict[str, str], ...] = ({}, {"plan": "pro"}, {"plan": "*", "region": "eu"})


@pytest.fixture
def stored(clickhouse: ClickHouse, org_id: str) -> list[Stored]:
    """Sessions with all kinds of dimensions, in batches that arrive in any order, one twice."""
    rng = random.Random(11)
    lines = []
    for number, second in product(range(24), range(5)):
        fields: dict[str, Any] = {
            "agent_id": rng.choice(("main", "sub")),
            "tags": [tag for tag in TAGS if rng.random() < 0.1],
            "attributes": rng.choice(ATTRIBUTES) if rng.random() < 0.3 else {},
        }
        for name, values in (("user_id", USERS), ("agent_version", VERSIONS)):
            if rng.random() < 0.4 and (value := rng.choice(values)):
                fields[name] = value
        kind = rng.choice(("agent_start", "tool_use"))
        lines.append(event(f"s{number:02d}", f"1{second}:{number:02d}:00", kind, **fields))
    rng.shuffle(lines)
    batches = [lines[start : start + 30] for start in range(0, len(lines), 30)]
    return [
        one for batch in (*batches, batches[0]) for one in store_events(clickhouse, org_id, batch)
    ]


@pytest.fixture(params=[few.MOST, 2], ids=["few sessions", "many sessions"], autouse=True)
def most(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads the sessions of a value alone, or range by range of time."""
    monkeypatch.setattr(few, "MOST", request.param)


# The filters of a request, and whether an event with these effective values passes.
Values = Mapping[str, Any]
CASES: dict[str, tuple[dict[str, Any], Callable[[Values], bool]]] = {
    "user": ({"user_id": ["ann"]}, lambda one: one["user_id"] == "ann"),
    "users": ({"user_id": ["ann", "bob"]}, lambda one: one["user_id"] in ("ann", "bob")),
    "version": ({"agent_version": ["2.0"]}, lambda one: one["agent_version"] == "2.0"),
    "tag": ({"tag": ["b"]}, lambda one: "b" in one["tags"]),
    "attribute": (
        {"attr": parse_attributes({"plan": ["pro", "free"]})},
        lambda one: one["attributes"].get("plan") == "pro",
    ),
    "star": (
        {"attr": parse_attributes({"plan": ["\\*"]})},
        lambda one: one["attributes"].get("plan") == "*",
    ),
    "any attribute": (
        {"attr": parse_attributes({"plan": ["*"], "region": ["eu"]})},
        lambda one: one["attributes"].get("region") == "eu",
    ),
    "no user": ({"missing": parse_missing(["user_id"])}, lambda one: one["user_id"] is None),
    "nothing": (
        {"missing": parse_missing(["agent_version", "tag", "attr.plan"])},
        lambda one: (
            one["agent_version"] is None and not one["tags"] and "plan" not in one["attributes"]
        ),
    ),
}


def effective(stored: Sequence[Stored]) -> dict[int, Values]:
    """Returns the values of each event, the user and the version from its session if need be."""
    facts = {one.facts.session_id: one.facts for one in sessions_of(stored)}
    return {
        item.event_id: {
            "user_id": item.user_id or facts[name].user_id,
            "agent_version": item.agent_version or facts[name].agent_version,
            "tags": item.tags,
            "attributes": item.attributes,
        }
        for name, events in by_session(stored).items()
        for item in events
    }


@pytest.mark.parametrize("case", CASES)
def test_events(clickhouse: ClickHouse, org_id: str, stored: list[Stored], case: str) -> None:
    given, passes = CASES[case]
    found = read_page(
        clickhouse,
        org_id,
        ("id", "session_id", "user_id", "agent_version"),
        EventFilters(**given),
        ascending=True,
        cursor=None,
        limit=1000,
        effective=True,
    )
    expected = {number: one for number, one in effective(stored).items() if passes(one)}
    assert expected
    assert {row[0]: row[2:] for row in found.rows} == {
        number: (one["user_id"], one["agent_version"]) for number, one in expected.items()
    }


@pytest.mark.parametrize("case", CASES)
def test_sessions(clickhouse: ClickHouse, org_id: str, stored: list[Stored], case: str) -> None:
    given, passes = CASES[case]
    expected = {
        name
        for name, events in by_session(stored).items()
        if (all if "missing" in given else any)(passes(vars(item)) for item in events)
    }
    found = page(clickhouse, org_id, SessionFilters(**given), limit=100, cursor=None)
    assert {one.facts.session_id for one in found.rows} == expected


def test_a_user_among_many_of_one_session_is_found(clickhouse: ClickHouse, org_id: str) -> None:
    """A session remembers 64 users, whichever they are."""
    lines = [event("s", f"10:{n // 60:02d}:{n % 60:02d}", user_id=f"u{n}") for n in range(90)]
    store_events(clickhouse, org_id, lines)
    for number in range(0, 90, 3):
        found = read_page(
            clickhouse,
            org_id,
            ("user_id",),
            EventFilters(user_id=[f"u{number}"]),
            ascending=True,
            cursor=None,
            limit=10,
        )
        assert found.rows == [(f"u{number}",)]

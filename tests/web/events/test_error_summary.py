"""GET /events/error_summary: counts of errored events, and the bounds of their bins."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.core.clock import now, to_us
from tests.support.app import Headers
from tests.web.events.conftest import HOUR, at, result, use

Store = Callable[[Sequence[object]], None]
Summary = Callable[..., dict[str, Any]]

HOUR_MS = to_us(HOUR) // 1000
DAY_MS = 24 * 3600 * 1000


@pytest.fixture
def errors(client: FlaskClient, reader: Headers) -> Summary:
    """Returns the answer to a query."""

    def summarise(**query: object) -> dict[str, Any]:
        answer = client.get("/v1/events/error_summary", query_string=query, headers=reader)
        assert answer.status_code == 200, answer.get_json()
        return dict(answer.get_json())

    return summarise


def failed(second: float, **fields: Any) -> dict[str, Any]:
    return result(second, error="no", **fields)


def test_only_errored_events_count_and_copies_do_not(store: Store, errors: Summary) -> None:
    sent = [
        failed(1, agent_id="a"),
        failed(5, agent_id="b"),
        failed(9.000_7, agent_id="a", session_id="t"),
        use(11),
        result(12, error=""),
    ]
    store(sent)
    store(sent[::-1])
    assert errors() == {
        "total": 3,
        "sessions": 2,
        "agents": 2,
        "last_ts": at(9.000_7),
        # 8001 ms from the first event to the end of the last one's millisecond, so 333 ms per bin.
        "bins": [1, *[0] * 10, 1, *[0] * 11, 1],
        "bounds": {"from_ms": HOUR_MS + 1000, "to_ms": HOUR_MS + 9001},
    }


def test_bounds_are_those_of_the_query(store: Store, errors: Summary) -> None:
    store([failed(0), failed(59.999_9), failed(60), failed(1439), failed(1440)])
    found = errors(ts_from=at(0), ts_to=at(1440))
    assert found["bounds"] == {"from_ms": HOUR_MS, "to_ms": HOUR_MS + 1_440_000}
    assert found["bins"] == [2, 1, *[0] * 21, 1]
    assert found["total"] == 4
    assert found["last_ts"] == at(1439)


def test_bounds_within_a_millisecond_are_rounded_outwards(store: Store, errors: Summary) -> None:
    store([failed(0.000_2), failed(0.000_4), failed(0.000_6)])
    found = errors(ts_from=at(0.000_3), ts_to=at(0.000_5))
    assert found["bounds"] == {"from_ms": HOUR_MS, "to_ms": HOUR_MS + 1}
    assert (found["total"], sum(found["bins"])) == (1, 1)


def test_a_bound_that_is_not_given_is_that_of_the_matches(store: Store, errors: Summary) -> None:
    store([failed(1), failed(2, agent_id="b"), failed(3)])
    assert errors(ts_from=at(0))["bounds"] == {"from_ms": HOUR_MS, "to_ms": HOUR_MS + 3001}
    found = errors(ts_to=at(10))["bounds"]
    assert found == {"from_ms": HOUR_MS + 1000, "to_ms": HOUR_MS + 10_000}
    found = errors(agent_id="b")
    assert found["bounds"] == {"from_ms": HOUR_MS + 2000, "to_ms": HOUR_MS + 2001}
    assert found["bins"] == [1, *[0] * 23]


def test_without_a_match_the_bounds_are_a_day_apart(errors: Summary) -> None:
    nothing = {"total": 0, "sessions": 0, "agents": 0, "last_ts": None, "bins": [0] * 24}
    began = to_us(now()) // 1000
    found = errors()
    to_ms = found["bounds"]["to_ms"]
    assert began <= to_ms <= to_us(now() + timedelta(seconds=1)) // 1000
    assert found == {**nothing, "bounds": {"from_ms": to_ms - DAY_MS, "to_ms": to_ms}}
    assert errors(ts_from=at(0))["bounds"] == {"from_ms": HOUR_MS, "to_ms": HOUR_MS + DAY_MS}
    assert errors(ts_to=at(0))["bounds"] == {"from_ms": HOUR_MS - DAY_MS, "to_ms": HOUR_MS}
    for since in (0, 5):
        given = errors(ts_from=at(since), ts_to=at(0))
        bounds = {"from_ms": HOUR_MS + since * 1000, "to_ms": HOUR_MS}
        assert given == {**nothing, "bounds": bounds}


# Filters → the number of matches among the four errors.
FILTERS = [
    ({}, 4),
    ({"session_id": "t"}, 1),
    ({"event_type": "error"}, 1),
    ({"error_type": "E,F"}, 2),
    ({"tool_name": "x", "environment": "e"}, 1),
    ({"errored": "true"}, 4),
    ({"errored": "false"}, 4),
    ({"search": "BROKEN"}, 1),
    ({"search": "broken", "search_exclude": "message"}, 0),
    ({"model": "m"}, 0),
]


def test_the_filters_are_those_of_events(store: Store, errors: Summary) -> None:
    store(
        [
            failed(1, error_type="E", tool_name="x", environment="e"),
            failed(2, error_type="F", tool_name="x"),
            failed(3, session_id="t"),
            use(4, type="error", message="broken"),
            use(5, model="m", message="broken"),
        ]
    )
    for given, expected in FILTERS:
        assert errors(**given)["total"] == expected, given


def test_groups_are_the_largest_first(store: Store, errors: Summary) -> None:
    sent = [
        failed(1, tool_name="b", agent_id="x"),
        failed(2, tool_name="b", agent_id="y", session_id="t"),
        failed(3, tool_name="a", agent_id="x"),
        failed(4, agent_id="x"),
        failed(5, agent_id="x", session_id="t"),
        use(6, tool_name="b"),
    ]
    store(sent)
    store(sent[::-1])
    by_tool = errors(group_by="tool_name")
    assert by_tool.pop("groups") == [
        {"key": "b", "total": 2, "sessions": 2, "last_ts": at(2)},
        {"key": None, "total": 2, "sessions": 2, "last_ts": at(5)},
        {"key": "a", "total": 1, "sessions": 1, "last_ts": at(3)},
    ]
    assert by_tool == errors()
    assert [(row["key"], row["total"]) for row in errors(group_by="agent_id")["groups"]] == [
        ("x", 4),
        ("y", 1),
    ]
    assert errors(group_by="error_type", ts_from=at(3), agent_id="x")["groups"] == [
        {"key": None, "total": 3, "sessions": 2, "last_ts": at(5)}
    ]
    assert errors(group_by="agent_id", ts_from=at(60))["groups"] == []


def test_groups_by_user_and_version_are_effective(store: Store, errors: Summary) -> None:
    """An event without its own has its session's: the first user, the root agent's version."""
    store(
        [
            use(0, agent_id="sub", agent_version="1", session_id="s"),
            use(1, type="agent_start", agent_id="root", session_id="s"),
            failed(2, agent_id="root", model="m", session_id="s"),
            failed(3, user_id="ann", agent_id="root", agent_version="2", session_id="s"),
            failed(4, user_id="bob", agent_version="1", session_id="s"),
            failed(5, user_id="bob", session_id="t"),
            failed(6, model="m", session_id="t"),
            failed(7, session_id="none"),
        ]
    )
    groups = {
        column: {row["key"]: (row["total"], row["sessions"], row["last_ts"]) for row in found}
        for column in ("user_id", "agent_version", "model")
        for found in [errors(group_by=column)["groups"]]
    }
    assert groups == {
        "user_id": {"bob": (3, 2, at(6)), "ann": (2, 1, at(3)), None: (1, 1, at(7))},
        "agent_version": {None: (3, 2, at(7)), "2": (2, 1, at(3)), "1": (1, 1, at(4))},
        "model": {None: (4, 3, at(7)), "m": (2, 2, at(6))},
    }
    assert [row["key"] for row in errors(group_by="user_id")["groups"]] == ["bob", "ann", None]
    bobs = errors(group_by="agent_version", user_id="bob")
    assert {row["key"]: row["total"] for row in bobs["groups"]} == {None: 2, "1": 1}


def test_groups_by_message_add_up(store: Store, errors: Summary) -> None:
    """Numbers and names in a message vary; without a message the outcome counts."""
    messages: list[tuple[str, dict[str, Any]]] = [
        ("tool_result", {"error": "no seat {0} on flight F{0}"}),
        ("error", {"message": "timeout after {0} ms"}),
        ("model_response", {"error": {"message": 'model "m{0}" is overloaded'}}),
        ("tool_result", {"error": "file /tmp/{0}.txt is missing"}),
        ("hook_completed", {"error": "denied"}),
    ]
    sent = [
        result(number * 10 + place, **filled({"type": kind, **fields}, number * 7))
        for number in range(4)
        for place, (kind, fields) in enumerate(messages)
    ]
    store([*sent, result(99, type="agent_end", outcome="failed")])
    found = errors(group_by="message")
    assert {row["key"]: row["total"] for row in found["groups"]} == {
        "no seat <*> on flight <*>": 4,
        "timeout after <*> ms": 4,
        "model <*> is overloaded": 4,
        "file <*> is missing": 4,
        "denied": 4,
        "failed": 1,
    }
    assert sum(row["total"] for row in found["groups"]) == found["total"] == 21


def filled(fields: dict[str, Any], number: int) -> dict[str, Any]:
    """Returns the fields of a message with a number in its texts."""
    return {
        name: filled(value, number) if isinstance(value, dict) else value.format(number)
        for name, value in fields.items()
    }


def test_rare_messages_are_one_group(store: Store, errors: Summary) -> None:
    word = "abcdefghijklmnopqrstuvwxyz"
    names = [f"{one}{other}" for one in word[:3] for other in word[:20]]
    store([result(second, error=f"{name} broke") for second, name in enumerate(names)])
    found = errors(group_by="message")
    assert [row["key"] for row in found["groups"][:2]] == ["aa broke", "ab broke"]
    assert [row["key"] for row in found["groups"]].index(None) == 50
    assert (found["groups"][-1]["total"], found["total"]) == (10, 60)


def test_at_most_fifty_groups(store: Store, errors: Summary) -> None:
    store([failed(number, tool_name=f"t{number // 2:02}") for number in range(119)])
    found = errors(group_by="tool_name")
    assert [row["key"] for row in found["groups"]] == [f"t{number:02}" for number in range(50)]


def test_other_groups_are_refused(client: FlaskClient, reader: Headers) -> None:
    answer = client.get("/v1/events/error_summary?group_by=payload", headers=reader)
    assert answer.status_code == 422
    assert answer.get_json()["fields"].keys() == {"group_by"}

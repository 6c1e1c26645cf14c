"""Errors with the same message apart from names and numbers."""

import json
import re
from collections import Counter, defaultdict
from dataclasses import replace

from shared.foundation.clickhouse import ClickHouse
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.error_cluster import find
from shared.watch.audits.signals.interface import Look
from tests.support.airline import Airline
from tests.support.events import event
from tests.support.looks import found_by, ingest, look_at, nested, require_reproduced
from tests.support.runtime import Org


def errors(message: object, sessions: int = 3, each: int = 1, **fields: object) -> list[bytes]:
    """Returns `error` events of a message, some in each of several sessions."""
    return [
        event(
            f"s{session}",
            f"10:{session:02}:{number:02}",
            "error",
            **{"error_type": "E", "message": message, **fields},
        )
        for session in range(sessions)
        for number in range(each)
    ]


def test_clusters_of_the_recording(
    airline: Airline, airline_look: Look, runner: QueryRunner
) -> None:
    # In the recording an `error` event with the same text follows every failed result.
    count: Counter[str] = Counter()
    sessions: defaultdict[str, set[str]] = defaultdict(set)
    for line in airline.lines:
        one = json.loads(line)
        if one["type"] == "error":
            template = re.sub(r"\w*\d[\w-]*", "<*>", one["message"])
            count[template] += 1
            sessions[template].add(one["session_id"])
    found = found_by(find, replace(airline_look, sensitivity="high"))
    assert {
        key: (one.numbers["errors"], one.numbers["sessions"]) for key, one in found.items()
    } == {
        ("ToolError", template): (times, len(sessions[template]))
        for template, times in count.items()
        if times > 1
    }
    assert len(found) >= 6
    for candidate in found.values():
        assert set(candidate.session_ids) <= sessions[candidate.key[1]]
    require_reproduced(runner, airline_look, next(iter(found.values())))


VARYING: list[tuple[list[object], str]] = [
    (["took 5 s", "took 12.5 s", "took 1,200 s"], "took <*> s"),
    (["flight HAT030 at 0x7f3a", "flight HAT223 at 0xdead"], "flight <*> at <*>"),
    (["no 'a b' in \"x\"", "no 'c' in \"yz w\""], "no <*> in <*>"),
    (["it can't do 1's work", "it can't do 2's work"], "it can't do <*>'s work"),
    (["dial 10.0.0.1:5432: refused", "dial 10.0.0.2:80: refused"], "dial <*>: refused"),
    (["GET https://a.example/x?y=1 failed", "GET http://b failed"], "GET <*> failed"),
    (["no user ann.b@c.example.org", "no user bob@example.org"], "no user <*>"),
    (["at 2026-11-02T10:00:00.5Z", "at 2025-01-31T23:59:59+02:00"], "at <*>"),
    (["on Nov 2 2026", "on March 31 2025"], "on <*>"),
    (
        ["id deadbeef-cafe-babe-face-badabadabada", "id 01234567-89ab-cdef-0123-456789abcdef"],
        "id <*>",
    ),
    (["tags 1, 2, 3 left", "tags 4 left"], "tags <*> left"),
    (["a\n\n  b\t7", "a b 8"], "a b <*>"),
    (["no file /tmp/a/b.txt", "no file /srv/x"], "no file <*>"),
    ([{"code": 1, "message": "bad 1"}, {"code": 2, "message": "bad 2"}], "bad <*>"),
]


def test_varying_parts_are_left_out(clickhouse: ClickHouse, org: Org) -> None:
    lines: list[bytes] = []
    for number, (messages, _) in enumerate(VARYING):
        for message in messages:
            if isinstance(message, str):
                lines += errors(message, error_type=str(number))
            else:
                lines += errors(None, error=message, error_type=str(number))
    ingest(clickhouse, org.id, lines)
    assert set(found_by(find, look_at(clickhouse, org.id))) == {
        (str(number), template) for number, (_, template) in enumerate(VARYING)
    }


# A written text of letters only: just its quotes show that it varies.
_WRITTEN = "lorem ipsum dolor sit amet "
# A key that begins before the 4000th character, the last one that is searched.
_KEY = "gh" + "p_" + "abcdefghijklmnopqrstuvwxyzabcdefghij"
_UP_TO_KEY = 4000 - len("'' refused: ")
LONG: list[tuple[list[str], str]] = [
    (
        [f'could not parse "{_WRITTEN * n}" as JSON' for n in (1, 20, 100)],
        "could not parse <*> as JSON",
    ),
    ([f'could not read "{_WRITTEN * n}" as JSON' for n in (200, 900)], "could not read <*>"),
    ([f"no `x` in `{_WRITTEN * n}`" for n in (200, 900)], "no <*> in <*>"),
    ([f"no such text: “{_WRITTEN * n}”" for n in (20, 900)], "no such text: <*>"),
    ([f"isn't 'one's {_WRITTEN * n}' now" for n in (1, 20)], "isn't <*> now"),
    ([f"isn't 'one's {_WRITTEN * n}' so" for n in (200, 900)], "isn't <*>"),
    ([f"'{'x' * (_UP_TO_KEY - n)}' refused: {_KEY}" for n in (4, 12, 20)], "<*> refused: <*>"),
]


def test_no_long_quote_is_reported(clickhouse: ClickHouse, org: Org, runner: QueryRunner) -> None:
    lines = [
        line
        for number, (messages, _) in enumerate(LONG)
        for message in messages
        for line in errors(message, error_type=str(number))
    ]
    ingest(clickhouse, org.id, lines)
    look = look_at(clickhouse, org.id)
    found = found_by(find, look)
    assert set(found) == {(str(number), template) for number, (_, template) in enumerate(LONG)}
    for candidate in found.values():
        require_reproduced(runner, look, candidate)


def test_an_error_event_that_repeats_a_failure_is_the_same_failure(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    # Two results failed and three errors report it. The other session has two results and no error.
    lines = [
        *(event("a", f"10:00:0{n}", "tool_result", tool_name="t", error="boom") for n in (0, 2)),
        *(event("a", f"10:00:0{n}", "error", error_type="E", message="boom") for n in (1, 3, 5)),
        *(event("b", f"10:00:0{n}", "tool_result", tool_name="t", error="boom") for n in (0, 2)),
        # It gives no reason, so no cluster gets it.
        event("b", "10:00:08", "tool_result", tool_name="t", outcome="failed"),
        event("b", "10:00:09", "tool_result", tool_name="t", error=True),
    ]
    ingest(clickhouse, org.id, lines)
    look = look_at(clickhouse, org.id, sensitivity="high")
    found = found_by(find, look)
    assert {key: one.numbers["errors"] for key, one in found.items()} == {
        ("E", "boom"): 3,
        ("", "boom"): 2,
    }
    for candidate in found.values():
        require_reproduced(runner, look, candidate)
    assert set(found_by(find, replace(look, ignore_error_types=("E",)))) == {("", "boom")}


def test_a_type_that_is_longer_than_what_is_told_of_it_is_ignored_too(
    clickhouse: ClickHouse, org: Org
) -> None:
    types = ["é" * 199 + "x" * more for more in (1, 2, 57)]
    for name in types:
        ingest(clickhouse, org.id, errors("boom", error_type=name))
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert candidate.key == (types[0], "boom")
    for name in types:
        assert find(replace(look, ignore_error_types=(name,))) == []


def test_errors_without_a_message_are_a_cluster_of_their_type(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    ingest(clickhouse, org.id, errors(None, error_type="Silent"))
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert candidate.title == "Silent: without a message"
    require_reproduced(runner, look, candidate)


def test_thresholds_follow_the_sensitivity(clickhouse: ClickHouse, org: Org) -> None:
    # Letters, because a number would be left out.
    for message, sessions, each in (
        ("everywhere", 5, 2),
        ("one short", 4, 3),
        ("three of two", 2, 2),
        ("only two", 2, 1),
        ("alone", 1, 9),
        ("once", 1, 1),
    ):
        ingest(clickhouse, org.id, errors(message, sessions, each))
    low, medium, high = (
        {template for _, template in keys} for keys in nested(find, look_at(clickhouse, org.id))
    )
    assert low == {"everywhere"}
    assert medium == {"everywhere", "one short", "three of two"}
    assert high == medium | {"only two", "alone"}


def test_severity_and_magnitude_follow_the_share_of_sessions(
    clickhouse: ClickHouse, org: Org
) -> None:
    ingest(clickhouse, org.id, errors("in all", 40))
    ingest(clickhouse, org.id, errors("in some", 6))
    found = found_by(find, look_at(clickhouse, org.id))
    assert [(one.severity, one.magnitude) for one in found.values()] == [
        ("critical", "big"),
        ("warning", "medium"),
    ]


def test_scope_holds_in_numbers_and_evidence(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    odd = "it's\\ odd"
    ingest(clickhouse, org.id, errors("x", 5, environment=odd, agent_id=odd, error_type=odd))
    ingest(clickhouse, org.id, errors("x", 7, environment="other", error_type=odd))
    look = look_at(clickhouse, org.id)
    for scoped, count in (
        (look, 12),
        (replace(look, environments=(odd,)), 5),
        (replace(look, agent_ids=("main",)), 7),
    ):
        [candidate] = found_by(find, scoped).values()
        assert candidate.numbers["errors"] == count
        require_reproduced(runner, scoped, candidate)
    assert not find(replace(look, ignore_error_types=(odd,)))


def test_hostile_messages_are_shown_bounded_and_found_again(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    for message in ("' OR 1 = 1 --", "a\x00\u202eb\\ {x:String} $x", "漢字" * 5000, "<*>\\"):
        ingest(clickhouse, org.id, errors(message, error_type=message))
    look = look_at(clickhouse, org.id)
    found = found_by(find, look)
    assert len(found) == 4
    for candidate in found.values():
        require_reproduced(runner, look, candidate)

"""Sessions that call a tool again and again with the same input."""

from dataclasses import replace

from shared.foundation.clickhouse import ClickHouse
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.interface import Look
from shared.watch.audits.signals.tool_loop import find
from tests.support.events import event
from tests.support.looks import found_by, ingest, look_at, nested, require_reproduced
from tests.support.runtime import Org


def calls(session: str, tool: str, count: int, value: object = 1, **fields: object) -> list[bytes]:
    """Returns calls of a tool with one input."""
    return [
        event(session, f"10:00:{n:02}", "tool_use", tool_name=tool, input={"q": value}, **fields)
        for n in range(count)
    ]


def test_the_recording_has_loops_for_whoever_wants_to_see_everything(
    airline_look: Look, runner: QueryRunner
) -> None:
    assert found_by(find, airline_look) == {}
    look = replace(airline_look, sensitivity="high")
    found = found_by(find, look)
    assert sum(one.numbers["loops"] for one in found.values()) == 5
    assert max(one.numbers["longest"] for one in found.values()) == 4
    for candidate in found.values():
        assert candidate.severity == "info" or candidate.affected_sessions >= 2
        require_reproduced(runner, look, candidate)


def test_thresholds_follow_the_sensitivity(clickhouse: ClickHouse, org: Org) -> None:
    for tool, count in (
        ("ten", 10),
        ("nine", 9),
        ("five", 5),
        ("four", 4),
        ("three", 3),
        ("two", 2),
    ):
        ingest(clickhouse, org.id, calls("s", tool, count))
    low, medium, high = nested(find, look_at(clickhouse, org.id))
    assert low == {("ten",)}
    assert medium == low | {("nine",), ("five",)}
    assert high == medium | {("four",), ("three",)}


def test_only_the_same_input_of_one_session_is_a_loop(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    lines = [
        *calls("loops", "t", 6),
        *calls("loops", "t", 5, "other"),
        *calls("loops too", "t", 7),
        *(one for n in range(9) for one in calls(f"s{n}", "t", 4)),
        *(one for n in range(9) for one in calls("varies", "t", 1, n)),
        *calls("differs", "u", 4, 1),
        *calls("differs", "u", 4, "1"),
        # Without a tool, without an input, and a result.
        *(event("odd", f"10:00:0{n}", "tool_use", input={"q": 1}) for n in range(9)),
        *(event("odd", f"10:00:0{n}", "tool_use", tool_name="v") for n in range(9)),
        *(event("odd", f"10:00:0{n}", "tool_use", tool_name="t", input=None) for n in range(9)),
        *(event("odd", f"10:00:0{n}", "tool_result", tool_name="t", input=1) for n in range(9)),
    ]
    ingest(clickhouse, org.id, lines)
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert candidate.numbers == {"loops": 3, "sessions": 2, "calls": 18, "longest": 7}
    assert set(candidate.session_ids) == {"loops", "loops too"}
    assert len(candidate.event_ids) == 18
    require_reproduced(runner, look, candidate)


def test_white_space_between_is_no_difference(clickhouse: ClickHouse, org: Org) -> None:
    lines = calls("s", "t", 5)
    lines[1:4] = [
        line.replace(b'{"q": 1}', spelled)
        for line, spelled in zip(
            lines[1:4], (b'{"q":1}', b'{ "q" : 1 }', b'{\t"q":\n1}'), strict=True
        )
    ]
    ingest(clickhouse, org.id, lines)
    [candidate] = found_by(find, look_at(clickhouse, org.id)).values()
    assert candidate.numbers["longest"] == 5


def test_a_longer_loop_and_more_sessions_weigh_more(clickhouse: ClickHouse, org: Org) -> None:
    ingest(clickhouse, org.id, [event(f"other{n}", "09:00:00") for n in range(200)])
    ingest(clickhouse, org.id, calls("s", "short", 5))
    ingest(clickhouse, org.id, calls("s", "long", 12))
    ingest(clickhouse, org.id, [one for n in range(60) for one in calls(f"s{n}", "common", 5)])
    found = found_by(find, look_at(clickhouse, org.id))
    assert {key[0]: (one.severity, one.magnitude) for key, one in found.items()} == {
        "short": ("info", "small"),
        "long": ("warning", "small"),
        "common": ("warning", "big"),
    }

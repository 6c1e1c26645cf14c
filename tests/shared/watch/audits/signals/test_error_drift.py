"""Calls, runs and sessions that fail more often than in the previous window."""

from dataclasses import replace
from datetime import datetime

from shared.foundation.clickhouse import ClickHouse
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.error_drift import find
from tests.shared.watch.audits.signals.lines import BEFORE, NOW, line
from tests.support.looks import found_by, ingest, look_at, nested, require_reproduced
from tests.support.runtime import Org

_KINDS: dict[str, tuple[str, str]] = {
    "tool": ("tool_result", "tool_name"),
    "model": ("model_response", "model"),
    "hook": ("hook_completed", "hook_name"),
    "agent": ("agent_end", "agent_id"),
}


def calls(
    day: datetime, name: str, failed: int, total: int, kind: str = "tool", **fields: object
) -> list[bytes]:
    """Returns closing events, the first of them failed, each in a separate session."""
    event_type, column = _KINDS[kind]
    failure = {"outcome": "failed"} if kind == "agent" else {"error": "it broke"}
    return [
        line(
            day,
            60 * n,
            f"{name}-{day:%d}-{n}",
            event_type,
            **({column: name} | fields | (failure if n < failed else {})),
        )
        for n in range(total)
    ]


def errors(day: datetime, error_type: str, count: int, prefix: str) -> list[bytes]:
    """Returns an `error` event in each of the first sessions with this prefix."""
    return [
        line(day, 60 * n + 1, f"{prefix}-{day:%d}-{n}", "error", error_type=error_type)
        for n in range(count)
    ]


def test_each_family_is_compared_with_itself(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    lines: list[bytes] = []
    for kind in _KINDS:
        lines += calls(BEFORE, f"{kind}-1", 4, 60, kind) + calls(NOW, f"{kind}-1", 24, 50, kind)
        lines += calls(BEFORE, f"{kind}-2", 4, 60, kind) + calls(NOW, f"{kind}-2", 4, 50, kind)
    ingest(clickhouse, org.id, lines)
    ingest(clickhouse, org.id, lines[::3])
    look = look_at(clickhouse, org.id)
    found = found_by(find, look)
    assert set(found) == {(kind, f"{kind}-1") for kind in _KINDS}
    for candidate in found.values():
        assert candidate.numbers == {
            "total": 50,
            "failed": 24,
            "rate": 0.48,
            "total_before": 60,
            "failed_before": 4,
            "rate_before": 4 / 60,
        }
        assert candidate.affected_sessions == 24
        require_reproduced(runner, look, candidate)


def test_rises_by_their_size(clickhouse: ClickHouse, org: Org) -> None:
    lines: list[bytes] = []
    for name, before, now, total in (
        ("much", 10, 60, 100),
        ("some", 10, 35, 100),
        ("a little", 10, 28, 100),
        ("noise", 10, 14, 100),
        ("better", 60, 10, 100),
        ("few", 0, 8, 12),
        ("fewer", 0, 6, 8),
    ):
        lines += calls(BEFORE, name, before, total) + calls(NOW, name, now, total)
    ingest(clickhouse, org.id, lines)
    low, medium, high = nested(find, look_at(clickhouse, org.id))
    assert low == {("tool", "much")}
    assert medium == low | {("tool", "some")}
    assert high == medium | {("tool", "a little"), ("tool", "few")}


def test_a_session_that_tries_again_and_again_is_no_drift(clickhouse: ClickHouse, org: Org) -> None:
    good = calls(BEFORE, "book", 0, 100) + calls(NOW, "book", 0, 100)
    again = [
        line(NOW, 7200 + n, f"stubborn-{n % 3}", "tool_result", tool_name="book", error="no seat")
        for n in range(90)
    ]
    ingest(clickhouse, org.id, good + again)
    assert nested(find, look_at(clickhouse, org.id))[1] == set()


def test_an_error_of_a_failing_call_is_reported_once(clickhouse: ClickHouse, org: Org) -> None:
    ingest(clickhouse, org.id, calls(BEFORE, "book", 0, 100) + calls(NOW, "book", 60, 100))
    ingest(clickhouse, org.id, errors(NOW, "BookingError", 58, "book"))
    ingest(clickhouse, org.id, calls(NOW, "other", 0, 100) + calls(BEFORE, "other", 0, 100))
    ingest(clickhouse, org.id, errors(NOW, "DiskFull", 60, "other"))
    assert set(found_by(find, look_at(clickhouse, org.id))) == {
        ("tool", "book"),
        ("error", "DiskFull"),
    }


def test_error_types_are_judged_by_sessions(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    lines: list[bytes] = []
    for day, count in ((BEFORE, 2), (NOW, 30)):
        lines += calls(day, "book", 0, 100) + errors(day, "Odd", count, "book")
    ingest(clickhouse, org.id, lines)
    ingest(clickhouse, org.id, lines[::2])
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert candidate.key == ("error", "Odd")
    assert candidate.numbers["failed"] == 30
    assert candidate.numbers["total"] == 100
    assert candidate.numbers["failed_before"] == 2
    require_reproduced(runner, look, candidate)


def test_ignored_error_types_are_no_errors(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    lines: list[bytes] = []
    for day, failed in ((BEFORE, 2), (NOW, 50)):
        lines += calls(day, "book", failed, 100, error_type="Busy")
        lines += calls(day, "sell", failed, 100, error_type="Broken")
        lines += errors(day, "Busy", failed, "sell")
    ingest(clickhouse, org.id, lines)
    look = look_at(clickhouse, org.id, ignore_error_types=("Busy", "it's"))
    [candidate] = found_by(find, look).values()
    assert candidate.key == ("tool", "sell")
    require_reproduced(runner, look, candidate)
    assert ("tool", "book") in found_by(find, replace(look, ignore_error_types=()))


def test_when_nearly_nothing_works_any_more_somebody_is_called(
    clickhouse: ClickHouse, org: Org
) -> None:
    lines: list[bytes] = []
    for name, before, now in (("dead", 5, 95), ("half", 5, 50), ("poor", 1, 14)):
        lines += calls(BEFORE, name, before, 100)
        lines += calls(NOW, name, now, 100)
    ingest(clickhouse, org.id, lines)
    found = found_by(find, look_at(clickhouse, org.id, sensitivity="high"))
    assert {key[1]: (one.severity, one.magnitude) for key, one in found.items()} == {
        "dead": ("critical", "big"),
        "half": ("warning", "big"),
        "poor": ("warning", "medium"),
    }

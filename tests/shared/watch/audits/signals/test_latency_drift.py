"""Tools and models that answer more slowly than in the previous window."""

import random
from collections.abc import Sequence
from datetime import datetime
from statistics import median

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.latency_drift import find
from tests.shared.watch.audits.signals.lines import BEFORE, NOW, line
from tests.support.looks import found_by, ingest, look_at, nested, require_reproduced
from tests.support.runtime import Org


def calls(day: datetime, name: str, durations: Sequence[float], **fields: object) -> list[bytes]:
    """Returns results of a tool, or with `model` of a model, each in a separate session."""
    kind = {"model": name} if fields.pop("model", None) else {"tool_name": name}
    return [
        line(
            day,
            60 * n,
            f"{name.encode().hex()[:20]}-{day:%d}-{n}",
            "model_response" if "model" in kind else "tool_result",
            duration_ms=round(duration),
            **kind,
            **fields,
        )
        for n, duration in enumerate(durations)
    ]


def spread(count: int, factor: float = 1.0) -> list[float]:
    """Returns durations from 200 to 1000 ms, the same for the same arguments."""
    return [factor * (200 + 800 * n / count) for n in range(count)]


def test_the_numbers_are_those_of_both_windows_whatever_was_sent_twice(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    rng = random.Random(5)
    before = [rng.uniform(100, 900) for _ in range(41)]
    now = [rng.uniform(600, 1500) for _ in range(53)]
    lines = calls(BEFORE, "search", before) + calls(NOW, "search", now)
    ingest(clickhouse, org.id, lines)
    ingest(clickhouse, org.id, lines[::2])
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert candidate.key == ("tool", "search")
    assert candidate.numbers["calls"] == 53
    assert candidate.numbers["calls_before"] == 41
    assert candidate.numbers["median_ms"] == median(map(round, now))
    assert candidate.numbers["median_before_ms"] == median(map(round, before))
    slower = [one for one in now if round(one) > median(map(round, before))]
    assert candidate.affected_sessions == len(slower)
    require_reproduced(runner, look, candidate)


def test_few_calls_small_steps_and_faster_ones_are_no_drift(
    clickhouse: ClickHouse, org: Org
) -> None:
    lines: list[bytes] = []
    for name, count, factor in (
        ("three times", 60, 3.0),
        ("by half", 60, 1.5),
        ("by a quarter", 100, 1.25),
        ("by a tenth", 100, 1.1),
        ("faster", 60, 0.3),
        ("few", 15, 3.0),
        ("fewer", 9, 3.0),
    ):
        lines += calls(BEFORE, name, spread(count)) + calls(NOW, name, spread(count, factor))
    ingest(clickhouse, org.id, lines)
    low, medium, high = nested(find, look_at(clickhouse, org.id))
    assert low == {("tool", "three times")}
    assert medium == low | {("tool", "by half")}
    assert high == medium | {("tool", "by a quarter"), ("tool", "few")}


def test_a_slow_tail_is_found_though_the_median_stays(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    durations = spread(200)
    ingest(clickhouse, org.id, calls(BEFORE, "gpt-4o", durations, model=True))
    hanging = [9000.0 if n % 5 == 0 else one for n, one in enumerate(durations)]
    ingest(clickhouse, org.id, calls(NOW, "gpt-4o", hanging, model=True))
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert candidate.key == ("model", "gpt-4o")
    assert "95th percentile" in candidate.description
    assert candidate.numbers["median_ms"] < 1.3 * candidate.numbers["median_before_ms"]
    require_reproduced(runner, look, candidate)


def test_milliseconds_more_are_nobodys_time(clickhouse: ClickHouse, org: Org) -> None:
    ingest(clickhouse, org.id, calls(BEFORE, "quick", [2.0] * 100))
    ingest(clickhouse, org.id, calls(NOW, "quick", [9.0] * 100))
    assert nested(find, look_at(clickhouse, org.id)) == [set(), set(), set()]


def test_only_minutes_wake_somebody(clickhouse: ClickHouse, org: Org) -> None:
    lines: list[bytes] = []
    for name, factor in (("a little", 1.5), ("more", 3.0), ("hours", 100.0)):
        lines += calls(BEFORE, name, spread(60))
        lines += calls(NOW, name, spread(60, factor))
    ingest(clickhouse, org.id, lines)
    found = found_by(find, look_at(clickhouse, org.id))
    assert {key[1]: (one.severity, one.magnitude) for key, one in found.items()} == {
        "a little": ("info", "small"),
        "more": ("warning", "medium"),
        "hours": ("critical", "big"),
    }


@pytest.mark.parametrize("name", ["it's \\ a\nname", "x" * 3000, "-- drop"])
def test_any_name_can_be_asked_for_again(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner, name: str
) -> None:
    ingest(clickhouse, org.id, calls(BEFORE, name, spread(30)))
    ingest(clickhouse, org.id, calls(NOW, name, spread(30, 4)))
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    require_reproduced(runner, look, candidate)

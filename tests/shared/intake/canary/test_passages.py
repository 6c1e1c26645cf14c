"""The state of all groups, from what each of them said."""

from collections.abc import Iterator

import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.intake.canary import passages
from shared.intake.canary.passages import CanaryState, Passage

MAX_LAG_SECS = 60.0


@pytest.fixture
def quiet(runtime: Runtime) -> Iterator[Runtime]:
    """Connections to a Redis in which no group has said anything."""
    runtime.redis.delete("canary")
    yield runtime
    runtime.redis.delete("canary")


def said(runtime: Runtime, group: str, *, ago: float, part: str | None = None) -> None:
    """Says that the last canary of a group with an interval of a minute came `ago` seconds ago."""
    moment = passages.now(runtime.redis)
    passage = Passage(
        interval=60,
        since=moment - 1000,
        came_at=moment - ago,
        said_at=moment,
        part=part,
        begins="web",
    )
    passages.say(runtime.redis, group, passage)


def read(runtime: Runtime) -> CanaryState:
    found = passages.state(runtime.redis, MAX_LAG_SECS)
    assert found is not None
    return found


def test_no_group_has_said_anything(quiet: Runtime) -> None:
    assert passages.state(quiet.redis, MAX_LAG_SECS) is None


def test_a_canary_is_late_within_90_seconds_of_the_last_one(quiet: Runtime) -> None:
    said(quiet, "a", ago=80, part="web")
    assert not read(quiet).is_late
    said(quiet, "a", ago=86, part="web")
    assert read(quiet).is_late
    assert read(quiet).part == "web"
    assert read(quiet).allowed_secs < 90


def test_one_that_waits_for_ingest_may_be_as_late_as_other_events(quiet: Runtime) -> None:
    said(quiet, "a", ago=100, part="ingest")
    assert not read(quiet).is_late
    said(quiet, "a", ago=125, part="ingest")
    assert read(quiet).is_late


def test_each_group_that_reports_has_to_get_through(quiet: Runtime) -> None:
    said(quiet, "a", ago=80, part="clickhouse")
    said(quiet, "b", ago=5)
    found = read(quiet)
    assert (found.is_late, found.late, found.part) == (False, 0, None)
    said(quiet, "a", ago=86, part="clickhouse")
    found = read(quiet)
    assert (found.is_late, found.late, found.part) == (True, 1, "clickhouse")
    assert found.age_secs < 60
    assert {part: groups for part, groups in found.failing.items() if groups} == {"clickhouse": 1}
    passages.leave(quiet.redis, "a")
    found = read(quiet)
    assert (found.is_late, found.late, found.part) == (False, 0, None)


@pytest.mark.parametrize(
    ("came_ago", "said_ago"), [(120, 100), (160, 70)], ids=["in time", "already late"]
)
def test_a_group_that_was_killed_does_not_count_as_late(
    quiet: Runtime, came_ago: float, said_ago: float
) -> None:
    moment = passages.now(quiet.redis)
    killed = Passage(
        interval=60,
        since=0,
        came_at=moment - came_ago,
        said_at=moment - said_ago,
        part="web",
        begins="web",
    )
    passages.say(quiet.redis, "killed", killed)
    said(quiet, "b", ago=5)
    assert not read(quiet).is_late


def test_a_group_that_ended_or_was_killed_is_forgotten(quiet: Runtime) -> None:
    said(quiet, "ended", ago=5)
    passages.leave(quiet.redis, "ended")
    moment = passages.now(quiet.redis)
    killed = Passage(
        interval=60, since=0, came_at=moment - 200, said_at=moment - 200, part=None, begins="web"
    )
    passages.say(quiet.redis, "killed", killed)
    assert passages.state(quiet.redis, MAX_LAG_SECS) is None
    said(quiet, "new", ago=1)
    assert quiet.redis.hkeys("canary") == [b"new"]


def test_what_another_release_wrote_does_not_count(quiet: Runtime) -> None:
    quiet.redis.hset("canary", "odd", b"{}")
    assert passages.state(quiet.redis, MAX_LAG_SECS) is None

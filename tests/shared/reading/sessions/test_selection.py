"""The sessions that match each filter."""

from datetime import UTC, datetime

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.slices import HOUR_US
from shared.foundation.core.clock import to_us
from shared.foundation.core.errors import Invalid
from shared.reading.evaluations import store
from shared.reading.evaluations.score_filters import ScoreFilter
from shared.reading.sessions.listing import page
from shared.reading.sessions.selection import SessionFilters
from tests.support.evaluations import evaluation
from tests.support.events import event, store_events

# After the events of all sessions, in microseconds.
DONE = to_us(datetime(2026, 11, 2, 14, tzinfo=UTC))
AWKWARD = [
    "a/b",
    "a,b",
    "it's",
    'say "hi"',
    "back\\slash",
    "\\N",
    "größe-名-🙂",
    "{x:String}",
    "%s",
]


@pytest.fixture
def four(clickhouse: ClickHouse, org_id: str) -> str:
    """The sessions never, failed, well and mended, the newest last."""
    store_events(
        clickhouse,
        org_id,
        [
            event("never", "10:00:00", agent_id="a", environment="production"),
            event("failed", "10:00:01", agent_id="a", environment="staging"),
            event("failed", "11:00:01", agent_id="b", environment="production"),
            event("well", "12:00:00", agent_id="b", environment="staging"),
            event("mended", "13:00:00", agent_id="c", environment="production"),
        ],
    )
    low, high = {"success": 0.25}, {"success": 0.75, "speed": -2.0}
    results = [
        evaluation(org_id, "failed", DONE + 1, status="done", scores=high),
        evaluation(org_id, "failed", DONE + 2, status="error", error="no"),
        evaluation(org_id, "well", DONE + 3, scores=low),
        evaluation(org_id, "mended", DONE + 4, status="timeout", error="late"),
        evaluation(org_id, "mended", DONE + 5, scores=high),
    ]
    store.insert(clickhouse, results)
    store.insert(clickhouse, results[::-1])
    return org_id


def at(hour: int) -> datetime:
    return datetime(2026, 11, 2, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (SessionFilters(), "mended well failed never"),
        (SessionFilters(session_id=("never", "well", "none such")), "well never"),
        (SessionFilters(agent_id=("b",)), "well failed"),
        (SessionFilters(agent_id=("a", "c")), "mended failed never"),
        (SessionFilters(environment=("staging",)), "well failed"),
        (SessionFilters(environment=("staging", "production"), agent_id=("a",)), "failed never"),
        (SessionFilters(status=("done",)), "mended well"),
        (SessionFilters(status=("error",)), "failed"),
        (SessionFilters(status=("timeout",)), ""),
        (SessionFilters(status=("none",)), "never"),
        (SessionFilters(status=("none", "error")), "failed never"),
        (SessionFilters(score_filters=(ScoreFilter("success", 0.5, None),)), "mended"),
        (SessionFilters(score_filters=(ScoreFilter("success", 0.25, 0.75),)), "mended well"),
        (SessionFilters(score_filters=(ScoreFilter("success", None, 0.5),)), "well"),
        (SessionFilters(score_filters=(ScoreFilter("speed", -2.5, -1e-3),)), "mended"),
        (SessionFilters(score_filters=(ScoreFilter("speed", None, None),), status=("none",)), ""),
        (SessionFilters(score_filters=(ScoreFilter("speed", 0, None),), status=("done",)), ""),
        (SessionFilters(ts_from=at(11)), "mended well failed"),
        (SessionFilters(ts_from=at(12), ts_to=at(13)), "well"),
        (SessionFilters(ts_to=at(12)), "failed never"),
    ],
)
def test_filters(clickhouse: ClickHouse, four: str, wanted: SessionFilters, names: str) -> None:
    shown = page(clickhouse, four, wanted, limit=10, cursor=None)
    assert [row.facts.session_id for row in shown.rows] == names.split()
    assert shown.next_cursor is None


def test_filters_hold_on_every_page(clickhouse: ClickHouse, four: str) -> None:
    wanted = SessionFilters(status=("done", "none"), score_filters=())
    found: list[str] = []
    cursor: str | None = None
    for _ in range(3):
        shown = page(clickhouse, four, wanted, limit=1, cursor=cursor)
        found += [row.facts.session_id for row in shown.rows]
        cursor = shown.next_cursor
    assert (found, cursor) == (["mended", "well", "never"], None)


def test_a_row_carries_its_newest_result(clickhouse: ClickHouse, four: str) -> None:
    shown = page(clickhouse, four, SessionFilters(), limit=10, cursor=None)
    newest = [row.latest_evaluation for row in shown.rows]
    assert [row and row.completed_at for row in newest] == [
        DONE + 5,
        DONE + 3,
        DONE + 2,
        None,
    ]


def test_a_result_may_seem_to_be_a_day_older_than_the_first_event(
    clickhouse: ClickHouse, org_id: str
) -> None:
    [stored] = store_events(clickhouse, org_id, [event("ahead", "10:00:00")])
    store.insert(clickhouse, [evaluation(org_id, "ahead", stored.ts - 47 * HOUR_US)])
    [row] = page(clickhouse, org_id, SessionFilters(), limit=10, cursor=None).rows
    assert row.latest_evaluation is not None


def test_sessions_of_one_moment_are_paged_by_id(clickhouse: ClickHouse, org_id: str) -> None:
    store_events(clickhouse, org_id, [event(name, "10:00:00") for name in AWKWARD])
    found: list[str] = []
    cursor: str | None = None
    while len(found) < len(AWKWARD):
        shown = page(clickhouse, org_id, SessionFilters(), limit=2, cursor=cursor)
        found += [row.facts.session_id for row in shown.rows]
        cursor = shown.next_cursor
    assert found == sorted(AWKWARD, reverse=True)
    assert cursor is None


@pytest.mark.parametrize("name", AWKWARD)
def test_ids_of_any_characters_can_be_asked_for(
    clickhouse: ClickHouse, org_id: str, name: str
) -> None:
    events = [event(name, "10:00:00", agent_id=name, environment=name.replace(",", ";"))]
    store_events(clickhouse, org_id, [*events, event("another", "10:00:00")])
    wanted = SessionFilters(
        session_id=(name,), agent_id=(name,), environment=(name.replace(",", ";"),)
    )
    (row,) = page(clickhouse, org_id, wanted, limit=2, cursor=None).rows
    assert (row.facts.session_id, row.facts.agent_id) == (name, name)


@pytest.mark.parametrize("cursor", ["", "!", "AAAA", "kwEC", "lAECAwQ"])
def test_a_foreign_cursor_is_refused(clickhouse: ClickHouse, org_id: str, cursor: str) -> None:
    with pytest.raises(Invalid) as refused:
        page(clickhouse, org_id, SessionFilters(), limit=2, cursor=cursor)
    assert list(refused.value.fields) == ["cursor"]

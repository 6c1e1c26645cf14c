"""GET /v1/evaluations/aggregate, by value."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from msgspec.structs import replace

from shared.foundation.core.clock import format_ts, to_us
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store
from shared.reading.evaluations.records import Evaluation
from tests.support.app import Headers
from tests.support.evaluations import evaluation
from tests.support.events import store_events
from tests.support.runtime import Org

Key = Callable[..., Headers]
Read = Callable[..., Any]

# A Wednesday.
NOON = datetime(2026, 11, 4, 12, tzinfo=UTC)
LARGEST = 1.7976931348623157e308


@pytest.fixture
def read(client: FlaskClient, key: Key) -> Read:
    """`read(bucket="hour")` returns the decoded answer."""
    headers = key("evaluations:read")

    def get(**query: object) -> Any:
        given = {
            name: json.dumps(value) if name == "series" else value for name, value in query.items()
        }
        answer = client.get("/v1/evaluations/aggregate", query_string=given, headers=headers)
        assert answer.status_code == 200, answer.json
        return answer.json

    return get


@pytest.fixture
def put(runtime: Runtime, org: Org) -> Callable[..., None]:
    """`put(("s", 5, {"scores": {"x": 1}}))` stores a result of session s, 5 minutes after noon."""

    def store_them(*rows: tuple[str, float, dict[str, Any]]) -> None:
        made = [evaluation(org.id, name, minute(at), **more) for name, at, more in rows]
        store.insert(runtime.clickhouse, made)

    return store_them


def minute(after_noon: float) -> int:
    return to_us(NOON + timedelta(minutes=after_noon))


def moment(after_noon: float) -> str:
    return format_ts(NOON + timedelta(minutes=after_noon))


def test_an_imported_week_is_a_week(
    put: Callable[..., None], read: Read, runtime: Runtime, org: Org
) -> None:
    """Sessions of a week are evaluated within a minute; both ways of counting have all results."""
    days = range(7)
    store_events(
        runtime.clickhouse,
        org.id,
        [
            json.dumps(
                {"type": kind, "timestamp": f"2026-10-0{day + 1}T1{hour}:00:00Z"}
                | {"session_id": f"s{day}", "agent_id": "main"}
            ).encode()
            for day in days
            for hour, kind in enumerate(("agent_start", "agent_end"))
        ],
    )
    put(*((f"s{day}", day / 60, {"scores": {"x": day}}) for day in days))
    put(("s0", 1, {"status": "error"}), ("no events any more", 1, {"scores": {"x": 9.0}}))
    completed, took_place = read(bucket="day"), read(bucket="day", time="session")
    assert [point["total"] for point in completed["timeline"]["points"]] == [9]
    points = took_place["timeline"]["points"]
    assert [point["total"] for point in points[:7]] == [2, 1, 1, 1, 1, 1, 1]
    assert points[0]["ts"] == "2026-10-01T00:00:00.000000Z"
    assert points[3]["scores"] == {"x": 3.0}
    assert points[-1]["total"] == 1
    for figures in ("total", "status_counts", "score_stats"):
        assert took_place[figures] == completed[figures]
    bounds = {"ts_from": "2026-10-02T11:00:00Z", "ts_to": "2026-10-04T11:00:00Z"}
    two_days = read(time="session", **bounds)
    assert (two_days["total"], read(**bounds)["total"]) == (2, 0)
    newest = read(time="session", latest_per_session="true", **bounds | {"ts_from": moment(-1e5)})
    assert newest["status_counts"] == {"done": 2, "error": 1, "timeout": 0}


def test_every_field(put: Callable[..., None], read: Read) -> None:
    put(
        ("a", 0, {"scores": {"x": 1.0, "y": -2.0}}),
        ("b", 1, {"scores": {"x": 2.0}, "environment": "staging"}),
        ("c", 130, {"scores": {"x": 4.0}, "agent_id": "other"}),
        ("d", 131, {"status": "error", "error": "no"}),
        ("e", 150, {"status": "timeout", "error": "late"}),
    )
    series = [["*", "staging", "x", "max"], ["other", "*", "x", "p50"]]
    assert read(bucket="hour", series=series) == {
        "total": 5,
        "status_counts": {"done": 3, "error": 1, "timeout": 1},
        "score_stats": [
            {"key": "x", "count": 3, "avg": 7 / 3, "min": 1.0, "max": 4.0, "p50": 2.0},
            {"key": "y", "count": 1, "avg": -2.0, "min": -2.0, "max": -2.0, "p50": -2.0},
        ],
        "timeline": {
            "bucket_unit": "hour",
            "bucket_secs": 3600,
            "points": [
                {"ts": moment(0), "total": 2, "done": 2, "error": 0, "timeout": 0}
                | {"scores": {"x": 1.5, "y": -2.0}},
                {"ts": moment(60), "total": 0, "done": 0, "error": 0, "timeout": 0, "scores": {}},
                {"ts": moment(120), "total": 3, "done": 1, "error": 1, "timeout": 1}
                | {"scores": {"x": 4.0}},
            ],
        },
        "series": [
            {"agent_id": "*", "environment": "staging", "key": "x", "agg": "max"}
            | {"points": points(2.0, None, None)},
            {"agent_id": "other", "environment": "*", "key": "x", "agg": "p50"}
            | {"points": points(None, None, 4.0)},
        ],
        "series_truncated": False,
    }


def points(*values: float | None) -> list[dict[str, object]]:
    return [{"ts": moment(60 * hour), "value": value} for hour, value in enumerate(values)]


def test_nothing_adds_up_to_nothing(read: Read) -> None:
    series = [["*", "*", "x", "avg"]]
    empty = read(series=series, featured_keys="x")
    assert empty["total"] == 0
    assert empty["status_counts"] == {"done": 0, "error": 0, "timeout": 0}
    assert empty["score_stats"] == []
    assert empty["timeline"] == {"bucket_unit": "minute", "bucket_secs": 60, "points": []}
    assert [one["points"] for one in empty["series"]] == [[]]
    # One bound alone creates no bucket.
    assert read(ts_from=moment(0))["timeline"]["points"] == []
    assert read(ts_from=moment(5), ts_to=moment(5))["timeline"]["points"] == []
    both = read(ts_from=moment(0), ts_to=moment(3), bucket="minute", series=series)
    assert [point["ts"] for point in both["timeline"]["points"]] == [
        moment(0),
        moment(1),
        moment(2),
    ]
    assert [point["value"] for point in both["series"][0]["points"]] == [None] * 3


def test_a_given_range_is_listed_whole_and_its_ends_hold_what_lies_in_it(
    put: Callable[..., None], read: Read
) -> None:
    put(*((f"s{n}", n, {}) for n in range(-10, 60)))
    found = read(ts_from=moment(-2), ts_to=moment(130), bucket="hour")
    shown = [(point["ts"], point["total"]) for point in found["timeline"]["points"]]
    assert shown == [(moment(-60), 2), (moment(0), 60), (moment(60), 0), (moment(120), 0)]
    assert found["total"] == 62
    open_end = read(ts_from=moment(-61), bucket="hour")["timeline"]["points"]
    assert [point["total"] for point in open_end] == [0, 10, 60]
    assert [point["ts"] for point in open_end] == [moment(-120), moment(-60), moment(0)]


def test_a_result_counts_for_the_bucket_that_begins_at_its_moment(
    put: Callable[..., None], read: Read
) -> None:
    put(("a", 60 - 1 / 60_000_000, {}), ("b", 60, {}), ("c", 119.999, {}))
    shown = read(bucket="hour")["timeline"]["points"]
    assert [(point["ts"], point["total"]) for point in shown] == [(moment(0), 1), (moment(60), 2)]


def test_weeks_begin_on_monday(put: Callable[..., None], read: Read) -> None:
    sunday, monday = datetime(2026, 11, 8, 23, 59, tzinfo=UTC), datetime(2026, 11, 9, tzinfo=UTC)
    for at in (sunday, monday):
        put((str(at), (at - NOON) / timedelta(minutes=1), {}))
    found = read(bucket="week")["timeline"]
    assert (found["bucket_unit"], found["bucket_secs"]) == ("week", 604_800)
    assert [point["ts"][:10] for point in found["points"]] == ["2026-11-02", "2026-11-09"]


def test_too_many_points_are_coarser_ones(put: Callable[..., None], read: Read) -> None:
    put(("a", 0, {}), ("b", 1500, {}))
    found = read(bucket="minute")["timeline"]
    assert (found["bucket_unit"], found["bucket_secs"], len(found["points"])) == ("5m", 300, 301)
    ever = read(ts_from="0001-01-01T00:00:00Z", ts_to="9999-12-31T23:59:59Z", bucket="minute")
    assert ever["timeline"]["bucket_unit"] == "week"
    assert ever["timeline"]["bucket_secs"] == 14 * 604_800
    assert len(ever["timeline"]["points"]) <= 1500
    assert ever["total"] == sum(point["total"] for point in ever["timeline"]["points"]) == 2


@pytest.mark.parametrize(
    ("agg", "value"),
    [
        ("avg", 3.25),
        ("min", 1.0),
        ("max", 7.0),
        ("p50", 2.5),
        ("p75", 4.0),
        ("p90", 5.8),
        ("p95", 6.4),
        ("p99", 6.88),
        ("stddev", 2.277608394786075),
    ],
)
def test_aggregates_are_of_the_population_and_interpolated(
    put: Callable[..., None], read: Read, agg: str, value: float
) -> None:
    put(*((f"s{n}", 1, {"scores": {"x": n, "y": 100.0}}) for n in (7, 2, 1, 3)))
    [series] = read(series=[["*", "*", "x", agg]])["series"]
    assert [point["value"] for point in series["points"]] == [pytest.approx(value, rel=1e-12)]


def test_deviations_of_large_scores_are_exact(put: Callable[..., None], read: Read) -> None:
    put(*((f"s{n}", 1, {"scores": {"x": 1e9 + n / 10}}) for n in (1, 2, 3)))
    [series] = read(series=[["*", "*", "x", "stddev"]])["series"]
    assert series["points"][0]["value"] == pytest.approx(0.0816496580927726, rel=1e-6)


def test_scores_as_large_as_numbers_get_have_averages_and_medians(
    put: Callable[..., None], read: Read
) -> None:
    for sign in (1, 1, 1, -1):
        put(("s", 1, {"scores": {"x": sign * LARGEST, "tiny": 5e-300}}))
    found = read(series=[["*", "*", "x", name] for name in ("avg", "p50", "min", "stddev")])
    tiny, x = found["score_stats"]
    assert tiny["avg"] == tiny["p50"] == pytest.approx(5e-300, rel=1e-9)
    half = pytest.approx(LARGEST / 2, rel=1e-15)
    assert (x["avg"], x["p50"], x["min"], x["max"]) == (half, LARGEST, -LARGEST, LARGEST)
    assert found["timeline"]["points"][0]["scores"]["x"] == half
    values = [one["points"][0]["value"] for one in found["series"]]
    assert values == [half, LARGEST, -LARGEST, None]


def test_results_stored_twice_count_once(runtime: Runtime, org: Org, read: Read) -> None:
    rows = [evaluation(org.id, f"s{n}", minute(n), scores={"x": n}) for n in range(5)]
    store.insert(runtime.clickhouse, [*rows, *rows[:2]])
    once = read(series=[["*", "*", "x", "p50"], ["*", "*", "x", "stddev"]], bucket="hour")
    assert once["total"] == once["score_stats"][0]["count"] == 5
    store.insert(runtime.clickhouse, rows[::-1])
    store.insert(runtime.clickhouse, [replace(row, org_id=f"{org.id}-other") for row in rows])
    for latest in ("true", "false"):
        again = read(
            series=[["*", "*", "x", "p50"], ["*", "*", "x", "stddev"]],
            bucket="hour",
            latest_per_session=latest,
        )
        assert again == once


def test_the_newest_of_a_session_is_newest_whatever_else_is_asked(
    put: Callable[..., None], read: Read
) -> None:
    put(
        ("a", 0, {"status": "error"}),
        ("a", 10, {"scores": {"x": 1.0}}),
        ("b", 20, {"scores": {"x": 0.5}}),
        ("b", 30, {"status": "timeout"}),
        ("c", 5, {"scores": {"x": 0.25}, "agent_id": "former"}),
        ("c", 40, {"scores": {"x": 0.75}}),
    )

    def counts(**query: object) -> tuple[int, ...]:
        found = read(latest_per_session="true", **query)
        return found["total"], *found["status_counts"].values()

    assert counts() == (3, 2, 0, 1)
    assert counts(status="done") == (2, 2, 0, 0)
    assert counts(status="error") == (0, 0, 0, 0)
    assert counts(ts_to=moment(25)) == (1, 1, 0, 0)
    assert counts(ts_from=moment(15)) == (2, 1, 0, 1)
    assert counts(agent_id="former") == (0, 0, 0, 0)
    assert counts(score_filters="x:..0.6") == (0, 0, 0, 0)
    assert counts(session_id="a,b") == (2, 1, 0, 1)


def test_of_results_of_one_moment_the_larger_id_is_the_newest(
    runtime: Runtime, org: Org, read: Read
) -> None:
    ids: list[Evaluation] = [evaluation(org.id, "s", minute(0), agent_id=str(n)) for n in range(9)]
    store.insert(runtime.clickhouse, ids)
    newest = max(ids, key=lambda row: row.evaluation_id)
    found = read(latest_per_session="true", agent_id=newest.agent_id)
    assert (found["total"], read(latest_per_session="true")["total"]) == (1, 1)


def test_the_most_frequent_keys_are_featured_unless_others_are_named(
    put: Callable[..., None], read: Read
) -> None:
    keys = ["g", "f", "e", "d", "c", "b", "a", "h, i"]
    for n in range(len(keys)):
        put((f"s{n}", 0, {"scores": dict.fromkeys(keys[n // 2 * 2 :], 1.0)}))

    def featured(**query: object) -> list[str]:
        [point] = read(**query)["timeline"]["points"]
        return list(point["scores"])

    frequency = ["a", "h, i", "b", "c", "d", "e", "f", "g"]
    assert [row["key"] for row in read()["score_stats"]] == frequency
    assert featured() == frequency[:6]
    assert featured(featured_keys=r"g,h\, i,unknown,g") == ["g", "h, i"]


def test_results_without_scores_are_none_of_an_empty_key(
    put: Callable[..., None], read: Read
) -> None:
    put(
        ("bare", 0, {}),
        ("empty", 60, {"scores": {"": 4.0}}),
        ("both", 61, {"scores": {"": 2.0, "x": 1.0}}),
        ("failed", 120, {"status": "error"}),
    )
    found = read(series=[["*", "*", "", "min"], ["*", "*", "", "avg"]], bucket="hour")
    assert [(row["key"], row["count"], row["min"]) for row in found["score_stats"]] == [
        ("", 2, 2.0),
        ("x", 1, 1.0),
    ]
    assert [point["total"] for point in found["timeline"]["points"]] == [1, 2, 1]
    assert [point["scores"] for point in found["timeline"]["points"]] == [
        {},
        {"": 3.0, "x": 1.0},
        {},
    ]
    values = [[point["value"] for point in one["points"]] for one in found["series"]]
    assert values == [[None, 2.0, None], [None, 3.0, None]]


def test_the_list_of_keys_ends(runtime: Runtime, org: Org, read: Read) -> None:
    rows = [
        evaluation(org.id, "s", minute(n), scores={f"k{n}-{m:03}": 0.0 for m in range(300)})
        for n in range(2)
    ]
    store.insert(runtime.clickhouse, rows)
    found = read()
    assert [row["key"] for row in found["score_stats"]] == [
        *(f"k0-{m:03}" for m in range(300)),
        *(f"k1-{m:03}" for m in range(200)),
    ]


def test_a_star_is_every_agent_even_where_one_is_called_so(
    put: Callable[..., None], read: Read
) -> None:
    put(
        ("a", 0, {"scores": {"x": 1.0}, "agent_id": "*", "environment": "*"}),
        ("b", 0, {"scores": {"x": 3.0}, "agent_id": "b", "environment": "it's, b\\"}),
    )
    series = [
        ["*", "*", "x", "avg"],
        ["b", "it's, b\\", "x", "avg"],
        ["b", "*", "x", "avg"],
        ["*", "it's, b\\", "x", "avg"],
        ["a", "*", "x", "avg"],
        ["*", "*", "x", "avg"],
    ]

    def values(**query: object) -> list[float | None]:
        return [one["points"][0]["value"] for one in read(series=series, **query)["series"]]

    assert values() == [2.0, 3.0, 3.0, 3.0, None, 2.0]
    assert values(agent_id="*") == [1.0, None, None, None, None, 1.0]


def test_series_beyond_the_twenty_fourth_are_left_out_and_reported(
    put: Callable[..., None], read: Read
) -> None:
    put(("a", 0, {"scores": {f"k{n}": n for n in range(30)}}))
    series = [["*", "*", f"k{n}", "max"] for n in range(25)]
    found = read(series=series)
    assert [one["key"] for one in found["series"]] == [f"k{n}" for n in range(24)]
    assert [one["points"][0]["value"] for one in found["series"]] == list(range(24))
    assert found["series_truncated"] is True
    assert read(series=series[:24])["series_truncated"] is False


def test_histograms_have_equal_bins_and_every_score(read: Read, put: Callable[..., None]) -> None:
    put(
        *(("s", n, {"scores": {"k": n / 10, "same": 7}}) for n in range(11)),
        ("t", 20, {"scores": {"huge": LARGEST}}),
        ("t", 21, {"scores": {"huge": -LARGEST}}),
        ("t", 22, {"status": "error"}),
    )
    found = read(histogram=4)
    assert [row["key"] for row in found["histograms"]] == [
        row["key"] for row in found["score_stats"]
    ]
    assert found["histograms"] == [
        {"key": "k", "min": 0, "max": 1, "counts": [3, 2, 3, 3]},
        {"key": "same", "min": 7, "max": 7, "counts": [0, 0, 0, 11]},
        {"key": "huge", "min": -LARGEST, "max": LARGEST, "counts": [1, 0, 0, 1]},
    ]
    assert read(histogram=2, status="error")["histograms"] == []
    assert "histograms" not in read()


def test_histograms_are_of_the_results_that_match(read: Read, put: Callable[..., None]) -> None:
    put(*(("s", n, {"scores": {"k": n}, "environment": f"e{n % 2}"}) for n in range(10)))
    [found] = read(histogram=2, environment="e1")["histograms"]
    assert (found["min"], found["max"], found["counts"]) == (1, 9, [2, 3])
    [found] = read(histogram=2, latest_per_session="true")["histograms"]
    assert (found["min"], found["max"], found["counts"]) == (9, 9, [0, 1])

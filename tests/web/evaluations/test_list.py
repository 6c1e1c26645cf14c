"""GET /v1/evaluations and the values of its filters."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store
from shared.reading.evaluations.records import Evaluation
from tests.support.app import Headers
from tests.support.evaluations import evaluation
from tests.support.runtime import Org

Key = Callable[..., Headers]

SECOND = 1_000_000


@pytest.fixture
def read(client: FlaskClient, key: Key) -> Callable[..., Any]:
    """`read("/evaluations", status="done")` returns the decoded answer."""
    headers = key("evaluations:read")

    def get(path: str, **query: object) -> Any:
        answer = client.get(f"/v1{path}", query_string=query, headers=headers)
        assert answer.status_code == 200, answer.json
        return answer.json

    return get


def test_a_row_has_every_field(runtime: Runtime, org: Org, read: Callable[..., Any]) -> None:
    row = evaluation(
        org.id,
        "s/1",
        1_793_520_033_587_001,
        agent_id="a",
        environment="staging",
        status="timeout",
        summary="",
        error="too late",
        attempt_count=5,
        duration_ms=0,
    )
    store.insert(runtime.clickhouse, [row])
    assert read("/evaluations") == {
        "evaluations": [
            {
                "evaluation_id": row.evaluation_id,
                "id": row.evaluation_id,
                "session_id": "s/1",
                "agent_id": "a",
                "environment": "staging",
                "status": "timeout",
                "scores": None,
                "reasoning": None,
                "summary": "",
                "error": "too late",
                "attempt_count": 5,
                "duration_ms": 0,
                "completed_at": "2026-11-01T08:00:33.587001Z",
                "created_at": "2026-11-01T08:00:33.587001Z",
                "evaluator": "default",
                "evaluator_version": None,
                "trigger": None,
                "results": [],
                "covers": None,
                "usage": None,
                "stale": False,
                "coverage": None,
                "backfill_id": None,
            }
        ],
        "next_cursor": None,
    }


def test_filters(runtime: Runtime, org: Org, read: Callable[..., Any]) -> None:
    rows = [
        evaluation(org.id, "a,b", 1 * SECOND, agent_id="x", scores={"k": -0.5}),
        evaluation(org.id, "c", 2 * SECOND, agent_id="y", environment="staging", scores={"k": 1}),
        evaluation(org.id, "c", 3 * SECOND, agent_id="y", status="error", error="no"),
        evaluation(org.id, "d", 4 * SECOND, agent_id="z", scores={"k, l": 1e-3}),
    ]
    store.insert(runtime.clickhouse, rows)
    store.insert(runtime.clickhouse, rows)

    def moments(**query: object) -> list[int]:
        found = read("/evaluations", **query)["evaluations"]
        return [int(row["completed_at"][17:19]) for row in found]

    assert moments() == [4, 3, 2, 1]
    assert moments(session_id=r"a\,b,d") == [4, 1]
    assert moments(agent_id="y") == [3, 2]
    assert moments(environment="staging") == [2]
    assert moments(status="error,timeout") == [3]
    assert moments(score_filters="k:-1..1") == [2, 1]
    assert moments(score_filters=r"k\, l:..1e-3") == [4]
    assert moments(score_filters="k:0..,k:..0.5") == []
    assert moments(ts_from="1970-01-01T00:00:02Z", ts_to="1970-01-01T00:00:04Z") == [3, 2]
    assert moments(latest_per_session="true") == [4, 3, 1]
    assert moments(latest_per_session="true", status="done") == [4, 1]


def test_the_lowest_scores(runtime: Runtime, org: Org, read: Callable[..., Any]) -> None:
    """The lowest first, then the newest; rows without that score are left out."""
    rows = [
        evaluation(org.id, "a", 1 * SECOND, scores={"k": 2, "other": -9}),
        evaluation(org.id, "b", 2 * SECOND, scores={"k": -1e300}),
        evaluation(org.id, "c", 3 * SECOND, scores={"k": 2}),
        evaluation(org.id, "c", 4 * SECOND, scores={"k": 5}, environment="staging"),
        evaluation(org.id, "d", 5 * SECOND, scores={"other": 0}),
        evaluation(org.id, "d", 6 * SECOND, status="error", error="no"),
    ]
    store.insert(runtime.clickhouse, rows)
    store.insert(runtime.clickhouse, rows)

    def moments(**query: object) -> list[int]:
        found = read("/evaluations", **query)
        assert found["next_cursor"] is None
        return [int(row["completed_at"][17:19]) for row in found["evaluations"]]

    assert moments(lowest="k") == [2, 3, 1, 4]
    assert moments(lowest="k", limit=2) == [2, 3]
    assert moments(lowest="other") == [1, 5]
    assert moments(lowest="unknown") == []
    assert moments(lowest="k", environment="staging") == [4]
    assert moments(lowest="k", latest_per_session="true") == [2, 1, 4]
    listed = {row["id"]: row for row in read("/evaluations")["evaluations"]}
    assert all(listed[row["id"]] == row for row in read("/evaluations", lowest="k")["evaluations"])


def test_the_lowest_scores_have_no_pages(
    runtime: Runtime, org: Org, read: Callable[..., Any], client: FlaskClient, key: Key
) -> None:
    store.insert(runtime.clickhouse, [evaluation(org.id, f"{n}", n) for n in range(2)])
    cursor = read("/evaluations", limit=1)["next_cursor"]
    answer = client.get(
        "/v1/evaluations",
        query_string={"lowest": "k", "cursor": cursor},
        headers=key("evaluations:read"),
    )
    assert answer.status_code == 422
    assert answer.get_json()["fields"].keys() == {"cursor"}


def test_pages(runtime: Runtime, org: Org, read: Callable[..., Any]) -> None:
    rows = [evaluation(org.id, "s", 1) for _ in range(7)]
    store.insert(runtime.clickhouse, rows)
    found: list[str] = []
    cursor: dict[str, str] = {}
    for size in (3, 3, 1):
        page = read("/evaluations", limit=3, **cursor)
        assert len(page["evaluations"]) == size
        found += [row["id"] for row in page["evaluations"]]
        cursor = {"cursor": page["next_cursor"]}
    assert found == sorted((row.evaluation_id for row in rows), reverse=True)
    assert cursor["cursor"] is None


@pytest.mark.parametrize("latest", ["true", "false"])
def test_a_page_of_large_results_ends_before_its_limit(
    runtime: Runtime, org: Org, read: Callable[..., Any], latest: str
) -> None:
    text = "because " * 1_000_000
    large = [
        evaluation(org.id, f"l{n}", 9 - n, scores={"x": n}, reasoning={"x": text}) for n in range(6)
    ]
    many = evaluation(org.id, "many", 10, scores={f"k{n}": n for n in range(2000)})
    small = [evaluation(org.id, f"s{n}", 1, reasoning={"x": "so"}) for n in range(4)]
    store.insert(runtime.clickhouse, [many, *large, *small])
    store.insert(runtime.clickhouse, [many, large[1], small[0]])
    found: list[dict[str, Any]] = []
    sizes: list[int] = []
    cursor: dict[str, str] = {}
    while not sizes or cursor["cursor"]:
        page = read("/evaluations", latest_per_session=latest, **cursor)
        sizes.append(len(page["evaluations"]))
        found += page["evaluations"]
        cursor = {"cursor": page["next_cursor"]}
    # 32 MiB hold four of them.
    assert sizes == [5, 6]
    ids = [row.evaluation_id for row in (many, *large, *sorted_by_id(small))]
    assert [row["id"] for row in found] == ids
    assert found[0]["scores"] == many.scores
    assert [row["reasoning"] for row in found[1:7]] == [{"x": text}] * 6
    assert [row["scores"] for row in found[1:7]] == [row.scores for row in large]
    assert [row["reasoning"] for row in found[7:]] == [{"x": "so"}] * 4


def sorted_by_id(rows: list[Evaluation]) -> list[Evaluation]:
    return sorted(rows, key=lambda row: row.evaluation_id, reverse=True)


def test_values_to_filter_by(runtime: Runtime, org: Org, read: Callable[..., Any]) -> None:
    rows = [
        evaluation(org.id, "s", 1, environment="b", scores={"y": 1.0, "x": 1.0}),
        evaluation(org.id, "t", 2, environment="a", scores={"y": 0.0}),
    ]
    store.insert(runtime.clickhouse, rows)
    assert read("/evaluations/environments") == ["a", "b"]
    assert read("/evaluations/score_keys") == ["x", "y"]
    assert read("/evaluations/metric_keys") == []


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("status", "none"),
        ("score_filters", "k:1"),
        ("ts_from", "2026-11-02"),
        ("latest_per_session", "perhaps"),
        ("limit", "many"),
        ("cursor", "gA"),
    ],
)
def test_a_malformed_parameter_is_named(
    client: FlaskClient, key: Key, parameter: str, value: str
) -> None:
    headers = key("evaluations:read")
    answer = client.get("/v1/evaluations", query_string={parameter: value}, headers=headers)
    assert answer.status_code == 422
    assert list(answer.json["fields"]) == [parameter]  # type: ignore[index]


@pytest.mark.parametrize("path", ["", "/environments", "/score_keys", "/metric_keys"])
def test_evaluations_need_their_permission(client: FlaskClient, key: Key, path: str) -> None:
    answer = client.get(f"/v1/evaluations{path}", headers=key("events:read"))
    assert answer.status_code == 403
    assert answer.json["required_permission"] == "evaluations:read"  # type: ignore[index]

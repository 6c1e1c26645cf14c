"""GET /events/latency_calls, and the choice of names: the pairs that the aggregate counts."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.support.app import Headers
from tests.web.events.conftest import at, result, use

Store = Callable[[Sequence[object]], None]
Latency = Callable[..., dict[str, Any]]


@pytest.fixture
def calls(client: FlaskClient, reader: Headers) -> Latency:
    """Returns the answer for the hour after `HOUR`."""

    def ask(**query: object) -> dict[str, Any]:
        given = {"ts_from": at(0), "ts_to": at(3600), **query}
        answer = client.get("/v1/events/latency_calls", query_string=given, headers=reader)
        assert answer.status_code == 200, answer.get_json()
        return dict(answer.get_json())

    return ask


def pair(second: float, call: str, latency: float, **fields: Any) -> list[dict[str, Any]]:
    ids = {"session_id": f"s-{call}", "tool_name": fields.pop("name", "a")}
    return [
        use(second, call, **ids),
        result(second + 1, call, duration_ms=latency, **ids, **fields),
    ]


def test_a_band_has_as_many_calls_as_the_heat_map(
    store: Store, calls: Latency, latency: Latency
) -> None:
    sent = [
        *pair(1, "short", 2, name="b"),
        *pair(2, "x", 3000),
        *pair(3, "y", 9999, error="no"),
        *pair(4, "long", 10_000),
        use(5, "open", session_id="s-open"),
    ]
    store(sent)
    store(sent[::-1])
    found = calls(latency_from=3000, latency_to=10_000)
    assert found["total"] == latency()["heatmap"]["counts"][0][7] == 2
    longest, shorter = found["calls"]
    assert longest == {
        "ts": at(3),
        "session_id": "s-y",
        "event_id": longest["event_id"],
        "key": "a",
        "latency_ms": 9999,
        "is_error": True,
    }
    assert (shorter["session_id"], shorter["is_error"]) == ("s-x", False)
    assert calls()["total"] == latency()["summary"]["count"] == 4
    assert [one["latency_ms"] for one in calls(limit=2)["calls"]] == [10_000, 9999]
    assert calls(limit=2)["total"] == 4
    assert calls(tool_name="b")["calls"][0]["session_id"] == "s-short"
    assert calls(latency_from=20_000) == {"total": 0, "calls": []}


def test_the_event_is_the_start(
    store: Store, calls: Latency, client: FlaskClient, reader: Headers
) -> None:
    store(pair(1, "x", 5))
    [call] = calls()["calls"]
    path = f"/v1/sessions/{call['session_id']}/events/{call['event_id']}"
    assert client.get(path, headers=reader).get_json()["event_type"] == "tool_use"


def test_pairs_without_a_key_are_listed(store: Store, calls: Latency, latency: Latency) -> None:
    """Two closes with one key cannot be paired in one pass; others have no key at all."""
    store([use(1), result(2, duration_ms=7), use(3, "k"), result(4, "k"), result(5, "k")])
    found = calls()
    assert found["total"] == latency()["summary"]["count"] == 2
    assert {one["latency_ms"] for one in found["calls"]} == {7, 1000}


@pytest.mark.parametrize(
    ("order", "first"),
    [("count", "often"), ("p95", "slow"), ("max", "slow"), ("error_count", "broken")],
)
def test_names_are_chosen_by_a_figure(
    store: Store, latency: Latency, order: str, first: str
) -> None:
    store(
        [
            event
            for number, (name, ms, error) in enumerate(
                [("often", 1, None)] * 4 + [("slow", 900, None)] + [("broken", 2, "no")] * 2
            )
            for event in pair(number, f"c{number}", ms, name=name, error=error)
        ]
    )
    found = latency(distribution_limit=1, distribution_order=order)["distribution"]
    assert [row["key"] for row in found] == [first, "(other)"]
    assert sum(row["count"] for row in found) == 7
    assert len(latency(distribution_limit=3)["distribution"]) == 3


def test_refused_parameters(client: FlaskClient, reader: Headers) -> None:
    for path, name, value in (
        ("latency_calls", "limit", "0"),
        ("latency_calls", "latency_from", "x"),
        ("latency_aggregate", "distribution_limit", "501"),
        ("latency_aggregate", "distribution_order", "name"),
    ):
        answer = client.get(f"/v1/events/{path}?{name}={value}", headers=reader)
        assert answer.status_code == 422
        assert list(answer.get_json()["fields"]) == [name]

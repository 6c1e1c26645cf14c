"""Requests of costs: their bounds, cursors, the cache and the places of an organization."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from shared.reading.costs import places
from shared.reading.costs.places import OF_COSTS, cost_place
from tests.support.app import Headers
from tests.support.runtime import Org
from tests.web.costs.conftest import Get, Send, at

PRICED = {"model": "gpt-4o", "input_tokens": 1000, "output_tokens": 10}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"group_by": "user"}, "group_by"),
        ({"group_by": "attr."}, "group_by"),
        ({"group_by": "model,user_id,tag"}, "group_by"),
        ({"group_by": "model,model"}, "group_by"),
        ({"bucket": "minute"}, "bucket"),
        ({"bucket": "hour", "ts_from": "2026-01-01T00:00:00Z"}, "bucket"),
        ({"bucket": "day", "tz": "Mars/Olympus"}, "tz"),
        ({"sort": "sessions"}, "sort"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"limit": "0"}, "limit"),
        ({"ts_from": "2027-01-01T00:00:00Z"}, "ts_from"),
    ],
)
def test_bad_parameters_are_refused(
    client: FlaskClient, headers: Headers, query: dict[str, str], field: str
) -> None:
    given = {"ts_to": "2026-12-01T00:00:00Z", **query}
    answer = client.get("/v1/costs", query_string=given, headers=headers)
    assert answer.status_code == 422
    assert list(answer.get_json()["fields"]) == [field]


def test_a_cursor_belongs_to_its_list_and_keeps_its_range(
    client: FlaskClient, headers: Headers, send: Send, get: Get
) -> None:
    send({**PRICED, "session_id": f"s{number}", "n": number} for number in range(3))
    first = get(group_by="session_id", limit=1)
    cursor = first["next_cursor"]
    # Without the range of the first page, which lies in the past.
    query = {"group_by": "session_id", "limit": 1, "cursor": cursor}
    second = client.get("/v1/costs", query_string=query, headers=headers).get_json()
    assert (second["bounds"], second["total"]) == (first["bounds"], first["total"])
    assert [one["key"]["session_id"] for one in second["groups"]] == ["s1"]
    for change in ({"sort": "calls"}, {"group_by": "model"}):
        answer = client.get("/v1/costs", query_string={**query, **change}, headers=headers)
        assert answer.status_code == 422
        assert list(answer.get_json()["fields"]) == ["cursor"]


def test_without_calls_everything_is_nothing(get: Get) -> None:
    found = get(group_by="model", bucket="month")
    assert (found["total"]["calls"], found["total"]["cost_usd"]) == (0, None)
    assert (found["groups"], found["other"], found["next_cursor"]) == ([], None, None)
    assert [point["cost_usd"] for point in found["series"][0]["points"]] == [0, 0]
    assert get("costs/unpriced") == {
        "models": [],
        "total": {"calls": 0, "unpriced_calls": 0, "share_of_calls": 0, "share_of_tokens": 0},
    }


def test_a_range_ends_before_its_end(send: Send, get: Get) -> None:
    send([{**PRICED, "timestamp": at(hours)} for hours in (0, 1, 2)])
    assert get(ts_from=at(0), ts_to=at(2))["total"]["calls"] == 2


def test_an_answer_is_remembered(send: Send, get: Get) -> None:
    send([PRICED])
    before: Any = get(group_by="model")
    send([{**PRICED, "n": 2}])
    assert get(group_by="model") == before
    assert get()["total"]["calls"] == 2


def test_what_a_call_was_before_it_was_written_again_is_not_found(
    runtime: Runtime, org: Org, send: Send, get: Get
) -> None:
    """The copies are not merged, and the older one would pass these filters."""
    send([{**PRICED, "model": "house-1", "user_id": "zoe"}])
    runtime.clickhouse.execute(
        "INSERT INTO events (* EXCEPT (version)) SELECT * EXCEPT (version) REPLACE"
        " (arrival - 1 AS arrival, 'ann' AS user_id, ['x'] AS tags, 'acme' AS provider,"
        " 'computed' AS cost_source, toDecimal128(2.5, 12) AS cost_usd, NULL AS unpriced_reason)"
        " FROM events WHERE org_id = {org_id:String}",
        {"org_id": org.id},
    )
    for query in ({"cost_source": "unpriced"}, {"user_id": "zoe"}, {"missing": "tag"}):
        assert get(**query)["total"]["calls"] == 0, query
    for query in ({"cost_source": "computed"}, {"user_id": "ann"}, {"provider": "acme"}):
        assert get(**query, group_by="tag")["total"]["cost_usd"] == 2.5, query
    assert get("costs/unpriced")["models"] == []


def test_a_user_who_is_named_once_has_the_whole_session(send: Send, get: Get) -> None:
    calls = [{**PRICED, "timestamp": at(number), "n": number} for number in range(5)]
    send([calls[0], {"type": "note", "timestamp": at(0.5), "user_id": "zoe"}])
    assert [one["key"] for one in get(group_by="user_id")["groups"]] == [{"user_id": "zoe"}]
    # Their own calls are theirs, and those without a user are the first user's.
    send([calls[1], {**calls[2], "user_id": "ann"}, calls[3]])
    groups = get(group_by="user_id", sort="calls")["groups"]
    assert [(one["key"]["user_id"], one["calls"]) for one in groups] == [("zoe", 3), ("ann", 1)]


def test_two_reads_at_once_have_a_place(
    client: FlaskClient,
    headers: Headers,
    runtime: Runtime,
    org: Org,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(places, "WAIT_SECS", 0)
    held = [cost_place(runtime.redis, runtime.clickhouse, org.id) for _ in range(OF_COSTS.at_once)]
    with held[0], held[1]:
        for path in ("/v1/costs", "/v1/costs/unpriced"):
            answer = client.get(path, headers=headers)
            assert answer.status_code == 429
            assert answer.get_json()["code"] == "too_many_cost_reads"
            assert int(answer.headers["Retry-After"]) > 0
    assert client.get("/v1/costs", headers=headers).status_code == 200

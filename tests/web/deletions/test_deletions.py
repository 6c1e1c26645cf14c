"""The routes of deletions."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers, new_key
from tests.support.events import event, store_events
from tests.support.runtime import Org, make_org

Key = Callable[..., Headers]
PERSON = {"field": "user.email", "equals": "zoë@example.org"}
USER = {"user_id": "zoë"}


@pytest.fixture
def filled(runtime: Runtime, org: Org) -> Org:
    """An organization with two sessions, one of which names a person; another one has the same."""
    for one in (make_org(runtime), org):
        lines = [
            event(
                "session-one",
                "10:00:00",
                user={"email": PERSON["equals"]},
                user_id=USER["user_id"],
            ),
            event("session-one", "10:00:01"),
            event("session-two", "10:00:02"),
        ]
        store_events(runtime.clickhouse, one.id, lines)
    return org


def test_a_preview_counts_and_removes_nothing(client: FlaskClient, filled: Org, key: Key) -> None:
    headers = key("events:delete", "events:read")
    for body in (PERSON, USER, {"session_ids": ["session-one", "session-none"]}):
        answer = client.post("/v1/deletions/preview", json=body, headers=headers)
        assert answer.status_code == 200, answer.data
        counts = answer.get_json()["removed"]["clickhouse"]
        results = {"evaluations": 0, "own_evaluations": 0}
        assert counts == {"agent_sessions": 1, "events": 2, **results}
    assert len(client.get("/v1/events", headers=headers).get_json()["events"]) == 3
    assert client.get("/v1/deletions", headers=headers).get_json() == {"deletions": []}


@pytest.mark.parametrize("body", [PERSON, USER])
def test_a_request_is_listed_and_shows_its_proof_without_the_person(
    client: FlaskClient, filled: Org, key: Key, body: dict[str, str]
) -> None:
    headers = key("events:delete", "queries:run")
    answer = client.post("/v1/deletions", json=body, headers=headers)
    assert answer.status_code == 202, answer.data
    made = answer.get_json()
    assert (made["state"], made["field"], made["sessions"]) == ("queued", body.get("field"), 0)
    assert made["value_hash"] is not None
    [listed] = client.get("/v1/deletions", headers=headers).get_json()["deletions"]
    assert listed == made
    answer = client.get(f"/v1/deletions/{made['id']}", headers=headers)
    assert PERSON["equals"] not in answer.get_data(as_text=True)
    assert "zo\\u00eb" not in answer.get_data(as_text=True)
    [proof] = answer.get_json()["proofs"]
    run = client.post("/v1/queries/run", json={"sql": proof["sql"]}, headers=headers)
    assert run.status_code == 200, run.data
    assert run.get_json()["rows"] == [[1]]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "field"),
        ({"session_ids": []}, "session_ids"),
        ({"session_ids": ["a"], "field": "b", "equals": "c"}, "session_ids"),
        ({"session_ids": [""]}, "session_ids"),
        ({"field": "user.email"}, "equals"),
        ({"field": "user.email", "equals": ""}, "equals"),
        ({"field": "it's", "equals": "a"}, "field"),
        ({"field": "a..b", "equals": "a"}, "field"),
        ({"equals": "a"}, "field"),
        ({"user_id": ""}, "user_id"),
        ({"user_id": "[redacted]"}, "user_id"),
        ({"user_id": "a\nb"}, "user_id"),
        ({"user_id": "a" * 257}, "user_id"),
        ({"user_id": "a", "session_ids": ["b"]}, "user_id"),
        ({"user_id": "a", "field": "b", "equals": "c"}, "user_id"),
    ],
)
def test_a_bad_target_is_named(
    client: FlaskClient, key: Key, body: dict[str, Any], field: str
) -> None:
    for path in ("/v1/deletions", "/v1/deletions/preview"):
        answer = client.post(path, json=body, headers=key("events:delete"))
        assert answer.status_code == 422
        assert list(answer.get_json()["fields"]) == [field]


def test_another_organization_sees_nothing_of_it(
    client: FlaskClient, runtime: Runtime, filled: Org, key: Key, person: Callable[..., Headers]
) -> None:
    made = client.post("/v1/deletions", json=PERSON, headers=key("events:delete")).get_json()
    assert client.get(f"/v1/deletions/{made['id']}", headers=person()).status_code == 200
    elsewhere = new_key(runtime, make_org(runtime), ("events:delete",))
    assert client.get(f"/v1/deletions/{made['id']}", headers=elsewhere).status_code == 404


def test_only_administrators_may(client: FlaskClient, person: Callable[..., Headers]) -> None:
    for permission_set, status in (("admin", 200), ("standard", 403), ("read-only", 403)):
        headers = person(permission_set=permission_set)
        assert client.get("/v1/deletions", headers=headers).status_code == status

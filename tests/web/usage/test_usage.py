"""Usage over HTTP: counts, windows, and the age of cached answers."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from flask.testing import FlaskClient
from sqlalchemy import update

from devstack.ports import free_port
from shared.access.keys.models import ApiKey
from shared.access.organizations import Organization
from shared.foundation.core.clock import format_ts, now, to_us
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store as evaluation_store
from shared.upkeep.usage.billing_windows import LENGTH
from tests.support.app import ADMIN_KEY, Headers, bearer, new_key
from tests.support.dashboards import SQL, made, make_dashboard, save_query
from tests.support.evaluations import evaluation
from tests.support.people import add_member
from tests.support.runtime import Org, connected, make_org
from web.app import create_app

Key = Callable[..., Headers]
Store = Callable[[Sequence[object]], None]

NOTHING_YET = (
    "audit_runs",
    "incidents_opened",
    "alerts_created",
)


@pytest.fixture
def anchor(runtime: Runtime, org: Org) -> datetime:
    """The organization is in the fourth day of its third window."""
    moment = now() - 2 * LENGTH - timedelta(days=3)
    with runtime.postgres.transaction() as session:
        session.execute(
            update(Organization).where(Organization.id == org.uuid).values(billing_anchor=moment)
        )
    return moment


def usage(client: FlaskClient, headers: Headers, **query: str) -> dict[str, Any]:
    response = client.get("/v1/usage", query_string=query, headers=headers)
    assert response.status_code == 200, response.data
    found: dict[str, Any] = response.get_json()
    return found


def event(session_id: str, **fields: Any) -> bytes:
    values = {"timestamp": format_ts(now()), "type": "note", "session_id": session_id, **fields}
    return json.dumps(values).encode()


def forget(runtime: Runtime, org: Org) -> None:
    """Clears the cache, as after a minute."""
    for name in runtime.redis.scan_iter(f"usage:{org.id}:*"):
        runtime.redis.delete(name)


def test_events_are_counted_once_each(
    client: FlaskClient, store: Store, key: Key, org: Org, anchor: datetime
) -> None:
    events = [
        event("s1"),
        event("s1", agent_id="helper"),
        event("s2", environment="staging", timestamp="2019-05-05T05:05:05Z"),
    ]
    store(events)
    store(events[::-1])
    found = usage(client, key("settings:read"))
    assert found["org_id"] == org.id
    assert {name: found["usage"][name] for name in ("events_ingested", "sessions")} == {
        "events_ingested": 3,
        "sessions": 2,
    }
    assert (found["usage"]["agents"], found["usage"]["environments"]) == (2, 2)
    assert [found["usage"][name] for name in NOTHING_YET] == [0] * len(NOTHING_YET)


def test_a_window_is_thirty_days_from_the_anchor_on(
    client: FlaskClient, key: Key, anchor: datetime
) -> None:
    headers = key()
    current = usage(client, headers)
    assert current["billing_anchor"] == format_ts(anchor)
    for place in range(3):
        start = anchor + place * LENGTH
        expected = {"start": format_ts(start), "end": format_ts(start + LENGTH)}
        for moment in (start, start + timedelta(days=11), start + LENGTH - timedelta(seconds=1)):
            assert usage(client, headers, window_start=format_ts(moment))["window"] == expected
    assert current["window"] == expected


@pytest.mark.parametrize(
    "window_start",
    ["2000-01-01T00:00:00Z", "9999-01-01T00:00:00Z", "2026-11-01T00:00:00", "today", "1700000000"],
)
def test_a_window_that_is_none_is_refused(client: FlaskClient, key: Key, window_start: str) -> None:
    response = client.get(f"/v1/usage?window_start={window_start}", headers=key())
    assert (response.status_code, list(response.get_json()["fields"])) == (422, ["window_start"])


def test_evaluations_are_those_with_a_result_and_runs_are_all(
    client: FlaskClient, runtime: Runtime, key: Key, org: Org, anchor: datetime
) -> None:
    start = to_us(anchor + LENGTH)
    rows = [
        evaluation(org.id, "s1", start),
        evaluation(org.id, "s1", start + 1),
        evaluation(org.id, "s2", start + 2, status="error"),
        evaluation(org.id, "s3", to_us(anchor + 2 * LENGTH) - 1, status="timeout"),
        evaluation(org.id, "s4", start - 1),
        evaluation(org.id, "s5", to_us(anchor + 2 * LENGTH)),
        evaluation(org.id, "s6", to_us(anchor) - 1),
    ]
    for _twice in range(2):
        evaluation_store.insert(runtime.clickhouse, rows)
    headers = key()
    found = [
        usage(client, headers, window_start=format_ts(anchor + place * LENGTH))["usage"]
        for place in range(3)
    ]
    assert [one["evaluations"] for one in found] == [1, 2, 1]
    assert [one["evaluation_runs"] for one in found] == [1, 4, 1]
    rows_of = client.get("/v1/usage/windows", headers=headers).get_json()["windows"]
    assert [one["evaluations"] for one in rows_of] == [1, 2, 1]


def test_members_and_keys_are_those_of_now(
    client: FlaskClient, runtime: Runtime, key: Key, org: Org
) -> None:
    add_member(runtime, org)
    add_member(runtime, make_org(runtime))
    headers = key()
    key("events:add")
    for change in ({"revoked_at": now()}, {"expires_at": now() - timedelta(seconds=1)}):
        gone = key("events:read")
        name = client.get("/v1/auth/introspect", headers=gone).get_json()["name"]
        with runtime.postgres.transaction() as session:
            session.execute(update(ApiKey).where(ApiKey.name == name).values(**change))
    found = usage(client, headers)["usage"]
    assert (found["users_active"], found["keys_active"]) == (1, 2)


def test_keys_of_the_instance_count_where_they_are_listed(client: FlaskClient, org: Org) -> None:
    headers = bearer(ADMIN_KEY)
    listed = client.get("/v1/keys", headers=headers).get_json()
    active = [row for row in listed if row["revoked_at"] is None and row["expires_at"] is None]
    assert len(active) >= 2
    assert usage(client, headers)["usage"]["keys_active"] == len(active)


def test_creations_count_at_their_time_even_after_a_deletion(
    client: FlaskClient, runtime: Runtime, key: Key, org: Org, anchor: datetime
) -> None:
    headers = key()
    queries = [made(save_query(client, headers))["id"] for _ in range(3)]
    board = made(make_dashboard(client, headers))["id"]
    made(save_query(client, new_key(runtime, make_org(runtime))))
    client.put(f"/v1/queries/{queries[0]}", json={"name": "n", "sql_text": SQL}, headers=headers)
    client.delete(f"/v1/queries/{queries[0]}", headers=headers)
    client.delete(f"/v1/dashboards/{board}", headers=headers)
    refused = save_query(client, headers, name="n", sql_text="DROP TABLE events")
    assert refused.status_code == 422
    found = usage(client, headers)["usage"]
    assert (found["queries_created"], found["dashboards_created"]) == (3, 1)
    before = usage(client, headers, window_start=format_ts(anchor + LENGTH))["usage"]
    assert (before["queries_created"], before["dashboards_created"]) == (0, 0)


def test_an_answer_stands_for_a_minute(
    client: FlaskClient, runtime: Runtime, store: Store, key: Key, org: Org
) -> None:
    headers = key()
    before = usage(client, headers)
    calculated, stale = (
        datetime.fromisoformat(before[name]) for name in ("calculated_at", "stale_after")
    )
    assert stale - calculated == timedelta(seconds=60)
    [left] = [runtime.redis.pttl(name) for name in runtime.redis.scan_iter(f"usage:{org.id}:*")]
    assert 0 < left <= 60_000
    store([event("s")])
    assert usage(client, headers) == before
    forget(runtime, org)
    after = usage(client, headers)
    assert after["usage"]["events_ingested"] == 1
    assert after["calculated_at"] > before["calculated_at"]


def test_without_redis_it_is_counted_each_time(
    runtime: Runtime, client: FlaskClient, store: Store, key: Key
) -> None:
    headers = key()
    store([event("s")])
    away = f"redis://127.0.0.1:{free_port()}/0"
    with connected(msgspec.structs.replace(runtime.settings, redis_url=away)) as broken:
        alone = create_app(broken).test_client()
        first, second = usage(alone, headers), usage(alone, headers)
    assert first["usage"]["events_ingested"] == second["usage"]["events_ingested"] == 1
    assert second["calculated_at"] > first["calculated_at"]


def test_windows_are_listed_newest_first(
    client: FlaskClient, runtime: Runtime, store: Store, key: Key, org: Org, anchor: datetime
) -> None:
    store([event("s1"), event("s2")])
    headers = key()
    rows = client.get("/v1/usage/windows", headers=headers).get_json()["windows"]
    assert [(row["from"], row["to"]) for row in rows] == [
        (format_ts(anchor + place * LENGTH), format_ts(anchor + (place + 1) * LENGTH))
        for place in (2, 1, 0)
    ]
    assert [row["events_ingested"] for row in rows] == [2, 0, 0]
    store([event("s3")])
    assert client.get("/v1/usage/windows", headers=headers).get_json()["windows"] == rows
    forget(runtime, org)
    again = client.get("/v1/usage/windows", headers=headers).get_json()["windows"]
    assert again[0]["events_ingested"] == 3


def test_no_more_than_three_years_are_listed(
    client: FlaskClient, runtime: Runtime, key: Key, org: Org
) -> None:
    with runtime.postgres.transaction() as session:
        session.execute(
            update(Organization)
            .where(Organization.id == org.uuid)
            .values(billing_anchor=datetime(2010, 1, 1, tzinfo=UTC))
        )
    rows = client.get("/v1/usage/windows", headers=key()).get_json()["windows"]
    assert len(rows) == 36
    assert all(newer["from"] == older["to"] for older, newer in zip(rows[1:], rows, strict=False))


def test_usage_is_the_organizations_own(
    client: FlaskClient, runtime: Runtime, store: Store, key: Key
) -> None:
    store([event("s")])
    stranger = new_key(runtime, make_org(runtime))
    assert usage(client, key())["usage"]["events_ingested"] == 1
    assert usage(client, stranger)["usage"]["events_ingested"] == 0
    [row] = client.get("/v1/usage/windows", headers=stranger).get_json()["windows"]
    assert (row["events_ingested"], row["evaluations"]) == (0, 0)

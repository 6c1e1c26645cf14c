"""GET /v1/sessions/{id}/outline?since=: what arrived later, and nothing that is missed."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from flask.testing import FlaskClient

from devstack.ports import free_port
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from tests.support.app import Headers
from tests.support.events import event, store_events
from tests.support.runtime import Org, connected
from tests.web.events.conftest import post, reader, store
from web.app import create_app

__all__ = ["post", "reader", "store"]

Store = Callable[[Sequence[object]], None]
Read = Callable[..., dict[str, Any]]


@pytest.fixture
def read(client: FlaskClient, reader: Headers) -> Read:
    """Returns the outline of the session for some parameters."""

    def ask(**query: object) -> dict[str, Any]:
        answer = client.get("/v1/sessions/s/outline", query_string=query, headers=reader)
        assert answer.status_code == 200, answer.get_json()
        return dict(answer.get_json())

    return ask


@pytest.fixture
def clickhouse(runtime: Runtime) -> ClickHouse:
    return runtime.clickhouse


def test_only_later_events_come(clickhouse: ClickHouse, org: Org, store: Store, read: Read) -> None:
    """The first events arrived long ago. A new one may be anywhere in the order of times."""
    store_events(clickhouse, org.id, [event("s", "10:00:00"), event("s", "10:00:09")])
    found = read(since=read()["watermark"])
    assert (found["columns"]["id"], found["total"]) == ([], 2)
    store([event("s", "10:00:05", n=2), event("s", "10:00:05", n=1), event("s", "10:00:03")])
    ids = read()["columns"]["id"]
    found = read(since=found["watermark"])
    assert found["columns"]["id"] == ids[1:4]
    assert (found["total"], found["offset"]) == (5, 1)
    assert (found["prev_cursor"], found["next_cursor"]) == (None, None)


def test_a_client_that_is_behind_catches_up(
    clickhouse: ClickHouse, org: Org, store: Store, read: Read
) -> None:
    """It asks again while an answer is full. Each event comes once meanwhile."""
    store_events(clickhouse, org.id, [event("s", "10:00:00")])
    mark = read()["watermark"]
    store([event("s", f"10:01:{59 - number}", n=number) for number in range(20)])
    everything = read()["columns"]["id"]
    seen: list[int] = []
    while True:
        found = read(since=mark, limit=7)
        seen += found["columns"]["id"]
        mark = found["watermark"]
        if len(found["columns"]["id"]) < 7:
            break
    assert sorted(seen) == sorted(everything[1:])


def test_accepted_events_that_are_not_stored_are_not_missed(
    runtime: Runtime, store: Store, post: Callable[..., Any], read: Read
) -> None:
    store([event("s", "10:00:00")])
    assert post(event("s", "10:00:01")).status_code == 202
    before = read()
    Drain(runtime, "tests", IngestRulesCache(runtime)).run()
    found = read(since=before["watermark"])
    assert set(read()["columns"]["id"]) == {*before["columns"]["id"], *found["columns"]["id"]}


def test_events_that_were_accepted_late_are_not_missed(
    clickhouse: ClickHouse, org: Org, read: Read
) -> None:
    """A large body has the moment of its beginning, and may come after the watermark passed it."""
    store_events(clickhouse, org.id, [event("s", "10:00:00")])
    mark = read()["watermark"]
    store_events(clickhouse, org.id, [event("s", "10:00:01")])
    found = read(since=mark)
    assert len(found["columns"]["id"]) == 2
    assert read(since=found["watermark"])["columns"]["id"] == []


def test_filters_hold_for_what_is_new(
    clickhouse: ClickHouse, org: Org, store: Store, read: Read
) -> None:
    store_events(clickhouse, org.id, [event("s", "10:00:00", "note")])
    mark = read(event_type="note")["watermark"]
    store([event("s", "10:00:01", "note"), event("s", "10:00:02", "tool_use")])
    found = read(since=mark, event_type="note", columns="id")
    assert (len(found["columns"]["id"]), found["total"], found["offset"]) == (1, 2, 1)


def test_a_copy_of_an_event_is_not_new(
    clickhouse: ClickHouse, org: Org, store: Store, read: Read
) -> None:
    line = event("s", "10:00:00")
    store([line])
    store_events(clickhouse, org.id, [event("s", "10:00:09")])
    before = read()
    store([line])
    after = read()
    assert (after["total"], after["columns"]) == (2, before["columns"])


def test_without_redis_the_watermark_stays(
    runtime: Runtime, clickhouse: ClickHouse, org: Org, reader: Headers, read: Read
) -> None:
    store_events(clickhouse, org.id, [event("s", "10:00:00")])
    mark = read()["watermark"]
    away = msgspec.structs.replace(runtime.settings, redis_url=f"redis://127.0.0.1:{free_port()}/0")
    with connected(away) as broken:
        client = create_app(broken).test_client()
        first = client.get("/v1/sessions/s/outline", headers=reader).get_json()
        later = client.get(f"/v1/sessions/s/outline?since={mark}", headers=reader).get_json()
    assert len(first["columns"]["id"]) == 1
    assert later["columns"]["id"] == []
    assert read(since=first["watermark"])["columns"] == first["columns"], "everything again"
    assert read(since=later["watermark"])["columns"]["id"] == []

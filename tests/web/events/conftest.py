"""Events sent as collectors send them, and stored without a worker process."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.core.clock import format_ts
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from tests.support.app import Headers

NDJSON = "application/x-ndjson"
HOUR = datetime(2025, 5, 5, 12, tzinfo=UTC)


@pytest.fixture
def reader(key: Callable[..., Headers]) -> Headers:
    """A key with only the permissions that these tests need."""
    return key("events:add", "events:read")


@pytest.fixture
def post(client: FlaskClient, reader: Headers) -> Callable[..., Any]:
    """Posts a body and returns the response."""

    def send(body: bytes, content_type: str | None = NDJSON, **headers: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return client.post(
            "/v1/events", data=body, content_type=content_type, headers={**reader, **named}
        )

    return send


@pytest.fixture
def store(post: Callable[..., Any], runtime: Runtime) -> Callable[[Sequence[object]], None]:
    """Posts events and drains them into ClickHouse."""

    def send(events: Sequence[object]) -> None:
        lines = [event if isinstance(event, bytes) else json.dumps(event) for event in events]
        body = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
        answer = post(body)
        assert answer.status_code == 202
        assert answer.json["skipped"] == 0, answer.json
        Drain(runtime, "tests", IngestRulesCache(runtime)).run()

    return send


@pytest.fixture
def listed(client: FlaskClient, reader: Headers) -> Callable[..., list[dict[str, Any]]]:
    """Returns all rows of GET /events (or /events/summary) for a query, page by page."""

    def rows(query: str = "", *, path: str = "/v1/events") -> Iterator[dict[str, Any]]:
        cursor = ""
        while True:
            answer = client.get(f"{path}?{query}{cursor}", headers=reader)
            assert answer.status_code == 200, answer.data
            page = answer.get_json()
            yield from page["events"]
            if page["next_cursor"] is None:
                return
            cursor = f"&cursor={page['next_cursor']}"

    return lambda query="", **options: list(rows(query, **options))


@pytest.fixture
def latency(client: FlaskClient, reader: Headers) -> Callable[..., dict[str, Any]]:
    """Returns the answer of GET /events/latency_aggregate, by default of the hour after `HOUR`."""

    def aggregate(**query: object) -> dict[str, Any]:
        given = {"ts_from": at(0), "ts_to": at(3600), "bin_count": 1, **query}
        answer = client.get("/v1/events/latency_aggregate", query_string=given, headers=reader)
        assert answer.status_code == 200, answer.get_json()
        return dict(answer.get_json())

    return aggregate


def at(second: float) -> str:
    """Returns the moment this many seconds after `HOUR`."""
    return format_ts(HOUR + timedelta(seconds=second))


def use(second: float, call: object = None, **fields: Any) -> dict[str, Any]:
    """Returns a `tool_use`. `call` is its `tool_call_id`."""
    return _event(second, "tool_use", call, fields)


def result(second: float, call: object = None, **fields: Any) -> dict[str, Any]:
    """Returns a `tool_result`. `call` is its `tool_call_id`."""
    return _event(second, "tool_result", call, fields)


def _event(second: float, kind: str, call: object, fields: dict[str, Any]) -> dict[str, Any]:
    named = {} if call is None else {"tool_call_id": call}
    return {"session_id": "s", "timestamp": at(second), "type": kind, **named, **fields}

"""Calls that are sent as collectors send them, and priced without a worker process."""

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.core.clock import format_ts
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from tests.support.app import Headers

START = datetime(2026, 10, 24, 12, tzinfo=UTC)
RANGE = {"ts_from": "2026-10-01T00:00:00Z", "ts_to": "2026-11-15T00:00:00Z"}

Send = Callable[[Iterable[dict[str, Any]]], None]
Get = Callable[..., Any]


def at(hours: float) -> str:
    """Returns a time so many hours after the first one."""
    return format_ts(START + timedelta(hours=hours))


@pytest.fixture
def headers(key: Callable[..., Headers]) -> Headers:
    return key("events:add", "events:read", "evaluations:read", "settings:read", "settings:write")


@pytest.fixture
def send(client: FlaskClient, headers: Headers, runtime: Runtime) -> Send:
    """Sends events, by default calls of session `s` at the first time, and stores them."""
    rules = IngestRulesCache(runtime)

    def store(events: Iterable[dict[str, Any]]) -> None:
        call = {"session_id": "s", "type": "model_response", "timestamp": at(0)}
        answer = client.post(
            "/v1/events",
            data="\n".join(json.dumps({**call, **one}) for one in events),
            headers=headers,
            content_type="application/x-ndjson",
        )
        assert (answer.status_code, answer.get_json()["skipped"]) == (202, 0)
        Drain(runtime, "costs", rules).run()

    return store


@pytest.fixture
def get(client: FlaskClient, headers: Headers) -> Get:
    """Returns the answer of a route, by default of `RANGE`."""

    def read(path: str = "costs", **query: object) -> Any:
        given = {**RANGE, **query} if path.startswith("costs") else query
        answer = client.get(f"/v1/{path}", query_string=given, headers=headers)
        assert answer.status_code == 200, answer.get_json()
        return answer.get_json()

    return read

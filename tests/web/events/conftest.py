"""Sending events the way collectors do, and storing them without a worker process."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.ingest.drain import Drain
from shared.model_windows.windows_of import WindowsOf
from shared.runtime import Runtime
from tests.support.app import Headers

NDJSON = "application/x-ndjson"


@pytest.fixture
def reader(key: Callable[..., Headers]) -> Headers:
    """A key that may do what these tests do, and nothing else."""
    return key("events:add", "events:read")


@pytest.fixture
def post(client: FlaskClient, reader: Headers) -> Callable[..., Any]:
    """Posts a body; returns the response."""

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
        Drain(runtime, "tests", WindowsOf(runtime)).run()

    return send


@pytest.fixture
def listed(client: FlaskClient, reader: Headers) -> Callable[..., list[dict[str, Any]]]:
    """All rows of GET /events (or /events/summary) for a query, page by page."""

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

"""The tools over MCP, called by the official client across a real socket."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from flask import Flask
from flask.testing import FlaskClient
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent
from werkzeug.serving import make_server

from shared.assistant.tools.table import TOOLS
from shared.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.events import event, store_events
from tests.support.runtime import Org, make_org

Key = Callable[..., Headers]


@pytest.fixture
def url(app: Flask) -> Iterator[str]:
    """The application behind a socket."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/mcp"
    server.shutdown()
    thread.join()
    server.server_close()


def within(url: str, headers: Headers, use: Callable[[Client], Any]) -> Any:
    """Returns what `use` returns for a connected client."""

    async def run() -> Any:
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return await use(client)

    return asyncio.run(run())


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


def calling(name: str, **arguments: Any) -> Callable[[Client], Any]:
    async def call(client: Client) -> tuple[bool, str]:
        found = await client.call_tool(name, arguments)
        [content] = found.content
        assert isinstance(content, TextContent)
        return bool(found.is_error), content.text

    return call


def test_a_coding_agent_lists_and_calls_the_tools_of_its_key(
    url: str, runtime: Runtime, org: Org, key: Key
) -> None:
    store_events(runtime.clickhouse, org.id, [event("s-1", "12:00:00", "error")])
    assert within(url, key(), names) == list(TOOLS)
    assert within(url, key("events:read"), names) == [
        name for name, tool in TOOLS.items() if tool.permission == "events:read"
    ]
    failed, text = within(url, key(), calling("run_sql", sql="SELECT count() FROM events"))
    assert (failed, json.loads(text)["rows"]) == (False, [[1]])


def test_a_tool_says_why_it_refuses(url: str, key: Key) -> None:
    refused = within(url, key("events:read"), calling("run_sql", sql="SELECT 1"))
    assert refused == (True, "this needs the permission queries:run")
    failed, text = within(url, key(), calling("list_sessions", limit=0))
    assert failed
    assert "limit" in text


def test_a_tool_reads_no_other_organization(url: str, runtime: Runtime, org: Org, key: Key) -> None:
    foreign = make_org(runtime)
    store_events(runtime.clickhouse, foreign.id, [event("theirs", "12:00:00")])
    for call in (
        calling("list_sessions"),
        calling("list_events"),
        calling("run_sql", sql="SELECT * FROM events"),
        calling("read_transcript", session_id="theirs"),
    ):
        failed, text = within(url, key(), call)
        assert not failed
        assert "theirs" not in text.replace('session_id="theirs"', "")
    assert within(url, key(), calling("read_session", session_id="theirs")) == (
        True,
        "there is no such session",
    )


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"", 400), (b"{", 400), (b"[]", 400), (b'{"jsonrpc": "1.0"}', 400), (b"x" * 1_100_000, 413)],
    ids=["empty", "broken", "list", "old", "large"],
)
def test_a_body_that_is_no_message_is_refused(
    client: FlaskClient, key: Key, body: bytes, status: int
) -> None:
    headers = {
        **key(),
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    answer = client.post("/mcp", data=body, headers=headers)
    assert answer.status_code == status, answer.data


def test_without_a_key_nothing_is_answered(client: FlaskClient) -> None:
    assert client.post("/mcp", json={}).status_code == 401

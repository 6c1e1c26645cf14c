"""The demonstration's client, and what it tells of failures, against a server with answers."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from devstack.up.api import Api, ApiError
from devstack.up.demo import failures_of
from devstack.up.recording import Recording

pytestmark = pytest.mark.flow

Answer = tuple[int, dict[str, str], Any]


class Script(HTTPServer):
    """Gives the next of `answers` to each request, and keeps the requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer] = []
        self.requests: list[tuple[str, bytes]] = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Script

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.requests.append((self.path, body))
        status, headers, answer = self.server.answers.pop(0)
        payload = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(payload))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)
        self.close_connection = True  # without notice: the client finds out at its next call

    do_GET = do_POST = _answer  # noqa: N815 http.server looks for these names

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


@pytest.fixture
def script() -> Iterator[Script]:
    with Script() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def api(script: Script) -> Iterator[Api]:
    client = Api(f"http://127.0.0.1:{script.server_port}", "key")
    yield client
    client.close()


def test_a_full_backlog_is_waited_out(script: Script, api: Api) -> None:
    accepted = {"accepted": 2, "skipped": 0, "errors": []}
    script.answers = [(503, {"Retry-After": "0"}, {}), (202, {}, accepted)]
    assert api.post_events([b"{}", b"[]"]) == accepted
    assert [gzip.decompress(body) for _, body in script.requests] == [b"{}\n[]"] * 2


def test_rows_come_page_by_page(script: Script, api: Api) -> None:
    script.answers = [
        (200, {}, {"events": [{"id": 1}, {"id": 2}], "next_cursor": "a b"}),
        (200, {}, {"events": [{"id": 3}], "next_cursor": None}),
        (200, {}, {"events": [], "next_cursor": None}),
    ]
    ids = [f"s{number}" for number in range(51)]
    assert [row["id"] for row in api.rows("events", ids, 2)] == [1, 2, 3]
    paths = [path for path, _ in script.requests]
    assert paths[1] == f"{paths[0]}&cursor=a+b"
    assert paths[2] == "/v1/events?session_id=s50&limit=2"


def test_json_is_sent_and_whole_lists_are_read(script: Script, api: Api) -> None:
    script.answers = [(201, {}, {"id": "a"}), (200, {}, [{"id": "a"}])]
    assert api.send("POST", "/v1/alerts", {"name": "x"}) == {"id": "a"}
    assert api.listing("/v1/alerts", {"limit": "1"}) == [{"id": "a"}]
    assert script.requests == [("/v1/alerts", b'{"name":"x"}'), ("/v1/alerts?limit=1", b"")]


def test_errors_carry_status_and_body(script: Script, api: Api) -> None:
    script.answers = [(403, {}, {"error": "not yours"}), (401, {}, {"error": "who?"})]
    with pytest.raises(ApiError, match=r"GET /v1/sessions: 403 .*not yours"):
        list(api.rows("sessions", ["s"], 1))
    with pytest.raises(ApiError, match=r"POST /v1/events: 401 .*who"):
        api.post_events([b"{}"])


def test_a_server_that_is_gone_is_an_error() -> None:
    api = Api("http://127.0.0.1:1", "key")
    with pytest.raises(ApiError, match="ConnectionRefusedError"):
        api.post_events([b"{}"])


def test_every_ended_session_without_scores_is_a_failure(script: Script, api: Api) -> None:
    names = ["done", "refused", "slow", "waiting", "new"]
    recording = Recording(
        tuple(
            {"session_id": name, "agent_id": "a", "type": kind}
            for name in names
            for kind in ("agent_start", "agent_end")
        ),
        (),
    )
    rows = [
        {"session_id": "done", "status": "done", "error": None},
        {"session_id": "refused", "status": "error", "error": "the evaluator answered 401"},
        {"session_id": "slow", "status": "timeout", "error": "no result within 3600 s"},
    ]
    script.answers = [
        (200, {}, {"evaluations": rows, "next_cursor": None}),
        (200, {}, {"jobs": [{"session_id": "waiting", "last_error": "no connection"}]}),
    ]
    found = list(api.rows("evaluations", names, 200))
    assert failures_of(api, recording, found) == {
        "the evaluator answered 401": 1,
        "no result within 3600 s": 1,
        "no connection": 1,
        "no answer of the evaluator yet": 1,
    }

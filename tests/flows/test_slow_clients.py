"""Clients that send slowly, or nothing, or never hang up, twenty at a time while others work."""

import socket
import threading
import time
from collections.abc import Iterator
from statistics import median

import pytest

from tests.flows.api import Api
from tests.flows.hostile import NDJSON, durations, event
from tests.support.deployment import running_deployment
from tests.support.evaluator import running_evaluator
from tests.support.rawhttp import exchange, head, opened, read_answer

pytestmark = pytest.mark.flow

MANY = 20
# Long enough for honest bodies on a slow machine, and far from the default of 30.
PATIENCE_SECS = 8


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    """A client with the admin key, of a deployment with short timeouts."""
    with (
        running_evaluator() as evaluator,
        running_deployment(
            evaluator, WEB_RECEIVE_TIMEOUT_SECS=str(PATIENCE_SECS), LOG_FORMAT="json"
        ) as running,
    ):
        yield Api(int(running.environ["PORT"]), running.admin_key)


def post_head(api: Api, *headers: str) -> bytes:
    return head("POST", "/v1/events", "Content-Type: application/x-ndjson", *headers, key=api.key)


def require_service(api: Api) -> None:
    """Checks that ordinary requests are served without delay.

    They run one after the other, so that a pause of the machine delays only one of them.
    """

    def post_and_get() -> None:
        assert api.request("POST", "/events", event(), **NDJSON)[0] == 202
        api.get("/events", limit=1)

    asked = durations(20, lambda: api.get("/health"))
    assert median(asked) < 1, asked
    assert max(asked) < 10, asked
    posted = durations(5, post_and_get)
    assert median(posted) < 2, posted
    assert max(posted) < 10, posted


def _let_them_in() -> None:
    # Nothing tells when the server has read what slow clients sent. Too early is only easier.
    time.sleep(0.5)


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /v1/health HT", b"POST /v1/events HTTP/1.1\r\nHost: a\r\nX: ", b"NONSENSE\r\n\r\n"],
)
def test_silence_before_the_end_of_the_headers_or_after_the_answer(api: Api, sent: bytes) -> None:
    with opened(api.port, sent, MANY):
        _let_them_in()
        require_service(api)


def test_bodies_that_stop_halfway_end_in_time(api: Api) -> None:
    announced = post_head(api, "Content-Length: 1000") + b"{}"
    chunked = post_head(api, "Transfer-Encoding: chunked") + b"20\r\n{}"
    began = time.monotonic()
    with opened(api.port, announced, MANY) as some, opened(api.port, chunked, MANY) as others:
        _let_them_in()
        require_service(api)
        answers = [read_answer(connection) for connection in (*some, *others)]
        # The default would have been 30.
        assert time.monotonic() - began < 25
    assert {(answer.status, answer.json()["code"]) for answer in answers} == {
        (408, "request_timeout")
    }


def test_dripping_bytes_buy_no_more_time(api: Api) -> None:
    """One byte ten times a second, in bodies and in headers."""
    bodies = post_head(api, "Content-Length: 1000")
    headers = b"POST /v1/events HTTP/1.1\r\nHost: a\r\nX: "
    ended = threading.Event()

    def drip(connections: list[socket.socket]) -> None:
        while not ended.wait(0.1):
            for connection in connections:
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

    with opened(api.port, bodies, MANY) as slow, opened(api.port, headers, MANY) as slower:
        dripping = [threading.Thread(target=drip, args=(group,)) for group in (slow, slower)]
        for thread in dripping:
            thread.start()
        try:
            _let_them_in()
            require_service(api)
            assert read_answer(slow[0]).status == 408
            # Headers get ten seconds and no answer.
            assert slower[0].recv(1) == b""
        finally:
            ended.set()
            for thread in dripping:
                thread.join()


def test_answers_that_are_never_read(api: Api) -> None:
    """More requests than the answers that a connection's buffers can hold."""
    asks = head("GET", "/v1/openapi.json") * 400
    with opened(api.port, asks, MANY):
        _let_them_in()
        require_service(api)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (["Content-Length: 3", "Content-Length: 4"], 400),
        (["Content-Length: -1"], 400),
        (["Content-Length: many"], 400),
        (["Content-Length: 3", "Transfer-Encoding: chunked"], 400),
        (["Content-Length: " + "9" * 20], 413),
        (["Transfer-Encoding: xchunked"], 501),
        (["Content-Length: 0", "X: a\x00b"], 400),
        (["Content-Length: 0", *(f"X-{n}: a" for n in range(100_000))], 431),
        (["Content-Length: 0", "X: " + "a" * 1_000_000], 431),
        (["Content-Length: 0", "Authorization: Bearer another"], 401),
        (["Content-Length: 0", "SCRIPT_NAME: /x", "PATH_INFO: /v1/health"], 202),
        (["Content-Length: 0", "X-Service-Org: nobody's"], 404),
        (["Content-Length: 0", "Expect: a miracle"], 417),
    ],
)
def test_broken_headers(api: Api, sent: list[str], status: int) -> None:
    answer = exchange(api.port, post_head(api, *sent))
    assert answer.status == status
    assert status == 202 or answer.json().keys() == {"error", "code", "request_id"}


@pytest.mark.parametrize(
    ("chunks", "status"),
    [
        (b"%x\r\n%s\r\n0\r\n\r\n" % (len(event()), event()), 202),
        (b"1\r\n\n\r\n" * 50_000 + b"0\r\n\r\n", 202),
        (b"zz\r\nhello\r\n0\r\n\r\n", 400),
        (b"-5\r\nhello\r\n0\r\n\r\n", 400),
        (b"0" * 100_000 + b"5\r\nhello\r\n0\r\n\r\n", 400),
        (b"100000\r\n%s\r\n" % (b"\n" * 0x100000) * 16 + b"0\r\n\r\n", 202),
        (b"100000\r\n%s\r\n" % (b"\n" * 0x100000) * 16 + b"1\r\n\n\r\n0\r\n\r\n", 413),
    ],
)
def test_chunked_bodies(api: Api, chunks: bytes, status: int) -> None:
    answer = exchange(api.port, post_head(api, "Transfer-Encoding: chunked") + chunks)
    assert answer.status == status, answer.body


def test_a_body_whose_sender_hangs_up_halfway(api: Api) -> None:
    sent = post_head(api, "Content-Length: 1000") + event()
    answer = exchange(api.port, sent, hang_up=True)
    assert (answer.status, answer.json()["code"]) == (400, "incomplete_body")

"""Runs behind gunicorn, where clients disconnect and the database is killed."""

import json
import socket
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from devstack import DevStack
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import new_key
from tests.support.databases import environment
from tests.support.events import event, store_events
from tests.support.processes import wait_until
from tests.support.rawhttp import head, read_answer
from tests.support.runtime import Org, make_org
from tests.support.server import Server, running_server

# 64 million rows of three joined copies: more than the 10 s limit of a run.
LONG = (
    "SELECT count() FROM events AS a CROSS JOIN events AS b CROSS JOIN events AS c"
    " WHERE sipHash64(a.payload, b.payload, c.payload) = 1"
)
# A statement of a second or so.
SHORT = (
    "SELECT count() FROM events AS a CROSS JOIN events AS b"
    " WHERE sipHash64(a.payload, b.payload) = 1"
)


@pytest.fixture(scope="module")
def server(migrated_stack: DevStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """gunicorn with one process and few threads."""
    environ = {
        **environment(migrated_stack.urls),
        "WEB_CONCURRENCY": "1",
        "WEB_THREADS": "16",
    }
    with running_server(environ, tmp_path_factory.mktemp("queries") / "web.log") as running:
        yield running


@pytest.fixture
def busy(runtime: Runtime) -> Org:
    """An organization with rows to count."""
    org = make_org(runtime)
    store_events(
        runtime.clickhouse,
        org.id,
        [event("s", f"10:{at // 60:02d}:{at % 60:02d}", text="x" * 200) for at in range(700)],
    )
    return org


@pytest.fixture
def secret(runtime: Runtime, busy: Org) -> str:
    """A key of the organization."""
    return new_key(runtime, busy)["Authorization"].removeprefix("Bearer ")


def request_of(secret: str, sql: str) -> bytes:
    """The bytes of a run."""
    body = json.dumps({"sql": sql}).encode()
    lines = ("Content-Type: application/json", f"Content-Length: {len(body)}")
    return head("POST", "/v1/queries/run", *lines, key=secret) + body


def started(server: Server, data: bytes) -> socket.socket:
    """Opens a connection and sends these bytes."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    connection.sendall(data)
    return connection


def running(runtime: Runtime, org: Org) -> int:
    """Counts the statements of the organization that the database runs now."""
    sql = "SELECT count() FROM system.processes WHERE startsWith(query_id, {org_id:String})"
    return int(runtime.clickhouse.rows(sql, {"org_id": org.id})[0][0])


def wait_until_run(server: Server, runtime: Runtime, org: Org) -> None:
    """Waits until a short statement runs or has finished: the test does not look all the time."""
    wait_until(lambda: running(runtime, org) == 1 or bool(outcomes(server, org)))


def outcomes(server: Server, org: Org) -> list[str]:
    """Returns the outcomes of the organization's runs from the server's log."""
    lines = [json.loads(line) for line in server.log.read_text().splitlines() if line[:1] == "{"]
    return [line["outcome"] for line in lines if line.get("org_id") == org.id]


@pytest.mark.parametrize("abruptly", [False, True])
@pytest.mark.parametrize("ahead", [b"", head("GET", "/v1/health")])
def test_a_client_that_is_killed_takes_its_query_along(
    server: Server, runtime: Runtime, busy: Org, secret: str, abruptly: bool, ahead: bytes
) -> None:
    connection = started(server, request_of(secret, LONG))
    wait_until(lambda: running(runtime, busy) == 1)
    connection.sendall(ahead)
    if abruptly:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    wait_until(lambda: running(runtime, busy) == 0)
    wait_until(lambda: outcomes(server, busy) == ["query_cancelled"])


def test_a_client_that_only_sends_no_more_gets_its_answer(
    server: Server, runtime: Runtime, busy: Org, secret: str
) -> None:
    with started(server, request_of(secret, SHORT)) as connection:
        wait_until_run(server, runtime, busy)
        connection.shutdown(socket.SHUT_WR)
        answer = read_final_answer(connection)
    assert answer["rows"] == [[0]]


def test_a_request_sent_ahead_waits_for_its_turn(
    server: Server, runtime: Runtime, busy: Org, secret: str
) -> None:
    second = head("GET", "/v1/health", "Connection: close")
    with started(server, request_of(secret, SHORT)) as connection:
        wait_until_run(server, runtime, busy)
        connection.sendall(second)
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert received.count(b"HTTP/1.1 200 OK") == 2
    assert b'"rows":[[0]]' in received
    assert b'{"status":"ok"}' in received


def test_the_fifth_run_is_refused_and_other_requests_are_served(
    server: Server, runtime: Runtime, busy: Org, secret: str
) -> None:
    with ExitStack() as clients:
        for _ in range(4):
            clients.enter_context(started(server, request_of(secret, LONG)))
        wait_until(lambda: running(runtime, busy) == 4)
        assert server.request("GET", "/v1/health")[0] == 200
        fifth = clients.enter_context(started(server, request_of(secret, SHORT)))
        assert read_answer(fifth).status == 429
    # All clients have gone, and their slots are free.
    wait_until(lambda: len(outcomes(server, busy)) == 5)
    with started(server, request_of(secret, SHORT)) as connection:
        assert read_answer(connection).status == 200


def test_a_database_that_is_killed_is_503_and_then_all_is_well_again(
    server: Server, migrated_stack: DevStack, runtime: Runtime, busy: Org, secret: str
) -> None:
    with ThreadPoolExecutor(1) as pool, started(server, request_of(secret, LONG)) as connection:
        wait_until(lambda: running(runtime, busy) == 1)
        answer = pool.submit(read_answer, connection)
        migrated_stack.clickhouse.kill()
        try:
            assert answer.result().status == 503
            assert answer.result().json()["code"] == "clickhouse_unavailable"
            with started(server, request_of(secret, SHORT)) as another:
                assert read_answer(another).status == 503
        finally:
            migrated_stack.clickhouse.start()
            migrated_stack.clickhouse.wait_ready()
    with started(server, request_of(secret, SHORT)) as connection:
        assert read_answer(connection).status == 200


def read_final_answer(connection: socket.socket) -> dict[str, object]:
    """Returns the JSON of the answer after any interim ones."""
    received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert received.count(b"HTTP/1.1 200 OK") == 1
    body: dict[str, object] = json.loads(received.rpartition(b"\r\n\r\n")[2])
    return body

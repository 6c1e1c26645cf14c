"""The web tier behind gunicorn: behaviour that only a real server shows."""

import json
import os
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from sqlalchemy import text

from devstack import DevStack, StackUrls
from devstack.ports import free_port
from shared.access.keys import service as keys
from shared.access.keys.rules import new_secret
from shared.access.keys.service import NewKey
from shared.access.permissions import FOR_KEYS
from shared.foundation.deployment import floor
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.consumer import announce
from tests.support.databases import empty_databases, environment
from tests.support.processes import wait_until
from tests.support.runtime import Org, connected, make_org, migrated, settings_for
from tests.support.server import Server, running_server, start_gunicorn

ADMIN_KEY = "admin-key-of-a-real-server"


@pytest.fixture(scope="module")
def urls(stack: DevStack) -> Iterator[StackUrls]:
    """Migrated databases only for the server."""
    with empty_databases(stack.urls) as made:
        migrated(settings_for(made))
        yield made


@pytest.fixture(scope="module")
def own(urls: StackUrls) -> Iterator[Runtime]:
    """Connections to them."""
    with connected(settings_for(urls, database_pool_size=2)) as made:
        yield made


@pytest.fixture(scope="module")
def server(urls: StackUrls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """gunicorn with two processes."""
    log = tmp_path_factory.mktemp("server") / "web.log"
    environ = {**environment(urls), "ADMIN_KEY": ADMIN_KEY, "WEB_CONCURRENCY": "2"}
    with running_server(environ, log) as running:
        yield running


@pytest.fixture(scope="module")
def org(own: Runtime) -> Org:
    """An organization on the server's databases."""
    return make_org(own)


def make_key(own: Runtime, org: Org) -> tuple[str, str]:
    """Creates a key with every permission and returns its id and secret."""
    secret = new_secret()
    with own.postgres.transaction() as session:
        made = keys.create(
            session, org.uuid, NewKey(secret[:20], secret, FOR_KEYS), granter=FOR_KEYS
        )
        return str(made.id), secret


def stand_at(runtime: Runtime, revision: str) -> str:
    """Sets PostgreSQL's revision and returns the previous one."""
    with runtime.postgres.transaction() as session:
        was = session.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        session.execute(text("UPDATE alembic_version SET version_num = :new"), {"new": revision})
    return str(was)


def workers_of(server: Server) -> list[psutil.Process]:
    """Returns the processes that gunicorn forked."""
    found: list[psutil.Process] = psutil.Process(server.process.pid).children()
    return found


def raw(server: Server, data: bytes, *, hang_up: bool = True) -> tuple[int, dict[str, object]]:
    """Sends these bytes and returns status and JSON body of the answer.

    Every answer carries the headers by which browsers protect people.
    """
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(data)
        if hang_up:
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
            head, parted, body = answer.partition(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head.lower())
            if parted and length and len(body) >= int(length[1]):
                break
    assert head.count(b"\r\nX-Content-Type-Options: nosniff\r\n") == 1
    assert head.count(b"\r\nCache-Control: no-store") == 1
    return int(answer.split(b" ", 2)[1]), json.loads(body)


def post_head(secret: str, *headers: str) -> bytes:
    lines = [
        "POST /v1/events HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {secret}",
        "Content-Type: application/x-ndjson",
        *headers,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def test_a_disabled_key_is_refused_by_every_process(server: Server, own: Runtime, org: Org) -> None:
    """Uses many connections, so that both processes have cached the key before."""
    key_id, secret = make_key(own, org)
    bearer = f"Bearer {secret}"
    for _ in range(20):
        assert server.request("GET", "/v1/auth/introspect", Authorization=bearer)[0] == 200
    path, admin = f"/v1/keys/{key_id}/disable", f"Bearer {ADMIN_KEY}"
    disabled = server.request("POST", path, Authorization=admin, X_Service_Org=org.slug)
    assert disabled[0] == 200
    answers = {
        server.request("GET", "/v1/auth/introspect", Authorization=bearer)[0] for _ in range(20)
    }
    assert answers == {401}


@pytest.mark.parametrize("session_id", ["a%2Fb", "x%2Fexport", "%2F", "a%252Fb", "k%C3%A4se%2f"])
def test_a_slash_in_a_session_id_arrives(
    server: Server, own: Runtime, org: Org, session_id: str
) -> None:
    """The answer is about the missing session, so the route was found."""
    _, secret = make_key(own, org)
    status, _, body = server.request(
        "GET", f"/v1/sessions/{session_id}/export", Authorization=f"Bearer {secret}"
    )
    assert (status, json.loads(body)["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "data",
    [
        b"NONSENSE\r\n\r\n",
        b"GET /v1/health HTTP/9.9\r\nHost: a\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\nBad Header: x\r\n\r\n",
        b"GET /" + b"a" * 10_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\nX-Long: " + b"a" * 70_000 + b"\r\n\r\n",
    ],
)
def test_requests_that_never_reach_the_application_get_our_error_body(
    server: Server, data: bytes
) -> None:
    status, body = raw(server, data)
    assert 400 <= status < 500
    assert body.keys() == {"error", "code", "request_id"}


def test_a_body_that_stops_halfway(server: Server, own: Runtime, org: Org) -> None:
    _, secret = make_key(own, org)
    half = b'{"session_id": "half"}\n'
    status, body = raw(server, post_head(secret, "Content-Length: 1000") + half)
    assert (status, body["code"]) == (400, "incomplete_body")


@pytest.mark.parametrize("chunks", [b"5\r\nhello\r\n", b"5\r\nhel", b"zz\r\nhello\r\n0\r\n\r\n"])
def test_chunks_that_end_early_or_lie(
    server: Server, own: Runtime, org: Org, chunks: bytes
) -> None:
    _, secret = make_key(own, org)
    status, body = raw(server, post_head(secret, "Transfer-Encoding: chunked") + chunks)
    assert (status, body["code"]) == (400, "incomplete_body")


def test_a_killed_process_is_replaced_without_asking_any_store(
    server: Server, own: Runtime
) -> None:
    """A new process serves even while the schema would not let a new server start."""
    victim = workers_of(server)[0]
    revision = stand_at(own, "9999")
    try:
        os.kill(victim.pid, signal.SIGKILL)

        def is_replaced() -> bool:
            pids = {worker.pid for worker in workers_of(server)}
            return victim.pid not in pids and len(pids) >= 2

        def is_ready() -> bool:
            # A worker announces itself again and again, because its word holds for seconds only.
            announce(own.redis, "ingest")
            return server.request("GET", "/v1/ready")[0] == 200

        wait_until(is_replaced)
        wait_until(is_ready)
    finally:
        with own.postgres.transaction() as session:
            session.execute(
                text("UPDATE alembic_version SET version_num = :was"), {"was": revision}
            )


def test_the_log_is_json_without_secrets(server: Server, own: Runtime, org: Org) -> None:
    _, secret = make_key(own, org)
    server.request("GET", "/v1/auth/introspect", Authorization=f"Bearer {secret}")
    # The log line of a request is written after its answer reached the client.
    wait_until(lambda: any(line.get("org") == org.slug for line in _log_lines(server)))
    assert all(line["process"] == "web" for line in _log_lines(server))
    assert secret not in server.log.read_text()
    assert ADMIN_KEY not in server.log.read_text()


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"DATABASE_URL": ""}, "DATABASE_URL is not set"),
        ({"PORT": "many"}, "PORT"),
        ({"ADMIN_KEY": "short"}, "ADMIN_KEY"),
        ({"ADMIN_EMAIL": "nobody"}, "ADMIN_EMAIL is not an e-mail address"),
        ({"AGENT_API_KEY": ADMIN_KEY, "ADMIN_KEY": ADMIN_KEY}, "must differ"),
    ],
)
def test_a_bad_variable_stops_the_start_and_is_named(
    urls: StackUrls, tmp_path: Path, variables: dict[str, str], sentence: str
) -> None:
    log = tmp_path / "web.log"
    process = start_gunicorn({**environment(urls), **variables}, free_port(), log)
    assert process.wait(60) == 1
    assert sentence in log.read_text()
    assert "Traceback" not in log.read_text()
    assert len(log.read_text().splitlines()) == 1


@pytest.mark.parametrize("stands", ["behind", "newer"])
def test_a_schema_that_is_not_ours_stops_the_start(
    stack: DevStack, tmp_path: Path, stands: str
) -> None:
    with empty_databases(stack.urls) as urls:
        if stands == "newer":
            migrated(settings_for(urls))
            with (
                connected(settings_for(urls)) as runtime,
                runtime.postgres.transaction() as session,
            ):
                session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
                floor.record(session.connection(), floor.Versions("9998", 99))
        log = tmp_path / "web.log"
        assert start_gunicorn(environment(urls), free_port(), log).wait(60) == 1
    assert "behind this release" in log.read_text() or "9999" in log.read_text()
    assert "Traceback" not in log.read_text()


def _log_lines(server: Server) -> list[dict[str, object]]:
    return [json.loads(line) for line in server.log.read_text().splitlines()]

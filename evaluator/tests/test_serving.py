"""The server of `serve`: its routes, its token, its bounds and its end."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from kit.commands import Kit
from kit.sessions import exports

TOKEN = "wp-token"
ALLOWED = {"Authorization": f"Bearer {TOKEN}"}
MODULE = """
import time
from watchpost_evaluator import *

@evaluator("tools", version="1", result="number")
def tools(session):
    return Number(len(session.tool_calls()))

@evaluator("slow", version="1", result="number")
def slow(session):
    print("running", flush=True)
    time.sleep(0.5)  # the server is asked to end meanwhile
    return Number(1)
"""


@contextmanager
def serving(kit: Kit, *options: str) -> Iterator[tuple[int, Any]]:
    """Yields the port and the process."""
    (kit.folder / "evaluators.py").write_text(MODULE)
    kit.variables["WP_TOKEN"] = TOKEN
    with kit.running("serve", "--port", 0, "--token-env", "WP_TOKEN", *options) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        match = re.fullmatch(r"serving slow@1, tools@1 on http://127.0.0.1:(\d+)\n", said)
        assert match, said
        yield int(match[1]), process


def ask(port: int, method: str, path: str, document: Any = None, **headers: str) -> Any:
    body = None if document is None else json.dumps(document)
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        response = connection.getresponse()
        return response.status, json.loads(response.read())


@pytest.mark.pythons
def test_the_routes(kit: Kit) -> None:
    export = exports()[0]
    with serving(kit) as (port, _):
        assert ask(port, "GET", "/health") == (200, {"status": "ok"})
        for method, path in (("GET", "/config"), ("POST", "/evaluate"), ("GET", "/evaluate/x")):
            assert ask(port, method, path, export)[0] == 401
            assert ask(port, method, path, export, Authorization="Bearer \xff")[0] == 401
        assert ask(port, "GET", "/config", **ALLOWED) == (200, {})
        assert ask(port, "GET", "/evaluate/x", **ALLOWED)[0] == 404
        assert ask(port, "GET", "/other", **ALLOWED)[0] == 404
        assert ask(port, "POST", "/other", {}, **ALLOWED)[0] == 404
        named = {**ALLOWED, "X_Watchpost_Evaluator": "tools@1"}
        status, answer = ask(port, "POST", "/evaluate", export, **named)
        assert (status, answer["scores"]) == (200, {"tools": 8.0})


def test_bodies_without_bounds_are_not_read(kit: Kit) -> None:
    with serving(kit) as (port, _):
        for head, status in (
            ("Content-Length: 99999999999", b"413"),
            ("Transfer-Encoding: chunked", b"411"),
            ("Content-Length: -1", b"411"),
        ):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                connection.sendall(f"POST /evaluate HTTP/1.1\r\n{head}\r\n\r\n".encode())
                assert connection.recv(100).startswith(b"HTTP/1.1 " + status)


def test_a_signal_lets_the_running_answer(kit: Kit) -> None:
    with serving(kit) as (port, process):
        named = {**ALLOWED, "X-Watchpost-Evaluator": "slow@1"}
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
            connection.request("POST", "/evaluate", json.dumps(exports()[0]), named)
            assert process.stdout.readline() == "running\n"
            process.send_signal(signal.SIGTERM)
            assert json.loads(connection.getresponse().read())["scores"] == {"slow": 1.0}
        assert process.wait(30) == 0
        assert "slow@1 on airline-000-t0: done, " in process.stderr.read()


def test_what_cannot_be_served_says_why(kit: Kit) -> None:
    (kit.folder / "evaluators.py").write_text(MODULE)
    done = kit.run("serve", "--token-env", "NO_TOKEN")
    assert (done.returncode, "the variable NO_TOKEN" in done.stderr) == (2, True)
    with serving(kit) as (port, _):
        done = kit.run("serve", "--port", port)
        assert (done.returncode, "cannot listen on 127.0.0.1:" in done.stderr) == (2, True)

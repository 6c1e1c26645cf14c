"""The service on its own stores: web processes, and workers and clock on request."""

import json
import os
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Self

from clickhouse_driver import Client
from honcho.environ import parse_procfile

from devstack.errors import StackError
from devstack.ports import LOOPBACK, Ports, free_port
from devstack.processes import last_lines
from devstack.stack import DevStack
from devstack.up.environment import search_path, secrets_for, store_urls
from devstack.up.programs import PROJECT, Program

_STARTING_SECONDS = 60.0
_STOPPING_SECONDS = 8.0


class Site:
    """Stores in `directory` (`stack`), migrated, and gunicorn in front of them on free ports."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(0o755)  # when this runs as root, PostgreSQL runs as another user
        self.directory = directory
        self.stack = DevStack(directory, Ports(free_port(), free_port(), free_port()))
        self._lines: dict[str, str] = parse_procfile((PROJECT / "Procfile").read_text()).processes
        self._programs: list[Program] = []
        self.environ: dict[str, str] = {}

    def start_stores(self) -> None:
        """Starts and migrates the stores."""
        self.stack.start()
        given = {
            "PATH": os.environ["PATH"],
            "LOG_LEVEL": "warning",
            "EVALUATOR_ENDPOINT": f"http://{LOOPBACK}:{free_port()}",
            "EVALUATOR_ORGS": "nobody",
        }
        self.environ = {
            **given,
            **store_urls(self.stack.urls, given),
            **secrets_for(self.directory, given),
            "PATH": search_path(given),
            "PORT": str(free_port()),
            "ADMIN_EMAIL": "admin@example.org",
        }
        Program("release", self._lines["release"], self.stack, self.environ).run_to_end()

    def start_web(self) -> Program:
        """Starts gunicorn, waits until it answers and returns it."""
        web = self.start("web")
        deadline = time.monotonic() + _STARTING_SECONDS
        while not self._answers():
            if time.monotonic() > deadline:
                raise StackError(f"web does not answer:\n{last_lines(web.log)}")
            time.sleep(0.1)
        return web

    def start_workers(self) -> None:
        """Starts all groups of workers, and the clock."""
        self.start("worker")
        self.start("clock")

    def start(self, line: str, name: str | None = None, **given: str) -> Program:
        """Starts a line of the Procfile, under another name and with more variables if given."""
        environ = {**self.environ, **given}
        program = Program(name or line, self._lines[line], self.stack, environ)
        self._programs.append(program)
        program.start()
        return program

    def program(self, name: str, command: str) -> Program:
        """Creates another program of the service on these stores, not yet started."""
        return Program(name, command, self.stack, self.environ)

    def clickhouse(self) -> Client:
        """Opens a connection of clickhouse-driver, as bare queries use it."""
        return Client.from_url(self.environ["CLICKHOUSE_URL"])

    def connect(self) -> "Api":
        """Opens a connection to web that stays open."""
        return Api(int(self.environ["PORT"]), self.environ["ADMIN_KEY"])

    def stop(self) -> None:
        """Stops everything; harmless when not started."""
        for program in self._programs:
            program.ask_to_stop()
        deadline = time.monotonic() + _STOPPING_SECONDS
        for program in self._programs:
            program.finish(deadline)
        self._programs.clear()
        self.stack.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def _answers(self) -> bool:
        connection = HTTPConnection(LOOPBACK, int(self.environ["PORT"]), timeout=5)
        try:
            connection.request("GET", "/v1/health")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()


class Api:
    """Requests over one connection, with the admin key, in any organization."""

    def __init__(self, port: int, admin_key: str) -> None:
        self._connection = HTTPConnection(LOOPBACK, port, timeout=120)
        self._bearer = f"Bearer {admin_key}"

    def ask(self, slug: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """Sends a GET, or a POST of `body` as JSON. Returns the status and the whole body."""
        headers = {"Authorization": self._bearer, "X-Service-Org": slug}
        if body is None:
            self._connection.request("GET", path, headers=headers)
        else:
            headers["Content-Type"] = "application/json"
            self._connection.request("POST", path, json.dumps(body), headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

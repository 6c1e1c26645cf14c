"""The service as the Procfile describes it, on top of the development stack."""

import http.client
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

import msgspec
from honcho.environ import parse_procfile

from devstack.errors import StackError
from devstack.ports import LOOPBACK, free_port
from devstack.stack import DevStack
from devstack.up import environment
from devstack.up.programs import PROJECT, Program, compiled_meanwhile
from devstack.up.sign_in_link import SignInLink
from devstack.up.watcher import LONGEST_PAUSE_SECONDS, Watcher

# The checks of GET /ready without which an event is not stored.
_NEEDED = ("postgres", "clickhouse", "redis", "ingest")
_PROCESS_TYPES = ("web", "worker", "clock")
_GRPC = "otlp-grpc"
_ADMIN_EMAIL = "admin@example.com"
_STARTING_SECONDS = 60.0
_STOPPING_SECONDS = 8.0


class Deployment:
    """Stack, migrations, web, OTLP over gRPC, worker, clock, and an evaluator if there is none.

    `given` are the user's variables. All are passed on and override the deployment's own. `stack`
    has the servers underneath. What ended is started again after `longest_pause` seconds at most.
    """

    def __init__(
        self,
        directory: Path,
        given: Mapping[str, str],
        say: Callable[[str], None],
        procfile: Path = PROJECT / "Procfile",
        longest_pause: float = LONGEST_PAUSE_SECONDS,
    ) -> None:
        self.uses_example_evaluator = not given.get("EVALUATOR_ENDPOINT")
        self._given = given
        self._say = say
        self._lines: dict[str, str] = parse_procfile(procfile.read_text()).processes
        self.stack = DevStack(directory, servers=environment.servers_to_start(given), say=say)
        self._watcher = Watcher(say, longest_pause)
        self._programs: list[Program] = []
        self.environ: dict[str, str] = {}
        self.sign_in_link = SignInLink()

    @property
    def url(self) -> str:
        """The origin under which `web` serves."""
        return f"http://{LOOPBACK}:{self.environ['PORT']}"

    @property
    def grpc_address(self) -> str | None:
        """The address of OTLP over gRPC, if it is served."""
        port = self.environ["OTLP_GRPC_PORT"]
        return None if port == "0" or _GRPC not in self._lines else f"{LOOPBACK}:{port}"

    @property
    def admin_key(self) -> str:
        """The key with all permissions."""
        return self.environ["ADMIN_KEY"]

    @property
    def runs_sql(self) -> bool:
        """Whether people's SQL is served: the user's own ClickHouse may have no reader."""
        return bool(self.environ.get("CLICKHOUSE_READONLY_URL"))

    @property
    def variables(self) -> dict[str, str]:
        """The variables that the operator's tool needs."""
        return environment.for_orgctl(self.environ)

    @property
    def admin_email(self) -> str:
        """The address of the administrator."""
        return self.environ["ADMIN_EMAIL"]

    @property
    def sign_in(self) -> str:
        """The place where sign-in codes appear."""
        if self._given.get("SMTP_HOST"):
            return "with a code that is sent by mail"
        return f"with a code from {self.stack.directory}/logs/worker.log"

    def kill(self, name: str) -> None:
        """Ends a process type and its children with SIGKILL. The watcher starts it again."""
        for program in self._programs:
            if program.name == name:
                program.kill()

    def start(self, *, stores_only: bool = False) -> None:
        """Starts everything and waits until `web` answers and a worker stores events.

        `stores_only` leaves out all processes, as a restore needs it. Raises `StackError`, with
        everything stopped, when a part does not start.
        """
        directory = self.stack.directory
        self._say(f"starting the stores in {directory}; every log is in {directory}/logs")
        try:
            with compiled_meanwhile():
                self.stack.start()
            self.environ = self._make_environ()
            self._say("migrating")
            Program("release", self._lines["release"], self.stack, self.environ).run_to_end()
            for server in self.stack.servers:
                self._watcher.add(server)
            if not stores_only:
                self._start_programs()
                self._wait_until_ready()
            environment.write_orgctl_file(directory, self.environ)
            self._watcher.start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stops everything, the newest first. Harmless when not started."""
        self._watcher.stop()
        if self.environ:
            # Only the process that owns the directory reaches this line.
            environment.orgctl_file(self.stack.directory).unlink(missing_ok=True)
        for program in self._programs:
            program.ask_to_stop()
        deadline = time.monotonic() + _STOPPING_SECONDS
        for program in self._programs:
            program.finish(deadline)
        self._programs.clear()
        self.stack.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def _make_environ(self) -> dict[str, str]:
        port = str(environment.web_port(self._given, self._say))
        environ = {
            **self._given,
            **environment.store_urls(self.stack.urls, self._given),
            **environment.secrets_for(self.stack.directory, self._given),
            "PATH": environment.search_path(self._given),
            "PORT": port,
            "WEB_BIND": self._given.get("WEB_BIND") or LOOPBACK,
            "OTLP_GRPC_PORT": str(environment.grpc_port(self._given, self._say)),
            "PUBLIC_URL": self._given.get("PUBLIC_URL") or f"http://{LOOPBACK}:{port}",
            "ADMIN_EMAIL": self._given.get("ADMIN_EMAIL") or _ADMIN_EMAIL,
            "SIGN_IN_LINK_HASH": self.sign_in_link.hash,
        }
        if self.uses_example_evaluator:
            environ["EVALUATOR_ENDPOINT"] = f"http://{LOOPBACK}:{free_port()}"
        elif not self._given.get("EVALUATOR_TOKEN"):
            # the user's evaluator may need no token, and ours must not reach it
            environ.pop("EVALUATOR_TOKEN")
        return environ

    def _start_programs(self) -> None:
        lines = {name: self._lines[name] for name in _PROCESS_TYPES}
        if self.grpc_address is not None:
            lines[_GRPC] = self._lines[_GRPC]
        if self.uses_example_evaluator:
            port = self.environ["EVALUATOR_ENDPOINT"].rpartition(":")[2]
            lines["example-evaluator"] = f"python examples/evaluator.py --port {port}"
        self._say(f"starting {', '.join(lines)}")
        for name, line in lines.items():
            program = Program(name, line, self.stack, self.environ)
            self._programs.append(program)
            program.start()
            self._watcher.add(program)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _STARTING_SECONDS
        while not (self._stores_events() and self._accepts_grpc()):
            self._watcher.require_all_running()
            if time.monotonic() > deadline:
                raise StackError(
                    f"{self.url}/v1/ready does not say that events are stored, or nothing listens"
                    f" on OTLP_GRPC_PORT; see {self.stack.directory}/logs"
                )
            time.sleep(0.05)

    def _accepts_grpc(self) -> bool:
        if self.grpc_address is None:
            return True
        try:
            address = (LOOPBACK, int(self.environ["OTLP_GRPC_PORT"]))
            socket.create_connection(address, timeout=5).close()
        except OSError:
            return False
        return True

    def _stores_events(self) -> bool:
        """Returns whether an event that is posted now will be stored.

        The status is no help here: work that waited while nothing ran may be old.
        """
        connection = http.client.HTTPConnection(LOOPBACK, int(self.environ["PORT"]), timeout=5)
        try:
            connection.request("GET", "/v1/ready")
            checks = msgspec.json.decode(connection.getresponse().read())["checks"]
            return all(checks[name] == "ok" for name in _NEEDED)
        except (OSError, http.client.HTTPException, msgspec.DecodeError, KeyError, TypeError):
            return False
        finally:
            connection.close()

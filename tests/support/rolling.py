"""The processes of a deployment, replaced one after the other as an operator would do it."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import msgspec
import redis

from shared.foundation.queue import is_consumed
from tests.support.releases import environ_of

# Longer than any process may take to stop.
_STOP_SECS = 60.0
_START_SECS = 120.0

# As `systemd` passes a socket on: as the third file, with two variables.
_WITH_SOCKET = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execvp(sys.argv[2], sys.argv[2:])
"""
_BIN = Path(sys.executable).parent
_COMMANDS = {
    "web": [str(_BIN / "gunicorn"), "-c", "web/gunicorn.py", "web.wsgi:app"],
    "worker": [sys.executable, "-m", "workers.supervisor"],
    "clock": [sys.executable, "-m", "workers.clock"],
    "otlp-grpc": [sys.executable, "-m", "web.otlp.grpc"],
}


class Rolling:
    """Processes by their types. `port` is that of `web`; its socket stays open between two."""

    def __init__(self, environ: dict[str, str], logs: Path) -> None:
        self._environ, self._logs = environ, logs
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port: int = self._socket.getsockname()[1]
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._redis = redis.Redis.from_url(environ["REDIS_URL"])

    def start(self, name: str, root: Path) -> None:
        """Starts a process of the code in `root`, and waits until it works."""
        command, passed = _COMMANDS[name], []
        if name == "web":
            passed = [self._socket.fileno()]
            command = [sys.executable, "-c", _WITH_SOCKET, str(passed[0]), *command]
        environ = environ_of(root, {**self._environ, "PORT": str(self.port)})
        with (self._logs / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                command,
                cwd=root,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=passed,
                start_new_session=True,
            )
        deadline = time.monotonic() + _START_SECS
        while not self._works(name):
            assert self._running[name].poll() is None, self.said(name)
            assert time.monotonic() < deadline, self.said(name)
            time.sleep(0.05)

    def replace(self, name: str, root: Path) -> None:
        """Stops a process in order, as its manager would, and starts it from `root`."""
        process = self._running.pop(name)
        if name == "worker":
            for queue in ("ingest", "background"):
                self._redis.delete(f"consumed:{queue}")  # the old one is no sign of the new one
        process.terminate()
        assert process.wait(_STOP_SECS) == 0, self.said(name)
        self.start(name, root)

    def said(self, name: str) -> str:
        """Returns the end of a process's log."""
        return (self._logs / f"{name}.log").read_text(errors="replace")[-4000:]

    def close(self) -> None:
        """Kills everything that runs."""
        for process in self._running.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._socket.close()
        self._redis.close()

    def _works(self, name: str) -> bool:
        if name == "web":
            return self._serves()
        if name == "worker":
            return is_consumed(self._redis, "ingest") and is_consumed(self._redis, "background")
        if name == "otlp-grpc":
            return "otlp_grpc_ready" in self.said(name)
        return True

    def _serves(self) -> bool:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/v1/ready")
            checks = msgspec.json.decode(connection.getresponse().read())["checks"]
            return bool(checks["postgres"] == checks["redis"] == checks["clickhouse"] == "ok")
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()


@contextmanager
def rolling(environ: dict[str, str], logs: Path) -> Iterator[Rolling]:
    """Yields the processes, none of which runs yet, and kills them in the end."""
    processes = Rolling(environ, logs)
    try:
        yield processes
    except BaseException:
        for log in sorted(logs.glob("*.log")):
            end = log.read_text(errors="replace")[-4000:]
            print(f"{log.name}:\n{end}")  # noqa: T201 shown with a failed test
        raise
    finally:
        processes.close()


def released(root: Path, environ: dict[str, str], *arguments: str) -> str:
    """Runs the release of the code in `root` and returns what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "shared.upkeep.release", *arguments],
        cwd=root,
        env=environ_of(root, environ),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout

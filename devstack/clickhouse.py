"""ClickHouse, from chdb-core: clickhouse-local with its TCP listener, in a child process."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from string import Template

from devstack.ports import LOOPBACK
from devstack.server import Server

_DATABASE = "watchpost"
# The database of the views that people's SQL reads.
_VIEWS = "analytics"
_PACKAGE = Path(__file__).resolve().parent
_CHILD = _PACKAGE / "clickhouse_child.py"
_TEMPLATES = _PACKAGE / "config"


class ClickHouseServer(Server):
    """The ClickHouse server, with the users `default` (full access) and `reader` (people's SQL)."""

    name = "clickhouse"

    @property
    def url(self) -> str:
        """The URL of the database `watchpost` for the user with full access."""
        return self._url("default", _DATABASE)

    @property
    def readonly_url(self) -> str:
        """The URL of the database `analytics`, which holds the views, for the read-only user."""
        return self._url("reader", _VIEWS)

    @property
    def _data(self) -> Path:
        return self.home / "data"

    def _url(self, user: str, database: str) -> str:
        return f"clickhouse://{user}@{LOOPBACK}:{self.port}/{database}"

    def _prepare(self) -> None:
        values = {
            "port": str(self.port),
            "log": str(self.log.with_name("clickhouse-server.log")),
            "users": str(self.home / "users.xml"),
            "database": _DATABASE,
            "views": _VIEWS,
        }
        for name in ("clickhouse-local.xml", "users.xml"):
            text = Template((_TEMPLATES / name).read_text()).substitute(values)
            (self.home / name).write_text(text)

    def _command(self) -> list[str]:
        # -P keeps the child's own folder off the path: its redis.py would hide the real package.
        return [sys.executable, "-P", str(_CHILD), str(self._data)]

    def _answers(self) -> bool:
        # Try a bare connection first: clickhouse-driver logs every refused one with a traceback.
        with socket.socket() as probe:
            if probe.connect_ex((LOOPBACK, self.port)) != 0:
                return False
        try:
            if not self._is_ours():
                return False
            for database in (_DATABASE, _VIEWS):
                self._execute(f"CREATE DATABASE IF NOT EXISTS {database}")
        except _Silent:
            return False
        return True

    def _ask_to_stop(self, process: subprocess.Popen[bytes]) -> None:
        # The child waits in one endless query. When the query ends, the child shuts down in order.
        # A signal would end it like a kill.
        try:
            if self._is_ours():
                self._execute("KILL QUERY WHERE query LIKE 'SELECT sleepEachRow(%' ASYNC")
                return
        except _Silent:
            pass
        super()._ask_to_stop(process)

    def _is_ours(self) -> bool:
        """Returns whether this server has the port, and not the server of another stack."""
        rows = self._execute("SELECT value FROM system.server_settings WHERE name = 'path'")
        return rows == [(str(self._data),)]

    def _execute(self, statement: str) -> object:
        # Imported here, because the process that cleans up after a killed owner never needs it. As
        # in `shared`, the driver shall not build a table of dates, which takes 26 MB.
        os.environ.setdefault("CLICKHOUSE_DRIVER_LASY_DATE_LUT", "1")
        from clickhouse_driver import Client
        from clickhouse_driver.errors import Error

        client = Client(LOOPBACK, port=self.port, connect_timeout=2, send_receive_timeout=10)
        try:
            return client.execute(statement)
        except (Error, OSError, EOFError) as error:
            raise _Silent from error
        finally:
            client.disconnect()


class _Silent(Exception):
    """The server does not answer the statement."""

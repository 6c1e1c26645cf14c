"""Two ClickHouse servers that are the shards of one cluster, as docs/run/cluster.md describes it.

There is no keeper, so nothing is replicated or sent ON CLUSTER: the statements for a cluster run on
each server in turn, without those two words.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from devstack.clickhouse import ClickHouseServer
from devstack.ports import free_port
from devstack.state import StateFile
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.migrations import MIGRATIONS
from shared.foundation.clickhouse.published import POLICY, TABLES, statement
from tests.support.shards import CLUSTER, replace_once

_READ_BY_PEOPLE = ("events_local", "evaluations_local", "own_evaluations_local")


class ShardServer(ClickHouseServer):
    """One of the servers. `ports` has those of all shards, in the order of the shards."""

    def __init__(self, state_file: StateFile, port: int, ports: tuple[int, ...]) -> None:
        super().__init__(state_file, port)
        self._ports = ports

    def _prepare(self) -> None:
        super()._prepare()
        shards = "".join(
            "<shard><internal_replication>true</internal_replication>"
            f"<replica><host>127.0.0.1</host><port>{port}</port></replica></shard>"
            for port in self._ports
        )
        replace_once(
            self.home / "clickhouse-local.xml",
            "</clickhouse>",
            f"<remote_servers><{CLUSTER}><secret>of-the-tests</secret>{shards}</{CLUSTER}>"
            "</remote_servers></clickhouse>",
        )
        users = self.home / "users.xml"
        users.write_text(re.sub("<databases>.*?</databases>", "", users.read_text(), flags=re.S))
        replace_once(users, "<limit>10001</limit>", "")
        # A shard on another machine sees the reader. The one on the same server sees the definer of
        # the views.
        grants = "".join(
            f"<query>GRANT SELECT ON watchpost.{table}</query>" for table in _READ_BY_PEOPLE
        )
        policies = "".join(
            f"<{name}><filter>{POLICY}</filter></{name}>" for name in _READ_BY_PEOPLE
        )
        for last in ("analytics.results", "watchpost.own_evaluations"):
            replace_once(
                users,
                f"<query>GRANT SELECT ON {last}</query>\n            </grants>",
                f"<query>GRANT SELECT ON {last}</query>{grants}</grants>"
                f"<databases><watchpost>{policies}</watchpost></databases>",
            )


class _OwnerOfServers(ClickHouse):
    """Runs the statements for a cluster on each server in turn."""

    def __init__(self, urls: list[str]) -> None:
        super().__init__(urls[0], cluster=CLUSTER)
        self._servers = [ClickHouse(url) for url in urls]

    def execute(self, sql: str, params: Mapping[str, object] | None = None) -> None:
        if sql.startswith("INSERT INTO"):
            super().execute(sql, params)
            return
        sql = sql.replace(f" ON CLUSTER '{CLUSTER}'", "")
        sql = re.sub(r"Replicated(\w+)\('[^']*', '\{replica\}'(?:, )?", r"\1(", sql)
        for server in self._servers:
            server.execute(sql, params)

    def close(self) -> None:
        super().close()
        for server in self._servers:
            server.close()


@dataclass(frozen=True)
class Cluster:
    """`all` reads and writes tables over both shards, through the first server.

    `locals` are the same databases without the cluster, `readers` the users of people's SQL.
    """

    servers: tuple[ShardServer, ...]
    all: ClickHouse
    locals: tuple[ClickHouse, ...]
    readers: tuple[ClickHouse, ...]


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """Yields two servers with migrated tables and people's views."""
    directory = Path(tempfile.mkdtemp(prefix="watchpost-servers-"))
    ports = (free_port(), free_port())
    servers = tuple(ShardServer(StateFile(directory / str(port)), port, ports) for port in ports)
    opened: list[ClickHouse] = []
    try:
        for server in servers:
            server.start()
        for server in servers:
            server.wait_ready()
        urls = [server.url for server in servers]
        owner = _OwnerOfServers(urls)
        cluster = Cluster(
            servers,
            ClickHouse(urls[0], cluster=CLUSTER),
            tuple(ClickHouse(url) for url in urls),
            tuple(ClickHouse(server.readonly_url) for server in servers),
        )
        opened += [owner, cluster.all, *cluster.locals, *cluster.readers]
        for migration in MIGRATIONS:
            migration.up(Ddl(owner))
        for table in TABLES:
            Ddl(owner).run(statement(table, "analytics", "watchpost"))
        yield cluster
    finally:
        for one in opened:
            one.close()
        for server in servers:
            server.stop()
        shutil.rmtree(directory, ignore_errors=True)

"""One ClickHouse that is a cluster of two shards: two databases, and Distributed tables over them.

There is no keeper, so nothing here is replicated or sent ON CLUSTER. The statements for a cluster
run shard by shard, without those two words. Reads and inserts meet the real thing.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from devstack.clickhouse import ClickHouseServer
from devstack.errors import StackError
from devstack.ports import free_port, is_free
from devstack.state import StateFile
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.migrations import MIGRATIONS
from shared.foundation.clickhouse.published import POLICY, TABLES, statement

CLUSTER = "main"
SHARDS = ("shard_1", "shard_2")
_READ_BY_PEOPLE = ("events_local", "evaluations_local", "own_evaluations_local")

# Statements about the tables over all shards, which only one of the databases has.
_OVER_ALL = re.compile(
    r"CREATE OR REPLACE VIEW|INSERT INTO|ALTER TABLE (?:events|agent_sessions|evaluations) "
)


class _Server(ClickHouseServer):
    """A server with the cluster in its configuration, and the reader as in docs/run/cluster.md."""

    def _prepare(self) -> None:
        super()._prepare()
        shards = "".join(
            "<shard><internal_replication>true</internal_replication><replica>"
            f"<host>127.0.0.1</host><port>{self.port}</port>"
            f"<default_database>{name}</default_database></replica></shard>"
            for name in SHARDS
        )
        replace_once(
            self.home / "clickhouse-local.xml",
            "</clickhouse>",
            f"<remote_servers><{CLUSTER}><secret>s</secret>{shards}</{CLUSTER}></remote_servers>"
            "</clickhouse>",
        )
        users = self.home / "users.xml"
        users.write_text(re.sub("<databases>.*?</databases>", "", users.read_text(), flags=re.S))
        replace_once(users, "<limit>10001</limit>", "")
        grants = "".join(
            f"<query>GRANT SELECT ON {shard}.{table}</query>"
            for shard in SHARDS
            for table in _READ_BY_PEOPLE
        )
        policy = "".join(f"<{name}><filter>{POLICY}</filter></{name}>" for name in _READ_BY_PEOPLE)
        policies = "".join(f"<{shard}>{policy}</{shard}>" for shard in SHARDS)
        last = "<query>GRANT SELECT ON analytics.results</query>"
        replace_once(users, last, last + grants)
        head, tail = users.read_text().split(grants)
        users.write_text(
            head + grants + tail.replace("</reader>", f"<databases>{policies}</databases></reader>")
        )


def replace_once(path: Path, old: str, new: str) -> None:
    """Replaces a text that occurs once in a file."""
    text = path.read_text()
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new))


class _OwnerOfShards(ClickHouse):
    """Runs the statements for a cluster on each shard in turn, because there is no keeper."""

    def __init__(self, server: str) -> None:
        super().__init__(f"{server}/watchpost", cluster=CLUSTER)
        self._shards = [ClickHouse(f"{server}/{name}") for name in SHARDS]

    def execute(self, sql: str, params: Mapping[str, object] | None = None) -> None:
        sql = sql.replace(f" ON CLUSTER '{CLUSTER}'", "")
        sql = re.sub(r"Replicated(\w+)\('[^']*', '\{replica\}'(?:, )?", r"\1(", sql)
        # Each shard has its own database here, instead of one name on every server.
        sql = sql.replace(f"Distributed('{CLUSTER}', 'watchpost'", f"Distributed('{CLUSTER}', ''")
        over_all = re.sub(r"^(CREATE TABLE (?:IF NOT EXISTS )?\w+ AS )", rf"\1{SHARDS[0]}.", sql)
        if over_all != sql or _OVER_ALL.match(sql):
            super().execute(over_all, params)
            return
        for shard in self._shards:
            shard.execute(sql, params)

    def close(self) -> None:
        super().close()
        for shard in self._shards:
            shard.close()


@dataclass(frozen=True)
class Both:
    """The same tables on one server and on two shards. `reader` reads the views over the shards."""

    one: ClickHouse
    two: ClickHouse
    owner: ClickHouse
    shards: tuple[ClickHouse, ...]
    reader: ClickHouse


@contextmanager
def _running_server() -> Iterator[_Server]:
    directory = Path(tempfile.mkdtemp(prefix="watchpost-shards-"))
    try:
        server = _started(directory)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory)


def _started(directory: Path) -> _Server:
    """Starts a server on the first port that no other process has taken."""
    while True:
        server = _Server(StateFile(directory), free_port())
        try:
            server.start()
            server.wait_ready()
        except StackError:
            server.stop()
            if is_free(server.port):
                raise
        except BaseException:
            server.stop()
            raise
        else:
            return server


@contextmanager
def one_and_two_shards() -> Iterator[Both]:
    """Yields migrated databases of both kinds, in a separate server."""
    with _running_server() as server:
        at = server.url.rpartition("/")[0]
        root = ClickHouse(f"{at}/default")
        for name in ("one", *SHARDS):
            root.execute(f"CREATE DATABASE {name}")
        both = Both(
            one=ClickHouse(f"{at}/one"),
            two=ClickHouse(f"{at}/watchpost", cluster=CLUSTER),
            owner=_OwnerOfShards(at),
            shards=tuple(ClickHouse(f"{at}/{name}") for name in SHARDS),
            reader=ClickHouse(server.readonly_url),
        )
        for migration in MIGRATIONS:
            migration.up(Ddl(both.one))
            migration.up(Ddl(both.owner))
        for table in TABLES:
            Ddl(both.owner).run(statement(table, "analytics", "watchpost"))
        yield both
        for one in (root, both.one, both.two, both.owner, *both.shards, both.reader):
            one.close()

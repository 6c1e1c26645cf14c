"""A cluster of two servers under load: row policies on shards, and a shard that dies and returns.

`tests.support.shard_servers` explains the difference to a real cluster (no replication, no ON
CLUSTER). `test_two_shards.py` compares every read with that of one server.
"""

import threading
import uuid
from collections.abc import Iterator

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.errors import Unavailable
from tests.support import events as support
from tests.support.processes import wait_until
from tests.support.shard_servers import Cluster, running_cluster

pytestmark = pytest.mark.flow

ORG, OTHER = (f"{digit * 8}-0000-4000-8000-000000000000" for digit in "34")
COUNT = "SELECT count() FROM events FINAL WHERE org_id = '{}'"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as made:
        yield made


class Writer(threading.Thread):
    """Inserts batches of two organizations until it is told to stop, each until it is accepted.

    That is what ingest does: a batch leaves Redis only after ClickHouse has answered.
    """

    def __init__(self, clickhouse: ClickHouse) -> None:
        super().__init__(daemon=True)
        self._clickhouse = clickhouse
        self.enough = threading.Event()
        self.sent = 0
        self.batches = 0
        self.refused = 0

    def run(self) -> None:
        while not self.enough.is_set():
            lines = [
                support.event(f"s{place % 40}", "12:00:00", number=self.sent + place)
                for place in range(200)
            ]
            for org_id in (ORG, OTHER):
                self._store(org_id, lines)
            self.sent += len(lines)
            self.batches += 1

    def _store(self, org_id: str, lines: list[bytes]) -> None:
        while True:
            try:
                support.store_events(self._clickhouse, org_id, lines)
            except Unavailable:
                self.refused += 1
                # The second try of a batch of which one shard may have the rows.
                self.enough.wait(0.05)
            else:
                return


def counted(clickhouse: ClickHouse, org_id: str) -> int:
    [(count,)] = clickhouse.rows(COUNT.format(org_id))
    return int(count)


def seen_by(reader: ClickHouse, sql: str, org_id: str) -> list[tuple[object, ...]]:
    """Returns what people of an organization read."""
    return reader.rows(sql, query_id=f"{org_id}:{uuid.uuid4()}")


def test_a_shard_dies_and_returns_under_load(cluster: Cluster) -> None:
    first, second = cluster.servers
    writer = Writer(cluster.all)
    writer.start()
    wait_until(lambda: writer.batches >= 3)

    second.kill()
    wait_until(lambda: writer.refused >= 3)
    # Half an answer would look like a whole one.
    with pytest.raises(Unavailable):
        counted(cluster.all, ORG)
    with pytest.raises(Unavailable):
        seen_by(cluster.readers[0], "SELECT count() FROM events", ORG)
    assert first.pid is not None
    stored = writer.batches

    second.start()
    second.wait_ready()
    wait_until(lambda: writer.batches >= stored + 3)
    writer.enough.set()
    writer.join(60)
    assert not writer.is_alive()

    # Each event once, although batches were stored again.
    for org_id in (ORG, OTHER):
        assert counted(cluster.all, org_id) == writer.sent
    local = "SELECT DISTINCT session_id FROM events_local"
    on_first, on_second = (set(shard.rows(local)) for shard in cluster.locals)
    assert on_first
    assert on_second


def test_policies_hold_on_every_shard(cluster: Cluster) -> None:
    """Whichever server a person's statement reaches, also for tables of a single shard."""
    for org_id, name in ((ORG, "ours"), (OTHER, "theirs")):
        lines = [support.event(f"{name}{place}", "13:00:00") for place in range(40)]
        support.store_events(cluster.all, org_id, lines)
    for reader in cluster.readers:
        for org_id, name, other in ((ORG, "ours", "theirs"), (OTHER, "theirs", "ours")):
            said = "SELECT countIf(startsWith(session_id, '{}')) FROM {}"
            assert seen_by(reader, said.format(name, "events"), org_id) == [(40,)]
            assert seen_by(reader, said.format(other, "events"), org_id) == [(0,)]
            local = seen_by(reader, said.format(other, "watchpost.events_local"), org_id)
            assert local == [(0,)]
        nobody = seen_by(reader, "SELECT count() FROM watchpost.events_local", "nobody")
        assert nobody == [(0,)]
    # Otherwise the policies would have had nothing to hide.
    for shard in cluster.locals:
        assert shard.rows("SELECT uniqExact(org_id) FROM events_local") == [(2,)]

"""Processes that count together: one answers for all, and none of them leaves files behind."""

import multiprocessing
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from devstack.ports import free_port
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.core.metrics.catalogue import BATCH_EVENTS, STORED
from shared.foundation.core.metrics.exporter import Exporter, port_of
from shared.foundation.core.metrics.slots import ProcessSlots
from tests.support.processes import wait_until
from tests.support.scrape import scrape

pytestmark = pytest.mark.flow

_PROCESSES = multiprocessing.get_context("spawn")

OFF = """
import sys
import shared.reading.queries.run, shared.intake.ingest.accept, workers.main, web.app
import workers.supervisor
from shared.foundation.core.metrics import exporter
from shared.foundation.core.metrics.catalogue import STORED
from shared.foundation.core.config import Settings
settings = Settings(database_url="postgresql://x", redis_url="redis://x", clickhouse_url="c")
exporter.Exporter(settings, "web").start("web")
STORED.add(1)
print("prometheus_client" in sys.modules)
"""


def counts(settings: Settings, wishes: Connection) -> None:
    """Counts as many events as it is asked for, until it is killed."""
    Exporter(settings, "ingest").start("ingest")
    while True:
        wishes.send(True)
        events = wishes.recv()
        STORED.add(events)
        BATCH_EVENTS.observe(events)


@contextmanager
def counting(settings: Settings) -> Iterator[Callable[[int], None]]:
    """Runs such a process; yields what lets it count."""
    mine, its = _PROCESSES.Pipe()
    process = _PROCESSES.Process(target=counts, args=(settings, its))
    process.start()
    assert mine.recv()

    def count(events: int) -> None:
        mine.send(events)
        assert mine.recv()

    try:
        yield count
    finally:
        process.kill()
        process.join()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings with metrics, whose files are in a folder of this test."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return Settings(
        database_url="postgresql://x",
        redis_url="redis://x",
        clickhouse_url="clickhouse://x",
        metrics_port=free_port() - 3,
    )


def files(tmp_path: Path) -> set[str]:
    return {path.name for path in tmp_path.rglob("*.db")}


def test_without_a_port_nothing_is_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", OFF], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_one_answers_for_all_and_no_number_falls(settings: Settings, tmp_path: Path) -> None:
    port = port_of(settings, "ingest")
    assert port is not None
    with counting(settings) as first:
        first(5)
        with counting(settings) as second:
            second(7)
            wait_until(lambda: answers(port))
            wait_until(lambda: scrape(port)["watchpost_ingest_stored_events_total"] == 12)
            assert scrape(port)['watchpost_processes{process="ingest"}'] == 2
            assert scrape(port)['watchpost_process_memory_bytes{process="ingest",slot="1"}'] > 0
        assert scrape(port)["watchpost_ingest_stored_events_total"] == 12
        before = files(tmp_path)
        for _ in range(2):
            with counting(settings) as again:
                again(1)
        assert files(tmp_path) == before
        found = scrape(port)
        assert found["watchpost_ingest_stored_events_total"] == 14
        assert found["watchpost_ingest_batch_events_count"] == 4
        assert found['watchpost_ingest_batch_events_bucket{le="1.0"}'] == 2
        assert found['watchpost_processes{process="ingest"}'] == 1
    with counting(settings) as later:
        later(2)
        # All of them had ended, so this is a new beginning.
        wait_until(lambda: answers(port))
        assert scrape(port)["watchpost_ingest_stored_events_total"] == 2


def test_when_the_one_that_listens_ends_another_one_does(settings: Settings) -> None:
    port = port_of(settings, "ingest")
    assert port is not None
    with ExitStack() as elder:
        elder.enter_context(counting(settings))(1)
        wait_until(lambda: answers(port))
        with counting(settings) as heir:
            elder.close()
            heir(3)
            wait_until(lambda: answers(port))
            assert scrape(port)["watchpost_ingest_stored_events_total"] == 4


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics"):
            return True
    except OSError:
        return False


def test_a_folder_of_somebody_else_is_refused(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ProcessSlots.of_port(1)
    [made] = tmp_path.glob("watchpost-metrics-*")
    made.rename(tmp_path / "elsewhere")
    made.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigurationError, match="belongs to another user"):
        ProcessSlots.of_port(1)

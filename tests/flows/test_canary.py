"""Canaries while each part of the pipeline is killed in turn: /ready names the part."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import select

from devstack import DevStack
from devstack.ports import free_port
from devstack.server import Server as StoreServer
from shared.access.keys.models import ApiKey
from shared.access.organizations import CANARY_ID
from shared.foundation.core.config import Settings
from tests.support.databases import environment
from tests.support.processes import running, wait_until
from tests.support.runtime import connected, migrated, settings_for
from tests.support.server import Server, running_server, start_gunicorn
from tests.support.stack import stack_directory

pytestmark = pytest.mark.flow

INTERVAL_SECS = 1


@contextmanager
def killable(environ: dict[str, str], port: int, log: Path) -> Iterator[int]:
    """Runs a web tier on a port; yields its process id, whose group it leads no matter what."""
    process = start_gunicorn({**environ, "WEB_CONCURRENCY": "1"}, port, log)
    try:
        yield process.pid
    finally:
        # Its worker notices that the master is gone.
        process.send_signal(signal.SIGTERM)
        process.wait(60)


@pytest.fixture
def own() -> Iterator[DevStack]:
    """Stores that a test may kill, with migrated databases."""
    with stack_directory() as directory, DevStack(directory) as stack:
        migrated(settings_for(stack.urls))
        yield stack


class Watched:
    """The answers of /ready."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.last: dict[str, object] = {}

    def checks(self) -> tuple[int, dict[str, object]]:
        status, _, body = self._server.request("GET", "/v1/ready")
        self.last = json.loads(body)["checks"]
        return status, self.last

    def is_well(self) -> bool:
        status, checks = self.checks()
        return status == 200 and (checks["canary"], checks["broken"]) == ("ok", None)

    def names(self, part: str) -> bool:
        status, checks = self.checks()
        return status == 503 and checks["broken"] == part


def test_the_part_that_was_killed_is_named(own: DevStack, tmp_path: Path) -> None:
    port = free_port()
    settings: Settings = settings_for(
        own.urls,
        canary_interval_secs=INTERVAL_SECS,
        canary_url=f"http://127.0.0.1:{port}",
        ingest_claim_idle_secs=2,
    )
    environ = {**environment(own.urls), "CANARY_INTERVAL_SECS": str(INTERVAL_SECS)}
    with ExitStack() as parts, running_server(environ, tmp_path / "asked.log") as asked:
        web = parts.enter_context(killable(environ, port, tmp_path / "web.log"))
        with running("workers.supervisor", "ingest", settings=settings) as ingest:
            ready = Watched(asked)
            wait_until(ready.is_well)
            assert ready.last["canary_begins"] == "web"

            os.kill(web, signal.SIGTERM)
            wait_until(lambda: ready.names("web"))
            assert ready.last["ingest"] == ready.last["clickhouse"] == "ok"
            parts.enter_context(killable(environ, port, tmp_path / "again.log"))
            wait_until(ready.is_well)

            stores: list[tuple[str, StoreServer]] = [
                ("redis", own.redis),
                ("clickhouse", own.clickhouse),
            ]
            for name, store in stores:
                store.kill()
                wait_until(lambda part=name: ready.names(part))  # type: ignore[misc]
                store.start()
                store.wait_ready()
                wait_until(ready.is_well)

            ingest.kill()
            wait_until(lambda: ready.names("ingest"))
        with running("workers.supervisor", "ingest", settings=settings):
            wait_until(ready.is_well)
    # The key of each group that was stopped in order is gone, and all belong to the hidden one.
    with connected(settings) as runtime, runtime.postgres.transaction() as session:
        owners = session.scalars(select(ApiKey.org_id).where(ApiKey.name.startswith("canary ")))
        assert set(owners) <= {CANARY_ID}

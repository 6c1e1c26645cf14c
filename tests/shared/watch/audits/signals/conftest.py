"""Fixtures of tests of signals: the recording, and a runner of evidence queries."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.interface import Look, Window
from tests.support.airline import Airline
from tests.support.looks import ingest, look_at
from tests.support.runtime import make_org
from tests.web.conftest import app, client, web_runtime

__all__ = ["app", "client", "web_runtime"]


@pytest.fixture(scope="session")
def clickhouse(runtime: Runtime) -> ClickHouse:
    """ClickHouse with all tables. Each test uses its own organization."""
    return runtime.clickhouse


@pytest.fixture(scope="session")
def runner(runtime: Runtime) -> Iterator[QueryRunner]:
    """Runs statements as POST /queries/run does."""
    made = QueryRunner(runtime, pool_size=1)
    yield made
    made.close()


@pytest.fixture(scope="session")
def airline_look(runtime: Runtime, airline: Airline) -> Look:
    """A look at the whole recording, in an organization that no test changes.

    A third of it was stored twice.
    """
    org = make_org(runtime)
    ingest(runtime.clickhouse, org.id, airline.lines)
    ingest(runtime.clickhouse, org.id, airline.lines[::3])
    window = Window(datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 3, tzinfo=UTC))
    return look_at(runtime.clickhouse, org.id, window)

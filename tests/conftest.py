"""Fixtures for every test. Each test uses only the fixtures of the servers that it needs."""

import gc
import os
import re
from collections.abc import Iterator
from dataclasses import fields, replace

import pytest
import structlog
from xdist.remote import Producer
from xdist.scheduler import Scheduling

from devstack import DevStack, StackUrls
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres.migrate import migrate
from tests.support.airline import Airline, airline_folder, load_airline
from tests.support.fast import FastTests, is_fast, mark_fast
from tests.support.runtime import Org, connected, make_org, migrated, settings_for
from tests.support.scheduling import DURATIONS, FlowsTogether, Recording, longest_first
from tests.support.stack import servers_of, stack_of_the_run

# Nothing listens there.
NO_REDIS, NO_CLICKHOUSE = "redis://127.0.0.1:1/0", "clickhouse://default@127.0.0.1:1/watchpost"

# A moment or a UUID.
_RANDOM = re.compile(r"\d\d(:|%3A)\d\d(:|%3A)\d\d|[0-9a-f]{8}-[0-9a-f]{4}-")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record", action="store_true", help="write the seconds of each file, for their order"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Watches fast tests, and logs plain tracebacks, as the service does.

    By default structlog prints every variable of every frame in colours, which takes seconds.
    Collection makes most of its objects to stay, so the garbage collector pauses until its end.
    """
    gc.disable()
    config.pluginmanager.register(FastTests())
    if config.getoption("record") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recording(DURATIONS))
    console = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], console])


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Returns a stable id: all processes of a run know a test by its id, so none may be random."""
    varies = isinstance(val, bytes) or (isinstance(val, str) and _RANDOM.search(val))
    return argname if varies else None


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    return FlowsTogether(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Decides which tests are fast, after each `conftest.py` below and before `-m` selects."""
    mark_fast(items)
    if hasattr(config, "workerinput"):  # one of several processes
        longest_first(items, config.workerinput["workercount"])


def pytest_collection_finish() -> None:
    """Frees what collection left, and keeps all modules and tests out of later searches."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _no_server_known(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides the addresses of servers from fast tests."""
    if is_fast(request.node):
        for name in fields(StackUrls):
            monkeypatch.delenv(name.name.upper(), raising=False)


@pytest.fixture(scope="session")
def run_servers(request: pytest.FixtureRequest) -> Iterator[DevStack]:
    """The servers whose URLs the tests of this run use, started once."""
    with stack_of_the_run(servers_of(request.session.items)) as running:
        yield running


@pytest.fixture(scope="session")
def postgres_url(run_servers: DevStack) -> str:
    """The URL of an empty PostgreSQL database."""
    return run_servers.urls.database_url


@pytest.fixture(scope="session")
def redis_url(run_servers: DevStack) -> str:
    """The URL of an empty Redis database."""
    return run_servers.urls.redis_url


@pytest.fixture(scope="session")
def clickhouse_url(run_servers: DevStack) -> str:
    """The URL of an empty ClickHouse database."""
    return run_servers.urls.clickhouse_url


@pytest.fixture(scope="session")
def stack(
    run_servers: DevStack, postgres_url: str, redis_url: str, clickhouse_url: str
) -> DevStack:
    """PostgreSQL, Valkey and ClickHouse."""
    return run_servers


@pytest.fixture(scope="session")
def migrated_stack(stack: DevStack) -> DevStack:
    """The stack with the schema of this release in both databases."""
    migrated(settings_for(stack.urls))
    return stack


@pytest.fixture(scope="session")
def runtime(migrated_stack: DevStack) -> Iterator[Runtime]:
    """Connections to the stack, with the default settings."""
    with connected(settings_for(migrated_stack.urls)) as made:
        yield made


@pytest.fixture(scope="session")
def postgres_runtime(run_servers: DevStack, postgres_url: str) -> Iterator[Runtime]:
    """Connections to PostgreSQL. A test that touches another store fails."""
    urls = replace(run_servers.urls, redis_url=NO_REDIS, clickhouse_url=NO_CLICKHOUSE)
    with connected(settings_for(urls)) as made:
        migrate(made.postgres.engine)
        yield made


@pytest.fixture(scope="session")
def postgres_and_redis_runtime(
    run_servers: DevStack, postgres_url: str, redis_url: str
) -> Iterator[Runtime]:
    """Connections to PostgreSQL and Redis. A test that touches ClickHouse fails."""
    with connected(settings_for(replace(run_servers.urls, clickhouse_url=NO_CLICKHOUSE))) as made:
        migrate(made.postgres.engine)
        yield made


@pytest.fixture
def org(runtime: Runtime) -> Org:
    """A fresh organization that no other test uses."""
    return make_org(runtime)


@pytest.fixture(scope="session")
def airline() -> Airline:
    """The airline recording. If it is missing, its tests skip, and fail in CI."""
    if (airline_folder() / "events.ndjson.gz").exists():
        return load_airline()
    reason = f"no recording in {airline_folder()}: set WATCHPOST_SHARED"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)

"""Releases under load: the processes of the release before serve while and after one runs."""

import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest
import redis
from clickhouse_driver import Client

from devstack import DevStack, StackUrls
from tests.support.databases import empty_databases, environment
from tests.support.evaluator import Evaluator
from tests.support.processes import wait_until
from tests.support.releases import PROJECT, environ_of, next_release, previous_release
from tests.support.rolling import Rolling, released, rolling
from tests.support.steady import SteadyLoad

pytestmark = [pytest.mark.flow, pytest.mark.timeout(600)]

# Each statement that changes ClickHouse counts. This is in the middle of the newest migration that
# the previous release does not have.
_DEADLY = 4
_RATE = 60


@pytest.fixture
def urls(stack: DevStack) -> Iterator[StackUrls]:
    """New databases, and an empty Redis."""
    with empty_databases(stack.urls) as made:
        with redis.Redis.from_url(made.redis_url) as client:
            client.flushdb()
        yield made


@pytest.fixture
def environ(urls: StackUrls, evaluator: Evaluator) -> dict[str, str]:
    """The variables of a deployment."""
    return {
        **environment(urls),
        "ADMIN_KEY": secrets.token_hex(16),
        "EVALUATOR_ENDPOINT": evaluator.url,
        "WEB_CONCURRENCY": "2",
        "INGEST_PROCESSES": "1",
        "OTLP_GRPC_PORT": "0",
        "LOG_LEVEL": "warning",
    }


def organizations(environ: dict[str, str], count: int = 2) -> dict[str, str]:
    """Creates organizations in any release's schema. Returns their ids by their slugs."""
    made = {}
    connection = psycopg2.connect(environ["DATABASE_URL"])
    with connection, connection.cursor() as cursor:
        for _ in range(count):
            slug = f"u{secrets.token_hex(5)}"
            cursor.execute(
                "INSERT INTO organizations (id, slug, name) VALUES (gen_random_uuid(), %s, %s)"
                " RETURNING id::text",
                (slug, slug),
            )
            [(made[slug],)] = cursor.fetchall()
    connection.close()
    return made


def more(load: SteadyLoad, batches: int = 20) -> None:
    """Waits until so many more batches are acknowledged: the service works."""
    wanted = load.accepted + batches
    wait_until(lambda: load.accepted >= wanted)


def require_only_202_and_503(load: SteadyLoad) -> None:
    """A connection that was refused or reset has the name of its error in place of a status."""
    assert set(load.answers) <= {"202", "503", "GET 200", "GET 503"}, load.answers


def require_everything_once(load: SteadyLoad, environ: dict[str, str]) -> None:
    """Waits until each event is stored and each session evaluated, then checks for more."""
    clickhouse = Client.from_url(environ["CLICKHOUSE_URL"])

    def problems() -> list[str]:
        return [*load.event_problems(clickhouse), *load.result_problems(clickhouse)]

    wait_until(lambda: not any("LOST" in one or "NO result" in one for one in problems()))
    assert problems() == []
    clickhouse.disconnect()
    connection = psycopg2.connect(environ["DATABASE_URL"])
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT status, count(*) FROM evaluation_jobs GROUP BY 1")
        assert dict(cursor.fetchall()) == {"done": len(load.sessions())}
    connection.close()


def start_all(processes: Rolling, root: Path) -> None:
    for name in ("worker", "clock", "web"):
        processes.start(name, root)


def test_the_previous_release_serves_while_this_one_migrates_and_takes_over(
    environ: dict[str, str], tmp_path: Path
) -> None:
    previous = previous_release(tmp_path)
    released(previous, environ)
    orgs = organizations(environ)
    with rolling(environ, tmp_path) as processes:
        start_all(processes, previous)
        load = SteadyLoad(processes.port, environ["ADMIN_KEY"], orgs, _RATE)
        load.start()
        try:
            more(load)
            killed = subprocess.run(
                [sys.executable, "-m", "tests.support.killed_release", str(_DEADLY)],
                env=environ_of(PROJECT, environ),
                cwd=PROJECT,
                capture_output=True,
                timeout=120,
                check=False,
            )
            assert killed.returncode == -signal.SIGKILL, killed.stderr
            more(load)
            assert "ClickHouse 0005" in released(PROJECT, environ, "--plan")
            released(PROJECT, environ)
            more(load)
            # Old web beside new workers, then the clock, then web: the documented order.
            for name in ("worker", "clock", "web"):
                processes.replace(name, PROJECT)
                more(load)
        finally:
            load.finish()
        require_only_202_and_503(load)
        require_everything_once(load, environ)


def test_this_release_starts_again_on_the_schema_of_the_next_one(
    environ: dict[str, str], tmp_path: Path
) -> None:
    later = next_release(tmp_path)
    released(PROJECT, environ)
    orgs = organizations(environ)
    with rolling(environ, tmp_path) as processes:
        start_all(processes, PROJECT)
        load = SteadyLoad(processes.port, environ["ADMIN_KEY"], orgs, _RATE)
        load.start()
        try:
            more(load)
            assert "PostgreSQL stands at 9000" in released(later, environ)
            # A manager restarts what ends, and an old one ends after the release.
            for name in ("worker", "clock", "web"):
                processes.replace(name, PROJECT)
                more(load)
            assert "schema_is_newer" in processes.said("web")
            for name in ("worker", "clock", "web"):
                processes.replace(name, later)
                more(load)
        finally:
            load.finish()
        require_only_202_and_503(load)
        require_everything_once(load, environ)

"""Migrations up, down and up again, and on an unknown schema."""

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

import shared
from devstack import DevStack, StackUrls
from shared.foundation.clickhouse import migrate as clickhouse_migrations
from shared.foundation.core.errors import ConfigurationError, Unavailable
from shared.foundation.deployment import floor
from shared.foundation.deployment.floor import Versions
from shared.foundation.deployment.migration import release
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.deployment.schema import own_versions, require_current
from shared.foundation.postgres import Base
from shared.foundation.postgres import migrate as postgres_migrations
from shared.foundation.postgres.revisions import current_revision, revisions
from tests.support.databases import empty_databases, environment
from tests.support.runtime import connected, settings_for


@pytest.fixture
def urls(stack: DevStack) -> Iterator[StackUrls]:
    """New databases."""
    with empty_databases(stack.urls) as made:
        yield made


@pytest.fixture
def empty(urls: StackUrls) -> Iterator[Runtime]:
    """Connections to them."""
    with connected(settings_for(urls)) as runtime:
        yield runtime


def run_release(environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs `python -m shared.upkeep.release`."""
    return subprocess.run(
        [sys.executable, "-m", "shared.upkeep.release"],
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def postgres_tables(runtime: Runtime) -> set[str]:
    return set(inspect(runtime.postgres.engine).get_table_names()) - {"alembic_version"}


def clickhouse_tables(runtime: Runtime) -> dict[str, str]:
    rows = runtime.clickhouse.rows(
        "SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase()"
        " AND name != 'schema_migrations'"
    )
    # A materialized view without its own target keeps its rows under a random name.
    return {name: query for name, query in rows if not name.startswith(".inner")}


def test_up_down_and_up_again(empty: Runtime) -> None:
    release(empty.postgres, empty.clickhouse)
    require_current(empty.postgres, empty.clickhouse)
    first = postgres_tables(empty), clickhouse_tables(empty)
    assert {"organizations", "api_keys", "evaluation_jobs"} <= first[0]
    assert {"events", "agent_sessions", "evaluations"} <= first[1].keys()

    postgres_migrations.migrate(empty.postgres.engine, "base")
    clickhouse_migrations.migrate(empty.clickhouse, 0)
    assert postgres_tables(empty) == set()
    assert clickhouse_tables(empty) == {}

    release(empty.postgres, empty.clickhouse)
    require_current(empty.postgres, empty.clickhouse)
    assert (postgres_tables(empty), clickhouse_tables(empty)) == first


def test_the_names_of_the_migrations_are_their_revisions(empty: Runtime) -> None:
    scripts = ScriptDirectory.from_config(postgres_migrations._config(empty.postgres.engine))
    assert revisions() == [script.revision for script in scripts.walk_revisions()][::-1]
    assert current_revision(empty.postgres.engine) is None
    release(empty.postgres, empty.clickhouse)
    assert current_revision(empty.postgres.engine) == revisions()[-1]


def test_the_migrations_make_what_the_models_describe(empty: Runtime) -> None:
    root = Path(shared.__file__).parent
    for path in root.rglob("*.py"):
        if "__tablename__" not in path.read_text():
            continue
        module = path.relative_to(root.parent).with_suffix("")
        importlib.import_module(".".join(module.parts))
    release(empty.postgres, empty.clickhouse)
    with empty.postgres.engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, Base.metadata) == []


def test_the_command_says_where_the_databases_stand(urls: StackUrls) -> None:
    for _ in range(2):
        done = run_release(environment(urls))
        assert done.returncode == 0, done.stderr
        assert "PostgreSQL stands at" in done.stdout
        assert f"ClickHouse at {clickhouse_migrations.LATEST:04d}" in done.stdout


def test_two_releases_at_once_take_turns(urls: StackUrls) -> None:
    command = [sys.executable, "-m", "shared.upkeep.release"]
    environ = {"PATH": os.environ["PATH"], **environment(urls)}
    both = [
        subprocess.Popen(
            command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said


def test_a_process_refuses_databases_that_are_behind(empty: Runtime) -> None:
    with pytest.raises(ConfigurationError, match="behind this release"):
        require_current(empty.postgres, empty.clickhouse)


def make_newer(empty: Runtime, store: str) -> None:
    if store == "PostgreSQL":
        with empty.postgres.transaction() as session:
            session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    else:
        empty.clickhouse.execute(
            "INSERT INTO schema_migrations (version, applied) VALUES (9999, true)"
        )


@pytest.mark.parametrize("store", ["PostgreSQL", "ClickHouse"])
def test_a_process_starts_on_a_newer_schema_that_supports_it(empty: Runtime, store: str) -> None:
    release(empty.postgres, empty.clickhouse)
    make_newer(empty, store)
    own = own_versions()
    for oldest in (own, floor.PREVIOUS):
        with empty.postgres.engine.begin() as connection:
            floor.record(connection, oldest)
        require_current(empty.postgres, empty.clickhouse)
        with pytest.raises(ConfigurationError, match="9999"):
            release(empty.postgres, empty.clickhouse)
    is_postgres = store == "PostgreSQL"
    beyond = Versions("9999", own.clickhouse) if is_postgres else Versions(own.postgres, 9999)
    with empty.postgres.engine.begin() as connection:
        floor.record(connection, beyond)
    with pytest.raises(ConfigurationError, match="does not support it"):
        require_current(empty.postgres, empty.clickhouse)


def test_the_floor_is_there_before_the_first_migration(
    empty: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process of the previous release may start again during a release, or after it failed."""
    postgres_migrations.migrate(empty.postgres.engine, "0013")
    assert floor.recorded(empty.postgres.engine) is None

    def fail(_engine: object) -> None:
        raise Unavailable("the database is unavailable")

    monkeypatch.setattr(postgres_migrations, "migrate", fail)
    with pytest.raises(Unavailable):
        release(empty.postgres, empty.clickhouse)
    assert floor.recorded(empty.postgres.engine) == floor.PREVIOUS


@pytest.mark.parametrize("store", ["PostgreSQL", "ClickHouse"])
def test_a_newer_schema_is_refused_and_left_alone(
    empty: Runtime, urls: StackUrls, store: str
) -> None:
    release(empty.postgres, empty.clickhouse)
    make_newer(empty, store)
    with empty.postgres.engine.begin() as connection:
        floor.record(connection, Versions("9999", 9999))
    for refuse in (require_current, release):
        with pytest.raises(ConfigurationError, match=f"{store} stands at .*9999"):
            refuse(empty.postgres, empty.clickhouse)
    refused = run_release(environment(urls))
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"release: {store} stands at ")
    assert "Traceback" not in refused.stderr


def test_a_bad_environment_is_said_in_a_sentence(urls: StackUrls) -> None:
    unset = run_release({})
    assert (unset.returncode, unset.stderr) == (1, "release: DATABASE_URL is not set\n")
    misspelt = run_release({**environment(urls), "DEFAULT_USER_PERMISSIONS": "standart"})
    assert misspelt.returncode == 1
    names = "use one of read-only, standard, admin\n"
    assert misspelt.stderr.endswith(f"DEFAULT_USER_PERMISSIONS names no permission set: {names}")
    nowhere = {**environment(urls), "CLICKHOUSE_URL": f"{urls.clickhouse_url}_missing"}
    refused = run_release(nowhere)
    assert refused.returncode == 1
    assert "ClickHouse refuses CLICKHOUSE_URL" in refused.stderr
    assert "Traceback" not in refused.stderr

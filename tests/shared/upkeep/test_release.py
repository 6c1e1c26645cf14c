"""The answer of `bin/release --plan`, and a release that is refused before it changed anything."""

from collections.abc import Iterator

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from devstack import DevStack, StackUrls
from shared.foundation.clickhouse import migrate as clickhouse_migrations
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.deployment.floor import PREVIOUS
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import migrate as postgres_migrations
from shared.foundation.postgres.revisions import current_revision, revisions
from shared.upkeep import release, release_checks
from shared.upkeep.release_plan import MigrationStep, duration
from tests.support.databases import empty_databases, environment
from tests.support.runtime import connected, settings_for


@pytest.fixture
def urls(stack: DevStack) -> Iterator[StackUrls]:
    """New databases."""
    with empty_databases(stack.urls) as made:
        yield made


@pytest.fixture
def previous(urls: StackUrls) -> Iterator[Runtime]:
    """Databases of the previous release, with rows."""
    with connected(settings_for(urls)) as runtime:
        postgres_migrations.migrate(runtime.postgres.engine, PREVIOUS.postgres)
        clickhouse_migrations.migrate(runtime.clickhouse, PREVIOUS.clickhouse)
        runtime.clickhouse.execute(
            "INSERT INTO events (org_id, id, session_id, ts, payload)"
            " SELECT 'o', number, 's', now(), randomPrintableASCII(100) FROM numbers(100000)"
        )
        yield runtime


@pytest.fixture(autouse=True)
def _own_logging(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command runs in this process, whose logging stays as it is."""
    monkeypatch.setattr(release, "configure_logging", lambda *_: None)


def said(urls: StackUrls, *arguments: str, **more: str) -> tuple[int, str]:
    """Runs the command in this process and returns its exit code and its output."""
    done = CliRunner().invoke(release.main, list(arguments), env={**environment(urls), **more})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def standing(runtime: Runtime) -> tuple[str | None, int]:
    version = clickhouse_migrations.current_version(runtime.clickhouse)
    return current_revision(runtime.postgres.engine), version


def test_a_plan_names_the_steps_and_changes_nothing(previous: Runtime, urls: StackUrls) -> None:
    code, output = said(urls, "--plan")
    assert code == 0, output
    assert "PostgreSQL stands at 0012, ClickHouse at 0003" in output
    lines = output.splitlines()
    for name, purpose in (
        ("PostgreSQL 0013", "Sessions that are evaluated only when they are idle"),
        ("ClickHouse 0004", "Parts of `events` that an insert or a small merge writes cost less"),
        ("ClickHouse 0005", "Counts of the values that facets list, in every part of `events`"),
    ):
        [line] = [one for one in lines if one.startswith(name)]
        assert line.endswith(purpose)
    assert "writes to watched_sessions wait meanwhile" in output
    assert "ClickHouse goes on with events afterwards, about 1 s at most" in output
    assert f"PostgreSQL {revisions()[-1]}" in output
    assert "in total about" in output
    assert standing(previous) == PREVIOUS

    assert said(urls)[0] == 0
    code, output = said(urls, "--plan")
    assert (code, "there is nothing to migrate" in output) == (0, True), output


def test_a_plan_for_empty_databases_has_every_step(urls: StackUrls) -> None:
    code, output = said(urls, "--plan")
    assert code == 0, output
    steps = [
        line for line in output.splitlines() if line.startswith(("PostgreSQL 0", "ClickHouse 0"))
    ]
    assert len(steps) == len(revisions()) + clickhouse_migrations.LATEST


def test_a_setting_that_cannot_be_used_is_refused_before_the_first_change(
    previous: Runtime, urls: StackUrls
) -> None:
    for arguments in ((), ("--plan",)):
        code, output = said(urls, *arguments, DEFAULT_USER_PERMISSIONS="standart")
        assert (code, "names no permission set" in output) == (1, True), output
    assert standing(previous) == PREVIOUS


def test_a_copy_needs_room(previous: Runtime) -> None:
    fits = MigrationStep("ClickHouse 0006", "copies a table", room=1000)
    release_checks.require_possible(previous, [fits])
    with pytest.raises(ConfigurationError, match="give it more room"):
        release_checks.require_possible(previous, [fits, fits._replace(room=10**18)])


def test_a_database_of_somebody_else_is_refused(previous: Runtime) -> None:
    """A role that may read and write, and owns nothing."""
    with previous.postgres.engine.connect() as connection:
        role = f"reader_{connection.scalar(text('SELECT current_database()'))}"
        connection.execute(text(f"CREATE ROLE {role}"))
        connection.execute(text(f"SET ROLE {role}"))
        assert connection.scalar(text(release_checks._FOREIGN_TABLES)) is not None
        assert connection.scalar(text(release_checks._MAY_CREATE)) is False
        connection.rollback()


def test_an_old_transaction_and_old_processes_are_warned_about(
    previous: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(release_checks.warnings(previous)) == []
    monkeypatch.setattr(
        release_checks,
        "_LONG_TRANSACTIONS",
        release_checks._LONG_TRANSACTIONS.replace("60 seconds", "0 seconds"),
    )
    postgres_migrations.migrate(previous.postgres.engine, "0011")
    with previous.postgres.engine.connect() as holder:
        holder.execute(text("SELECT count(*) FROM organizations"))
        found = list(release_checks.warnings(previous))
    assert any("a migration may wait for its locks" in one for one in found)
    assert any("stop older ones" in one for one in found)


@pytest.mark.parametrize(
    ("secs", "words"), [(0.0, "1 s at most"), (42.4, "42 s"), (99.0, "99 s"), (600.0, "10 min")]
)
def test_durations(secs: float, words: str) -> None:
    assert duration(secs) == words

"""Migrations of PostgreSQL beside other transactions."""

import threading
from collections.abc import Iterator

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import OperationalError

from shared.foundation.core.errors import Unavailable
from shared.foundation.postgres import Postgres, migrate, online
from shared.foundation.postgres.revisions import current_revision, revisions
from tests.support.databases import empty_postgres
from tests.support.processes import wait_until

# Adds a column to `watched_sessions`.
_BEFORE, _AFTER = "0012", "0013"


@pytest.fixture
def engine(postgres_url: str) -> Iterator[Engine]:
    """A database of the previous release."""
    with empty_postgres(postgres_url) as url:
        postgres = Postgres(url, pool_size=4)
        migrate.migrate(postgres.engine, _BEFORE)
        yield postgres.engine
        postgres.close()


@pytest.fixture
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "LOCK_TIMEOUT_MS", 100)
    monkeypatch.setattr(migrate, "_PAUSE_SECS", 0.2)


@pytest.mark.usefixtures("_hasty")
def test_a_migration_that_waits_for_a_lock_lets_the_service_go_on(engine: Engine) -> None:
    with engine.connect() as holder:
        holder.execute(text("SELECT count(*) FROM watched_sessions"))
        thread = threading.Thread(target=migrate.migrate, args=(engine,))
        thread.start()
        # A statement that waited for the lock for good would hold up this one for good.
        for _ in range(20):
            with engine.begin() as service:
                service.execute(text("SET LOCAL lock_timeout = '10s'"))
                service.execute(text("DELETE FROM watched_sessions WHERE session_id = 'none'"))
        assert current_revision(engine) == _BEFORE
        assert thread.is_alive()
        holder.rollback()
    thread.join(60)
    assert not thread.is_alive()
    assert current_revision(engine) == revisions()[-1]


@pytest.mark.usefixtures("_hasty")
def test_a_lock_that_never_comes_ends_a_migration_with_advice(engine: Engine) -> None:
    with engine.connect() as holder:
        holder.execute(text("SELECT count(*) FROM watched_sessions"))
        with pytest.raises(
            Unavailable, match=r"after 0012 did not get its lock .*pg_stat_activity"
        ):
            migrate.migrate(engine, longest_wait_secs=0.5)
    migrate.migrate(engine)


@pytest.mark.usefixtures("_hasty")
def test_what_is_done_stays_done(engine: Engine) -> None:
    migrate.migrate(engine, _AFTER)
    with engine.connect() as holder:
        holder.execute(text("LOCK TABLE organizations IN SHARE MODE"))
        with pytest.raises(Unavailable, match="after 0013"):
            migrate.migrate(engine, longest_wait_secs=0.5)
    assert current_revision(engine) == _AFTER


def test_an_index_that_was_not_finished_is_built_again(engine: Engine) -> None:
    plain = create_engine(engine.url, isolation_level="AUTOCOMMIT")
    with engine.connect() as old, plain.connect() as interrupted:
        # The build waits for older transactions that changed the table.
        old.execute(text("LOCK TABLE watched_sessions IN ROW EXCLUSIVE MODE"))
        interrupted.execute(text("SET lock_timeout = 200"))
        with pytest.raises(OperationalError):
            interrupted.execute(
                text("CREATE INDEX CONCURRENTLY ix_new ON watched_sessions (org_id)")
            )
    assert validity(engine) == [False]

    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"transaction_per_migration": True})
        with (
            Operations.context(context),
            context.begin_transaction(_per_migration=True),
        ):
            online.create_index("ix_new", "watched_sessions", ["org_id"])
    wait_until(lambda: validity(engine) == [True])
    plain.dispose()


def validity(engine: Engine) -> list[bool]:
    sql = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('ix_new')"
    with engine.connect() as connection:
        return list(connection.scalars(text(sql)))

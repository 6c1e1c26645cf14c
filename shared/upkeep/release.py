"""Migrates both databases to this release: `python -m shared.upkeep.release [--plan]`."""

import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import click
from sqlalchemy import Engine, text

from shared.access.permissions.custom_sets import service as custom_sets
from shared.foundation.clickhouse import migrate as clickhouse_migrations
from shared.foundation.core.config import load_settings
from shared.foundation.core.errors import ConfigurationError, Unavailable
from shared.foundation.core.logs import configure_logging
from shared.foundation.deployment.migration import release
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.deployment.schema import require_not_newer
from shared.foundation.deployment.stores import wait_for_stores
from shared.foundation.postgres.revisions import current_revision
from shared.upkeep.release_checks import require_possible, warnings
from shared.upkeep.release_plan import MigrationStep, duration, steps

# Any number that no other advisory lock of this project uses.
_LOCK_ID = 7_237_003
_LOOK_SECS = 0.2


def run(runtime: Runtime) -> None:
    """Waits for the databases, then migrates them; only one release runs at a time.

    The previous release may serve meanwhile, and goes on if this one fails. Raises
    `ConfigurationError` if the release cannot succeed, usually before it changed anything;
    `Unavailable` if a database does not answer within 30 s, or a lock is not free for 10 minutes.
    """
    _wait(runtime)
    with _alone(runtime.postgres.engine):
        # First, since a plan needs a schema that this code knows.
        require_not_newer(runtime.postgres, runtime.clickhouse)
        require_possible(runtime, steps(runtime))
        release(
            runtime.postgres,
            runtime.clickhouse,
            readonly_url=runtime.settings.clickhouse_readonly_url,
        )
    with runtime.postgres.transaction() as session:
        custom_sets.require_default(session, runtime.settings)
    click.echo(f"{_standing(runtime)}")


def plan(runtime: Runtime) -> None:
    """Prints the steps that `run` would take, with times, and what speaks against it.

    Changes nothing. Raises the errors that `run` would raise before its first change.
    """
    _wait(runtime)
    require_not_newer(runtime.postgres, runtime.clickhouse)
    left = steps(runtime)
    click.echo(_standing(runtime))
    for step in left:
        _show(step)
    if left:
        click.echo(f"in total about {duration(sum(step.secs for step in left))}")
    else:
        click.echo("there is nothing to migrate")
    for warning in warnings(runtime):
        click.echo(f"warning: {warning}")
    require_possible(runtime, left)
    click.echo(
        "the service may run meanwhile; then restart workers, then the clock, then web and"
        " otlp-grpc"
    )


def _show(step: MigrationStep) -> None:
    click.echo(f"{step.name}  {duration(step.secs):>10}  {step.purpose}")
    for note in step.notes:
        click.echo(f"{'':17}{note}")


def _wait(runtime: Runtime) -> None:
    click.echo("waiting for PostgreSQL and ClickHouse ...")
    wait_for_stores(runtime, ("postgres", "clickhouse"))


def _standing(runtime: Runtime) -> str:
    revision = current_revision(runtime.postgres.engine)
    version = clickhouse_migrations.current_version(runtime.clickhouse)
    return f"PostgreSQL stands at {revision or 'nothing'}, ClickHouse at {version:04d}"


@contextmanager
def _alone(engine: Engine) -> Iterator[None]:
    """Waits until no other release runs. The lock ends with its connection.

    It asks again and again, because a statement that waits for the lock would hold up the building
    of indexes, which waits for all older statements.
    """
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("SET idle_session_timeout = 0"))
        while not connection.scalar(text("SELECT pg_try_advisory_lock(:id)"), {"id": _LOCK_ID}):
            time.sleep(_LOOK_SECS)
        try:
            yield
        finally:
            connection.invalidate()


@click.command()
@click.option(
    "--plan", "only_plan", is_flag=True, help="Say what would be done, and change nothing."
)
def main(only_plan: bool) -> None:
    """Migrates both databases; safe to run again."""
    try:
        settings = load_settings()
        configure_logging(settings, "release")
        with closing(Runtime.connect(settings)) as runtime:
            (plan if only_plan else run)(runtime)
    except (ConfigurationError, Unavailable) as error:
        click.echo(f"release: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()

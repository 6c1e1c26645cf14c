"""Restores and imports whose process is killed: nothing is half there, and the next run ends it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from devstack import DevStack
from shared.access.organizations import lifecycle
from shared.foundation.core.errors import ConfigurationError, Conflict
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.deployment.schema import require_current
from shared.foundation.objects import open_objects
from shared.intake.ingest import stream
from shared.upkeep.backup.create import create
from shared.upkeep.backup.moving import import_organization
from tests.support.databases import empty_databases, environment
from tests.support.runtime import Org, connected, make_org, migrated, settings_for
from tests.support.tenants import EVENTS, fill, footprint

pytestmark = pytest.mark.flow

STORES = "shared.upkeep.backup"
SLUG = "copy"


def quiet(_progress: str) -> None:
    """Takes progress that no test reads."""


@dataclass(frozen=True)
class Tool:
    """The operator's tool on the stores of a deployment."""

    runtime: Runtime
    environ: dict[str, str]

    def run(self, *words: str) -> tuple[int, str]:
        """Returns the code of a command, and what it says about its progress or error."""
        done = self._run("orgctl", *words)
        return done.returncode, done.stderr

    def is_killed_at(self, place: str, number: int, *words: str) -> None:
        """Runs a command that is killed before a call of a function."""
        done = self._run("tests.support.killed_at", place, str(number), *words)
        assert done.returncode == -signal.SIGKILL, done.stderr

    def _run(self, module: str, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", module, *words],
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def slugs(self) -> set[str]:
        """Returns the slugs of all organizations."""
        with self.runtime.postgres.transaction() as session:
            return set(session.scalars(text("SELECT slug FROM organizations")))


@contextmanager
def deployment(stack: DevStack) -> Iterator[Tool]:
    """Yields the tool on new databases and an empty Redis."""
    with empty_databases(stack.urls) as urls:
        settings = settings_for(urls)
        migrated(settings)
        with connected(settings) as runtime:
            runtime.redis.flushdb()
            yield Tool(runtime, {**os.environ, **environment(urls)})
            runtime.redis.flushdb()


def counts(runtime: Runtime, org: Org) -> dict[str, Any]:
    """Returns the rows of an organization by place, without logs of what was done to them."""
    found = footprint(runtime, org)
    rows = {name: len(rows) for name, rows in found.postgres.items()}
    for name in ("receipt_flushes", "audit_log", "sign_in_codes", "sign_in_sessions"):
        rows.pop(name, None)
    stored = {name: count for name, (count, _) in found.clickhouse.items()}
    batches = len(list(stream.waiting_entries(runtime.redis, org.id)))
    return {**rows, **stored, "batches": batches, "letters": found.dead_letters}


def test_a_restore_that_is_killed_anywhere_is_run_again(stack: DevStack, tmp_path: Path) -> None:
    place = str(tmp_path / "backup")
    with deployment(stack) as here:
        orgs = [make_org(here.runtime) for _ in range(2)]
        for org in orgs:
            fill(here.runtime, org)
        create(here.runtime, open_objects(place), quiet)
        before = [counts(here.runtime, org) for org in orgs]
    with deployment(stack) as there:
        for at, number in (
            (f"{STORES}.in_postgres:copy_in", 5),
            (f"{STORES}.in_clickhouse:copy_in", 2),
            (f"{STORES}.in_redis:copy_in", 2),
            (f"{STORES}.restore:renew_epoch", 1),
        ):
            there.is_killed_at(at, number, "backup", "restore", place)
            with pytest.raises(ConfigurationError, match="not finished"):
                require_current(there.runtime.postgres, there.runtime.clickhouse)
        code, said = there.run("backup", "restore", place)
        assert code == 0, said
        assert "a restore was interrupted: beginning again" in said
        require_current(there.runtime.postgres, there.runtime.clickhouse)
        assert [counts(there.runtime, org) for org in orgs] == before
        assert all(footprint(there.runtime, org).is_active for org in orgs)


@pytest.fixture(scope="module")
def busy(stack: DevStack) -> Iterator[tuple[Tool, Org]]:
    """A deployment with an organization."""
    with deployment(stack) as here:
        org = make_org(here.runtime)
        fill(here.runtime, org)
        yield here, org


@pytest.fixture(scope="module")
def exported(busy: tuple[Tool, Org], tmp_path_factory: pytest.TempPathFactory) -> str:
    here, org = busy
    place = str(tmp_path_factory.mktemp("exports") / "one")
    with here.runtime.postgres.transaction() as session:
        organization = lifecycle.require(session, org.slug)
    create(here.runtime, open_objects(place), quiet, organization)
    return place


@pytest.mark.parametrize(
    ("at", "number"),
    [("in_postgres:copy_in", 5), ("in_clickhouse:copy_in", 2), ("in_redis:copy_in", 2)],
)
def test_an_import_that_is_killed_shows_nothing_and_is_run_again(
    busy: tuple[Tool, Org], exported: str, at: str, number: int
) -> None:
    here, org = busy
    before = footprint(here.runtime, org)
    slug = f"{SLUG}-{at.partition(':')[0].replace('_', '-')}"
    words = ("org", "import", exported, "--slug", slug)
    here.is_killed_at(f"{STORES}.{at}", number, *words)
    assert slug not in here.slugs()
    code, said = here.run(*words)
    assert code == 0, said
    require_whole(here, org, slug)
    assert footprint(here.runtime, org) == before


@pytest.mark.parametrize("at", ["moving:watch_again", "in_redis:activate"])
def test_an_import_that_is_killed_at_its_end_is_ended_by_the_next_run(
    busy: tuple[Tool, Org], exported: str, at: str
) -> None:
    here, org = busy
    slug = f"{SLUG}-{at.partition(':')[2].replace('_', '-')}"
    words = ("org", "import", exported, "--slug", slug)
    here.is_killed_at(f"{STORES}.{at}", 1, *words)
    assert slug in here.slugs()
    code, said = here.run(*words)
    assert code == 0, said
    require_whole(here, org, slug)
    with pytest.raises(Conflict, match="was imported as"):
        import_organization(here.runtime, open_objects(exported), quiet, slug)


def require_whole(here: Tool, org: Org, slug: str) -> None:
    """Checks that the copy has what its original has, and that workers find what waits."""
    with here.runtime.postgres.transaction() as session:
        found = lifecycle.require(session, slug)
        lines = session.scalar(
            text(
                "SELECT count(*) FROM audit_log"
                " WHERE org_id = :org AND action = 'organization.import'"
            ),
            {"org": found.id},
        )
    copy = Org(found.id, slug)
    assert lines == 1
    assert counts(here.runtime, copy) == counts(here.runtime, org)
    assert counts(here.runtime, copy)["events"] == EVENTS
    assert footprint(here.runtime, copy).is_active

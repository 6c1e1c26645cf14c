"""`service-orgctl exports`: list, backfill and rewrite."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from devstack import DevStack
from orgctl.cli import main
from shared.foundation.deployment.runtime import Runtime
from tests.support.events import event
from tests.support.exports import Site
from tests.support.runtime import Org

Run = Callable[..., Result]
NAMES = [f"{rows}/hourly/date=2026-11-02/2026-11-02T10.ndjson" for rows in ("events", "sessions")]


@pytest.fixture
def run(migrated_stack: DevStack) -> Run:
    """Runs a command against the stack."""
    urls = migrated_stack.urls
    environ = {
        "DATABASE_URL": urls.database_url,
        "REDIS_URL": urls.redis_url,
        "CLICKHOUSE_URL": urls.clickhouse_url,
    }
    return lambda *words: CliRunner(env=environ).invoke(main, ["exports", *words])


@pytest.fixture
def site(runtime: Runtime, org: Org, tmp_path: Path) -> Site:
    site = Site(runtime, org, str(tmp_path))
    site.store(event("s-1", "10:00:00"))
    return site


def test_a_backfill_writes_files_for_an_earlier_time(run: Run, site: Site) -> None:
    slug = site.org.slug
    site.set(exports__schedule="hourly")
    site.look()
    assert run("list", slug).output == "none\n"
    done = run("backfill", slug, "--since", "2026-11-02T09:30:00Z")
    assert done.output == f"the files of {slug} begin at 2026-11-02T09:00:00.000000Z\n"
    site.look()
    listed = json.loads(run("list", slug, "--json").output)
    assert [(one["name"], one["rows"], one["state"]) for one in listed] == [
        (name, 1, "current") for name in NAMES
    ]


def test_a_later_beginning_changes_nothing(run: Run, site: Site) -> None:
    site.begin()
    done = run("backfill", site.org.slug, "--since", "2026-11-20")
    assert "begin at 2026-11-02T00:00:00" in done.output


def test_lost_files_are_written_again(run: Run, site: Site) -> None:
    site.begin()
    site.look()
    for name in NAMES:
        site.objects.delete(f"{site.org.id}/{name}")
    slug = site.org.slug
    for words, marked in (
        (("--since", "2026-11-01", "--until", "2026-11-02T10:00:00Z"), 0),
        (("--since", "2026-11-02"), 2),
    ):
        done = run("rewrite", slug, *words)
        assert done.output == f"{marked} files will be written again\n"
    assert "to be written again" in run("list", slug).output
    site.look()
    assert site.names == NAMES


@pytest.mark.parametrize("words", [("backfill",), ("rewrite",)])
def test_without_a_schedule_a_command_says_how_to_get_one(
    run: Run, org: Org, words: tuple[str, ...]
) -> None:
    done = run(*words, org.slug, "--since", "2026-11-02")
    assert done.exit_code == 1
    assert "set exports.schedule to hourly or daily" in done.output


def test_an_unknown_organization_is_named(run: Run) -> None:
    done = run("list", "no-such-org")
    assert done.exit_code == 1
    assert "no-such-org" in done.output

"""`service-orgctl org`: rename, delete, restore and purge, with immediate effect on requests."""

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from devstack import DevStack
from orgctl.cli import main
from shared.access import organizations
from shared.access.identity import Authenticator, Credential
from shared.foundation.core.errors import NotFound, Unauthorized
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers, new_key
from tests.support.people import add_member, signed_in
from tests.support.runtime import Org
from tests.support.tenants import EVENTS, SESSIONS, fill, footprint

COMMAND = Path(sys.executable).parent / "service-orgctl"

Run = Callable[..., Result]


@pytest.fixture
def environ(migrated_stack: DevStack) -> dict[str, str]:
    """The variables that point a command to the stack."""
    urls = migrated_stack.urls
    return {
        "DATABASE_URL": urls.database_url,
        "REDIS_URL": urls.redis_url,
        "CLICKHOUSE_URL": urls.clickhouse_url,
    }


@pytest.fixture
def run(environ: dict[str, str]) -> Run:
    """Runs `service-orgctl org …` against the stack."""
    return lambda *words: CliRunner(env=environ).invoke(main, ["org", *words])


@pytest.fixture
def authenticator(runtime: Runtime) -> Authenticator:
    """An authenticator with its cache, as in another process."""
    return Authenticator(runtime)


def credential(headers: Headers, org_slug: str | None = None) -> Credential:
    return Credential.of(headers["Authorization"].removeprefix("Bearer ").encode(), org_slug)


def rows(run: Run, *words: str) -> dict[str, dict[str, str | None]]:
    """Returns the listed organizations by slug."""
    return {row["slug"]: row for row in json.loads(run("list", "--json", *words).stdout)}


def test_a_deleted_organization_opens_nothing_until_it_is_restored(
    run: Run, runtime: Runtime, org: Org, authenticator: Authenticator
) -> None:
    user_id = add_member(runtime, org)
    credentials = [credential(new_key(runtime, org)), credential(signed_in(runtime, user_id))]
    for one in credentials:
        assert authenticator.authenticate(one).org_id == org.id
    deleted = run("delete", org.slug, "--json")
    assert deleted.exit_code == 0
    assert json.loads(deleted.stdout)["deleted_at"] is not None
    for one in credentials:
        with pytest.raises(Unauthorized):
            authenticator.authenticate(one)
    assert org.slug not in rows(run)
    assert rows(run, "--deleted")[org.slug] == json.loads(deleted.stdout)
    assert run("restore", org.slug).output == f"restored {org.slug} ({org.id})\n"
    for one in credentials:
        assert authenticator.authenticate(one).org_id == org.id
    assert rows(run)[org.slug]["deleted_at"] is None


def test_a_new_slug_holds_at_once(
    run: Run, runtime: Runtime, org: Org, authenticator: Authenticator
) -> None:
    headers = new_key(runtime, org)
    assert authenticator.authenticate(credential(headers)).org_slug == org.slug
    slug = f"new-{secrets.token_hex(4)}"
    renamed = run("rename", org.slug, "--name", "Neu & Söhne", "--new-slug", slug, "--json")
    row = json.loads(renamed.stdout)
    assert (row["id"], row["slug"], row["name"]) == (org.id, slug, "Neu & Söhne")
    assert authenticator.authenticate(credential(headers)).org_slug == slug
    assert authenticator.authenticate(credential(headers, slug)).org_slug == slug
    only_name = json.loads(run("rename", slug, "--name", "Again", "--json").stdout)
    assert (only_name["slug"], only_name["name"]) == (slug, "Again")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("delete", "default"), "'default' is built in and cannot be deleted"),
        (("rename", "default", "--new-slug", "x"), "'default' is built in and keeps its slug"),
        (("delete", "no-such-org"), "there is no organization 'no-such-org'"),
        (("restore", "no-such-org"), "there is no organization 'no-such-org'"),
        (("restore", "default"), "the organization 'default' is not deleted"),
        (("rename", "no-such-org", "--name", "x"), "there is no organization 'no-such-org'"),
        (("rename", "default", "--name", " "), "name: must have 1 to 200 printable characters"),
        (("purge", "default", "--yes", "default"), "the organization 'default' is not deleted"),
        (("purge", "default", "--yes", "defualt"), "the slugs differ"),
    ],
)
def test_an_impossible_command_prints_one_sentence(
    run: Run, words: tuple[str, ...], reason: str
) -> None:
    refused = run(*words)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"Error: {reason}")
    assert refused.stderr.count("\n") == 1


def test_a_deleted_organization_stays_unchanged(run: Run, org: Org) -> None:
    assert run("delete", org.slug).exit_code == 0
    for words in (("delete", org.slug), ("rename", org.slug, "--name", "x")):
        refused = run(*words)
        assert refused.exit_code == 1
        assert refused.stderr == f"Error: the organization {org.slug!r} is deleted\n"
    taken = run("create", org.slug)
    assert "is taken" in taken.stderr


def test_a_slug_that_is_taken_or_none(run: Run, org: Org) -> None:
    assert "is taken" in run("rename", org.slug, "--new-slug", "default").stderr
    assert "reserved" in run("rename", org.slug, "--new-slug", "api").stderr
    assert "1 to 40" in run("rename", org.slug, "--new-slug", "No").stderr
    assert run("rename", org.slug, "--new-slug", org.slug).exit_code == 0
    assert run("rename", org.slug).exit_code == 2


def test_a_purge_reports_the_removed_rows(run: Run, runtime: Runtime, org: Org) -> None:
    fill(runtime, org)
    keys = len(footprint(runtime, org).redis)
    run("delete", org.slug)
    assert run("purge", org.slug).exit_code == 2
    done = run("purge", org.slug, "--yes", org.slug, "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert (told["id"], told["slug"]) == (org.id, org.slug)
    assert told["clickhouse"] == {
        "agent_sessions": SESSIONS,
        "evaluations": SESSIONS,
        "own_evaluations": SESSIONS,
        "events": EVENTS,
    }
    assert told["postgres"]["organizations"] == 1
    assert told["postgres"]["memberships"] == told["postgres"]["users"] == 1
    assert told["redis"] == {
        "waiting_batches": 2,
        "waiting_records": 0,
        "dead_letters": 1,
        "keys": keys - 1,
    }
    assert f"purging {org.slug}: ClickHouse: events" in done.stderr
    assert footprint(runtime, org).is_empty
    assert org.slug not in rows(run, "--deleted")


def test_people_get_a_table_of_what_was_removed(run: Run, runtime: Runtime, org: Org) -> None:
    fill(runtime, org)
    run("delete", org.slug)
    lines = run("purge", org.slug, "--yes", org.slug).stdout.splitlines()
    assert lines[0] == f"purged {org.slug} ({org.id})"
    assert lines[1].split() == ["store", "what", "removed"]
    assert ["clickhouse", "events", str(EVENTS)] in [line.split() for line in lines[2:]]
    assert all(line.split()[2] != "0" for line in lines[2:])


def test_a_purge_that_is_killed_is_run_again(
    run: Run, runtime: Runtime, org: Org, environ: dict[str, str]
) -> None:
    fill(runtime, org)
    run("delete", org.slug)
    command = [str(COMMAND), "org", "purge", org.slug, "--yes", org.slug]
    with runtime.postgres.transaction() as session:
        # A worker's hold delays the end of the purge for as long as the test needs.
        organizations.hold(session, [org.uuid])
        with subprocess.Popen(
            command,
            env={"PATH": os.environ["PATH"], **environ},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            assert any("waiting for rows that are being stored" in line for line in process.stderr)
            process.send_signal(signal.SIGKILL)
    assert footprint(runtime, org).postgres["organizations"]
    again = run("purge", org.slug, "--yes", org.slug, "--json")
    assert json.loads(again.stdout)["postgres"]["organizations"] == 1
    assert footprint(runtime, org).is_empty
    with pytest.raises(NotFound), runtime.postgres.transaction() as session:
        organizations.lifecycle.require_deleted(session, org.slug)


def test_a_store_that_is_away_is_said_in_a_sentence(run: Run, environ: dict[str, str]) -> None:
    for name, url in (
        ("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/x"),
        ("REDIS_URL", "redis://127.0.0.1:1/0"),
    ):
        environ[name] = url
        refused = run("delete", "acme")
        assert refused.exit_code == 1
        assert refused.stderr.splitlines()[-1].endswith(" is unavailable")
        assert refused.stderr.splitlines()[-1].endswith(" unavailable")

"""`service-orgctl` as an operator runs it, without a web tier."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from devstack import DevStack
from tests.support.databases import empty_databases, environment
from tests.support.runtime import migrated, settings_for

COMMAND = Path(sys.executable).parent / "service-orgctl"

Result = subprocess.CompletedProcess[str]
Orgctl = Callable[..., Result]


def run(environ: dict[str, str], *arguments: str) -> Result:
    """Runs the command and returns its result."""
    return subprocess.run(
        [COMMAND, *arguments],
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="module")
def orgctl(stack: DevStack) -> Iterator[Orgctl]:
    """The command on separate migrated databases."""
    with empty_databases(stack.urls) as urls:
        migrated(settings_for(urls))
        yield lambda *arguments: run(environment(urls), *arguments)


def test_a_created_organization_is_listed(orgctl: Orgctl) -> None:
    slug = f"acme-{secrets.token_hex(3)}"
    made = orgctl("org", "create", slug, "--name", "Acme & Söhne", "--json")
    assert (made.returncode, made.stderr) == (0, "")
    row = json.loads(made.stdout)
    assert row.keys() == {"id", "slug", "name", "created_at", "deleted_at"}
    assert (row["slug"], row["name"], row["deleted_at"]) == (slug, "Acme & Söhne", None)
    listed = json.loads(orgctl("org", "list", "--json").stdout)
    assert row in listed
    assert [other["slug"] for other in listed] == sorted(other["slug"] for other in listed)
    assert "default" in {other["slug"] for other in listed}


def test_people_get_lines(orgctl: Orgctl) -> None:
    slug = f"plain-{secrets.token_hex(3)}"
    made = orgctl("org", "create", slug)
    assert made.stdout.startswith(f"created {slug} (")
    table = orgctl("org", "list").stdout.splitlines()
    assert table[0].split() == ["id", "slug", "name", "created_at", "deleted_at"]
    assert any(line.split()[1:3] == [slug, slug] for line in table)


@pytest.mark.parametrize(
    ("slug", "reason"), [("default", "is taken"), ("api", "reserved"), ("No", "1 to 40 characters")]
)
def test_an_impossible_command_prints_one_sentence(orgctl: Orgctl, slug: str, reason: str) -> None:
    refused = orgctl("org", "create", slug)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert reason in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.flow
def test_help_asks_for_nothing() -> None:
    for arguments in (["--help"], ["org", "--help"], ["org", "create", "--help"]):
        helped = run({}, *arguments)
        assert helped.returncode == 0
        assert "Usage:" in helped.stdout


def test_a_bad_environment_is_said_in_a_sentence(stack: DevStack) -> None:
    unset = run({}, "org", "list")
    assert (unset.returncode, unset.stderr) == (1, "Error: DATABASE_URL is not set\n")
    with empty_databases(stack.urls) as urls:
        empty = run(environment(urls), "org", "list")
    assert empty.returncode == 1
    assert empty.stderr == "Error: PostgreSQL is not migrated yet: run `bin/release` first\n"

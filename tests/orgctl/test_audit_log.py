"""`service-orgctl audit-log`: the operator's own log, and every command in it."""

import json
from collections.abc import Callable
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from devstack import DevStack
from orgctl.caller import READING
from orgctl.cli import main
from shared.foundation.deployment.runtime import Runtime
from tests.support.people import new_email
from tests.support.runtime import Org

Run = Callable[..., Result]


@pytest.fixture
def run(migrated_stack: DevStack) -> Run:
    """Runs a command against the stack."""
    urls = migrated_stack.urls
    environ = {
        "DATABASE_URL": urls.database_url,
        "REDIS_URL": urls.redis_url,
        "CLICKHOUSE_URL": urls.clickhouse_url,
        "SUDO_USER": "olga",
        "SSH_CLIENT": "203.0.113.7 50000 22",
    }
    return lambda *words: CliRunner(env=environ).invoke(main, words)


def listed(run: Run, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("audit-log", "list", "--json", *words).output)
    return found


def test_a_command_is_in_both_logs(run: Run, runtime: Runtime, org: Org) -> None:
    email = new_email()
    assert run("member", "add", org.slug, email, "--set", "read-only").exit_code == 0
    assert run("member", "list", org.slug).exit_code == 0
    [newest, *_] = listed(run, "--limit", "1")
    assert newest["action"] == "orgctl.member_add"
    assert newest["after"] == {"slug": org.slug, "email": email, "permission_set": "read-only"}
    assert (newest["actor_kind"], newest["actor"]) == ("operator", "olga")
    assert (newest["address"], newest["way"]) == ("203.0.113.7", "orgctl")
    [own] = listed(run, "--org", org.slug)
    assert (own["action"], own["target"], own["actor"]) == ("user.create", email, "olga")
    assert own["request_id"] == newest["request_id"]
    assert f"slug={org.slug}" in run("audit-log", "list", "--limit", "1").output


def test_a_command_that_fails_is_recorded(run: Run) -> None:
    assert run("org", "delete", "no-such-organization").exit_code == 1
    [newest, *_] = listed(run, "--limit", "1", "--action", "orgctl.org_delete")
    assert newest["after"] == {"slug": "no-such-organization"}


def test_the_log_outlives_the_organization(run: Run) -> None:
    slug = new_email().partition("@")[0][:30]
    for words in (("create", slug), ("delete", slug), ("purge", slug, "--yes", slug)):
        assert run("org", *words).exit_code == 0, words
    actions = [line["action"] for line in listed(run, "--limit", "3")]
    assert actions == ["orgctl.org_purge", "orgctl.org_delete", "orgctl.org_create"]


def test_only_commands_that_read_have_the_names_of_reading() -> None:
    """Another command that only reads is named `list` or `show`, or leaves a line."""
    names = [
        name
        for group in main.commands.values()
        if isinstance(group, click.Group)
        for name in group.commands
    ]
    assert set(names) > READING
    assert {"create", "drop", "purge", "retry", "update"}.isdisjoint(READING)

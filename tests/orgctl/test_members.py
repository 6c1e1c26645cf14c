"""`service-orgctl member`: the operator's changes, with immediate effect."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import func, select

from devstack import DevStack
from orgctl.cli import main
from shared.access import users
from shared.access.identity import Authenticator, Credential
from shared.access.mail.models import Mail
from shared.access.permissions import ALL, BUILTIN_SETS
from shared.access.permissions.custom_sets import service as permission_sets
from shared.access.permissions.custom_sets.service import SetRecord
from shared.access.users import Membership, User
from shared.assistant.conversations import service as conversations
from shared.assistant.conversations.models import Conversation
from shared.foundation.cache import at_once
from shared.foundation.core.errors import Unauthorized
from shared.foundation.deployment.runtime import Runtime
from tests.support.people import add_member, new_email, signed_in
from tests.support.runtime import Org, make_org

Run = Callable[..., Result]

STANDARD = BUILTIN_SETS["standard"].permissions


@pytest.fixture
def run(migrated_stack: DevStack) -> Run:
    """Runs `service-orgctl member …` against the stack."""
    urls = migrated_stack.urls
    environ = {
        "DATABASE_URL": urls.database_url,
        "REDIS_URL": urls.redis_url,
        "CLICKHOUSE_URL": urls.clickhouse_url,
    }
    return lambda *words: CliRunner(env=environ).invoke(main, ["member", *words])


def told(result: Result) -> dict[str, Any]:
    """Runs a command that succeeds and returns its JSON."""
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_new_member_gets_the_set_of_new_members(run: Run, org: Org) -> None:
    made = told(run("add", org.slug, "  Ada@Example.COM ", "--json"))
    assert made["email"] == "ada@example.com"
    assert (made["permission_set"], made["is_protected"]) == ("standard", False)
    assert set(made["permissions"]) == STANDARD
    assert json.loads(run("list", org.slug, "--json").stdout) == [made]
    again = run("add", org.slug, "ada@example.com")
    assert (again.exit_code, again.stdout) == (1, "")
    assert again.stderr == "Error: ada@example.com is already a member\n"


def test_only_here_is_orgs_admin_given(run: Run, org: Org) -> None:
    wanted = ["--set", "admin", "--add", "orgs:admin", "--remove", "keys:create", "--protected"]
    made = told(run("add", org.slug, new_email(), *wanted, "--json"))
    assert set(made["permissions"]) == ALL - {"keys:create"}
    assert (made["permission_added"], made["permission_removed"]) == (
        ["orgs:admin"],
        ["keys:create"],
    )
    assert made["is_protected"] is True


def test_an_account_of_another_organization_becomes_a_member_here_too(
    run: Run, runtime: Runtime, org: Org
) -> None:
    email = new_email()
    account = add_member(runtime, make_org(runtime), email=email)
    made = told(run("add", org.slug, email, "--no-set", "--add", "events:read", "--json"))
    assert made["id"] == str(account)
    assert (made["permission_set"], made["permissions"]) == (None, ["events:read"])


def test_an_update_replaces_what_is_said_and_keeps_the_rest(run: Run, org: Org) -> None:
    email = new_email()

    def update(*words: str) -> tuple[object, ...]:
        row = told(run("update", org.slug, email, *words, "--json"))
        return row["permission_set"], row["permission_added"], row["permission_removed"]

    run("add", org.slug, email, "--add", "keys:create", "--remove", "agent:use")
    assert update("--set", "read-only") == ("read-only", ["keys:create"], ["agent:use"])
    assert update("--add", "orgs:admin", "--add", "events:add") == (
        "read-only",
        ["orgs:admin", "events:add"],
        ["agent:use"],
    )
    assert update("--no-remove") == ("read-only", ["orgs:admin", "events:add"], [])
    assert update("--no-add", "--remove", "events:read") == ("read-only", [], ["events:read"])
    assert update("--no-set") == (None, [], ["events:read"])


def test_an_organizations_own_set_can_be_given(run: Run, runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        wanted = SetRecord("on-call", "", ("events:read",), is_builtin=False)
        permission_sets.create(session, org.uuid, wanted, granter=ALL)
    made = told(run("add", org.slug, new_email(), "--set", "on-call", "--json"))
    assert made["permissions"] == ["events:read"]


def test_changes_hold_at_once_for_who_is_signed_in(run: Run, runtime: Runtime, org: Org) -> None:
    email = new_email()
    headers = signed_in(runtime, add_member(runtime, org, "events:read", email=email))
    credential = Credential.of(headers["Authorization"].removeprefix("Bearer ").encode())
    authenticator = Authenticator(runtime)
    assert authenticator.authenticate(credential).permissions == {"events:read"}
    told(run("update", org.slug, email, "--add", "keys:read", "--json"))
    assert authenticator.authenticate(credential).permissions == {"keys:read"}
    assert run("remove", org.slug, email).output == f"removed {email} and the account\n"
    with pytest.raises(Unauthorized):
        authenticator.authenticate(credential)


def test_protection_does_not_bind_the_operator(run: Run, org: Org) -> None:
    email = new_email()
    run("add", org.slug, email)
    assert told(run("protect", org.slug, email, "--json"))["is_protected"] is True
    assert told(run("update", org.slug, email, "--set", "admin", "--json"))["is_protected"] is True
    assert told(run("unprotect", org.slug, email, "--json"))["is_protected"] is False
    run("protect", org.slug, email)
    assert run("remove", org.slug, email).exit_code == 0


def test_an_account_and_its_conversations_go_with_their_last_membership(
    run: Run, runtime: Runtime, org: Org
) -> None:
    email, elsewhere = new_email(), make_org(runtime)
    user_id = add_member(runtime, org, email=email)
    add_member(runtime, elsewhere, email=email)
    with runtime.postgres.transaction() as session:
        for org_id in (org.uuid, elsewhere.uuid):
            conversations.create(session, org_id, user_id)

    def conversations_left() -> int | None:
        with runtime.postgres.transaction() as session:
            mine = select(func.count()).where(Conversation.user_id == user_id)
            return session.scalar(mine)

    assert told(run("remove", org.slug, email, "--json"))["account_removed"] is False
    assert conversations_left() == 1
    with runtime.postgres.transaction() as session:
        assert session.get(Membership, (org.uuid, user_id)) is None
        assert session.get(User, user_id) is not None
    assert told(run("remove", elsewhere.slug, email, "--json"))["account_removed"] is True
    assert conversations_left() == 0


def test_a_disabled_member_stays_so_unless_it_is_enabled(
    run: Run, runtime: Runtime, org: Org
) -> None:
    email = new_email()
    user_id = add_member(runtime, org, email=email)
    with at_once(runtime.postgres, runtime.redis) as session:
        users.service.disable(session, org.uuid, str(user_id))
    updated = told(run("update", org.slug, email, "--set", "standard", "--json"))
    assert updated["disabled_at"] is not None
    assert told(run("update", org.slug, email, "--enable", "--json"))["disabled_at"] is None


def test_people_get_lines_and_no_mail_is_sent(run: Run, runtime: Runtime, org: Org) -> None:
    emails = sorted(new_email() for _ in range(2))
    for email in emails:
        assert run("add", org.slug, email, "--add", "keys:create").stdout.startswith(
            f"added {email} ("
        )
    lines = [line.split() for line in run("list", org.slug).stdout.splitlines()]
    columns = ["id", "email", "permission_set", "added", "removed", "protected", "disabled_at"]
    assert lines[0] == columns
    assert [line[1:] for line in lines[1:]] == [
        [email, "standard", "keys:create", "-", "-", "-"] for email in emails
    ]
    with runtime.postgres.transaction() as session:
        sent = select(func.count()).select_from(Mail).where(Mail.org_id == org.uuid)
        assert session.scalar(sent) == 0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("add", "{org}", "no address"), "email: must be an e-mail address"),
        (("add", "{org}", "a@example.com", "--set", "x"), "permission_set: there is no"),
        (("add", "{org}", "a@example.com", "--add", "x:y"), "permission_added: 'x:y' is not a"),
        (("update", "{org}", "a@example.com", "--enable"), "a@example.com is not a member"),
        (("remove", "{org}", "a@example.com"), "a@example.com is not a member"),
        (("protect", "{org}", "a@example.com"), "a@example.com is not a member"),
        (("add", "no-such-org", "a@example.com"), "there is no organization 'no-such-org'"),
        (("list", "no-such-org"), "there is no organization 'no-such-org'"),
    ],
)
def test_an_impossible_command_prints_one_sentence(
    run: Run, org: Org, words: tuple[str, ...], reason: str
) -> None:
    refused = run(*(word.format(org=org.slug) for word in words))
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"Error: {reason}")
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words", [(), ("--set", "admin", "--no-set"), ("--add", "events:add", "--no-add")]
)
def test_conflicting_options_are_refused(run: Run, org: Org, words: tuple[str, ...]) -> None:
    assert run("update", org.slug, "a@example.com", *words).exit_code == 2

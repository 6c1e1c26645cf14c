"""`service-orgctl mail`: list, retry and drop, and the automatic removal of old mails."""

import json
from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import RowMapping, text

from devstack import DevStack
from orgctl.cli import main
from shared.access.mail import Letter, administration, enqueue
from shared.foundation.deployment.runtime import Runtime
from tests.support.runtime import Org, make_org

CONTEXT = {"org_name": "Acme", "invited_by": "bob@example.net"}
NOBODY = "00000000-0000-4000-8000-000000000000"

Run = Callable[..., Result]
Sql = Callable[..., Sequence[RowMapping]]


@pytest.fixture
def run(migrated_stack: DevStack) -> Run:
    """Runs a command against the stack."""
    urls = migrated_stack.urls
    environ = {
        "DATABASE_URL": urls.database_url,
        "REDIS_URL": urls.redis_url,
        "CLICKHOUSE_URL": urls.clickhouse_url,
    }
    return lambda *words, **options: CliRunner(env=environ).invoke(
        main, ["mail", *words], **options
    )


@pytest.fixture
def sql(runtime: Runtime) -> Sql:
    """Runs SQL."""

    def execute(statement: str, **params: object) -> Sequence[RowMapping]:
        with runtime.postgres.transaction() as session:
            result = session.connection().execute(text(statement), params)
            return result.mappings().all() if result.returns_rows else []

    return execute


@pytest.fixture
def mails(runtime: Runtime, org: Org, sql: Sql) -> Iterator[list[str]]:
    """Stores a queued, a sent and two failed mails, one with a code, and returns their ids."""
    sql("DELETE FROM mails")
    ids = []
    for kind, org_id in (
        ("invitation", org.uuid),
        ("invitation", None),
        ("invitation", org.uuid),
        ("code", None),
    ):
        context = CONTEXT if kind == "invitation" else {}
        with runtime.postgres.transaction() as session:
            letter = Letter(kind, "ann@example.net", org_id, context)
            ids.append(str(enqueue(session, runtime.queue, letter)))
    end = "UPDATE mails SET status = :status, finished_at = now(), attempts = 3 WHERE id = :id"
    sql(end, status="sent", id=UUID(ids[1]))
    for failed in ids[2:]:
        sql(end, status="failed", id=UUID(failed))
    sql("UPDATE mails SET last_error = 'no', expires_at = now() WHERE status = 'failed'")
    yield ids
    sql("DELETE FROM mails")


def statuses(sql: Sql) -> dict[str, str]:
    return {str(row["id"]): row["status"] for row in sql("SELECT id, status FROM mails")}


def test_list(run: Run, mails: list[str], org: Org) -> None:
    rows = json.loads(run("list", "--json").output)
    assert [row["id"] for row in rows] == mails[::-1]
    failed, queued = rows[1], rows[3]
    assert (failed["org"], failed["kind"], failed["status"]) == (org.slug, "invitation", "failed")
    assert (failed["recipient"], failed["attempts"]) == ("ann@example.net", 3)
    assert (failed["last_error"], failed["next_attempt_at"]) == ("no", None)
    assert failed["finished_at"] is not None
    assert queued["next_attempt_at"] is not None
    assert "bob@example.net" not in run("list").output


def test_list_can_be_narrowed(
    run: Run, mails: list[str], runtime: Runtime, org: Org, sql: Sql
) -> None:
    sql(
        "UPDATE mails SET org_id = :org_id WHERE id = :id",
        org_id=make_org(runtime).uuid,
        id=UUID(mails[1]),
    )

    def ids(*options: str) -> list[str]:
        return [row["id"] for row in json.loads(run("list", "--json", *options).output)]

    assert ids("--status", "failed") == [mails[3], mails[2]]
    assert ids("--org", org.slug) == [mails[2], mails[0]]
    assert ids("--org", org.slug, "--status", "queued", "--limit", "1") == [mails[0]]
    assert ids("--limit", "2") == [mails[3], mails[2]]
    unknown = run("list", "--org", "nobody")
    assert (unknown.exit_code, unknown.output) == (1, "Error: there is no organization nobody\n")


def test_a_retried_mail_has_as_much_time_as_a_new_one(run: Run, mails: list[str], sql: Sql) -> None:
    result = run("retry", mails[2])
    assert (result.exit_code, result.output) == (0, "1 queued again\n")
    [row] = sql(
        "SELECT status, attempts, finished_at, next_attempt_at <= now() AS due,"
        " expires_at > now() + interval '47 hours' AS lasts FROM mails WHERE id = :id",
        id=UUID(mails[2]),
    )
    assert dict(row) == {
        "status": "queued",
        "attempts": 0,
        "finished_at": None,
        "due": True,
        "lasts": True,
    }


def test_mails_that_did_not_fail_are_left_alone_and_reported(
    run: Run, mails: list[str], sql: Sql
) -> None:
    result = run("retry", *mails, NOBODY)
    assert result.exit_code == 0
    assert "1 queued again" in result.output
    for other in (mails[0], mails[1], mails[3], NOBODY):
        assert f"there is no failed mail {other} to retry" in result.output
    assert list(statuses(sql).values()).count("queued") == 2


def test_codes_are_not_sent_to_people_who_stopped_waiting(
    run: Run, mails: list[str], sql: Sql
) -> None:
    assert run("retry", "--all").output == "1 queued again\n"
    assert statuses(sql)[mails[3]] == "failed"


def test_drop_asks_first_and_takes_failed_ones_only(run: Run, mails: list[str], sql: Sql) -> None:
    assert run("drop", mails[2], input="n\n").exit_code == 1
    assert len(statuses(sql)) == 4
    assert "1 dropped" in run("drop", mails[2], mails[0], "--yes").output
    assert run("drop", "--all", "--yes").output == "1 dropped\n"
    assert statuses(sql) == {mails[0]: "queued", mails[1]: "sent"}


@pytest.mark.parametrize("command", [["retry"], ["drop", "--yes"]])
def test_ids_or_all_must_be_given(run: Run, mails: list[str], command: list[str]) -> None:
    assert run(*command).exit_code == 2
    assert run(*command, mails[0], "--all").exit_code == 2
    nonsense = run(*command, "nonsense")
    assert (nonsense.exit_code, nonsense.output) == (1, "Error: there is no mail nonsense\n")


@pytest.mark.parametrize(("days", "left"), [(29, 4), (31, 3), (89, 3), (91, 1)])
def test_old_mails_are_forgotten(
    runtime: Runtime, mails: list[str], sql: Sql, days: int, left: int
) -> None:
    sql("UPDATE mails SET finished_at = finished_at - make_interval(days => :days)", days=days)
    with runtime.postgres.transaction() as session:
        assert administration.tidy(session) == 4 - left
    assert len(statuses(sql)) == left
    assert statuses(sql)[mails[0]] == "queued"

"""Each queue knows when its next work is due, by rows that nothing announced."""

from collections.abc import Iterator
from functools import partial

import pytest
from sqlalchemy import text

from shared.access.mail import Letter, enqueue
from shared.access.mail import due as mails
from shared.evaluation.evaluation_jobs import due as evaluations
from shared.evaluation.evaluation_jobs.watching import IDLE_ONLY_TIMEOUT_SECS
from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts.evaluation import due as alerts
from shared.watch.audits.runs import due as audits
from shared.watch.incidents.deliveries import due as deliveries
from tests.support.alerting import Watch
from tests.support.audits import AuditBench
from tests.support.evaluator import running_evaluator
from tests.support.jobs import Bench
from tests.support.mails import TO
from tests.support.notifications import WEBHOOK, Desk
from tests.support.runtime import Org
from workers.nudged import NextDue

# Sooner than a queue with leftovers of other tests would look again.
SOON_SECS = 0.6


@pytest.fixture
def evaluated(runtime: Runtime, org: Org) -> Iterator[Bench]:
    """Sessions of an organization that has an evaluator."""
    with running_evaluator() as evaluator:
        bench = Bench(runtime, org, evaluator)
        # Only the oldest session of all organizations counts.
        with runtime.postgres.transaction() as session:
            session.execute(text("DELETE FROM watched_sessions"))
        yield bench
        bench.clean_up()


def due_soon(runtime: Runtime, org: Org, column: str, next_due: NextDue) -> None:
    """Fails unless a row whose `column` (`table.column`) is soon is the next work."""
    table, _, name = column.partition(".")
    moment = "statement_timestamp() + make_interval(secs => :secs)"
    update = text(f"UPDATE {table} SET {name} = {moment} WHERE org_id = :org RETURNING {name}")
    asked_in_time = False
    while not asked_in_time:
        with runtime.postgres.transaction() as session:
            rows = session.execute(update, {"secs": SOON_SECS, "org": org.uuid})
            due_at = rows.scalars().all()[0]
        with runtime.postgres.transaction() as session:
            secs = next_due(session, runtime.settings)
            # A busy machine may take so long that the work is due before the question.
            asked_in_time = session.execute(text("SELECT clock_timestamp()")).scalar_one() < due_at
    assert secs is not None
    assert secs <= SOON_SECS


def test_rules(runtime: Runtime, org: Org) -> None:
    watch = Watch(runtime, org)
    watch.rule()
    due_soon(runtime, org, "alert_states.due_at", partial(alerts.of_rules, is_sql=False))
    watch.sql("UPDATE alert_states SET is_sql = true WHERE org_id = :org_id")
    due_soon(runtime, org, "alert_states.due_at", partial(alerts.of_rules, is_sql=True))
    watch.sql("UPDATE alert_states SET due_at = now() WHERE org_id = :org_id")
    due_soon(runtime, org, "alert_states.lease_expires_at", partial(alerts.of_rules, is_sql=True))
    watch.sql("UPDATE alert_states SET due_at = NULL WHERE org_id = :org_id")


def test_audits_and_their_runs(runtime: Runtime, org: Org) -> None:
    bench = AuditBench(runtime, org)
    audit = bench.make()
    with runtime.postgres.transaction() as session:
        # The first audit decides, and other tests leave theirs, which come due.
        session.execute(text("UPDATE audits SET next_attempt_at = now() + interval '1 day'"))
    due_soon(runtime, org, "audits.next_attempt_at", audits.of_audits)
    bench.request(audit)
    bench.sql(
        "UPDATE audit_runs SET status = 'running', lease_token = id, started_at = now(),"
        " window_from = now(), window_to = now() WHERE org_id = :org_id"
    )
    due_soon(runtime, org, "audit_runs.lease_expires_at", audits.of_runs)
    bench.sql("DELETE FROM audits WHERE org_id = :org_id")


def test_mails(runtime: Runtime, org: Org) -> None:
    context = {"org_name": "Acme", "invited_by": "bob@example.net"}
    letter = Letter(kind="invitation", recipient=TO, org_id=org.uuid, context=context)
    with runtime.postgres.transaction() as session:
        # The oldest mail decides, and other tests leave theirs.
        session.execute(text("DELETE FROM mails"))
        enqueue(session, runtime.queue, letter)
    due_soon(runtime, org, "mails.next_attempt_at", mails.of_mails)
    with runtime.postgres.transaction() as session:
        session.execute(text("DELETE FROM mails WHERE org_id = :org"), {"org": org.uuid})


def test_deliveries(runtime: Runtime, org: Org) -> None:
    desk = Desk(runtime, org)
    desk.set("webhook_default_url", "https://hooks.example.net/")
    desk.open(WEBHOOK)
    due_soon(runtime, org, "notifications.next_attempt_at", deliveries.of_deliveries)
    desk.now_due()
    due_soon(runtime, org, "notifications.lease_expires_at", deliveries.of_deliveries)
    desk.sql("DELETE FROM notifications WHERE org_id = :org_id")


def test_evaluations(evaluated: Bench) -> None:
    runtime, org = evaluated.runtime, evaluated.org
    evaluated.watch("s", has_end=True)
    due_soon(runtime, org, "watched_sessions.check_at", evaluations.of_ended_sessions)
    evaluated.enqueue("t")
    due_soon(runtime, org, "evaluation_jobs.next_attempt_at", evaluations.of_jobs)
    evaluated.sql("UPDATE evaluation_jobs SET next_attempt_at = now() WHERE org_id = :org_id")
    due_soon(runtime, org, "evaluation_jobs.lease_expires_at", evaluations.of_jobs)


def test_idle_sessions_without_a_timeout_of_the_evaluator(evaluated: Bench) -> None:
    evaluated.watch("s", has_end=True, idle_only=True)
    evaluated.pass_time(IDLE_ONLY_TIMEOUT_SECS - SOON_SECS)
    with evaluated.runtime.postgres.transaction() as session:
        secs = evaluations.of_idle_sessions(session, evaluated.runtime.settings)
    assert secs is not None
    assert secs <= SOON_SECS

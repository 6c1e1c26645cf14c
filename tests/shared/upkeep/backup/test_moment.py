"""The moment of a backup: what happens while it is taken, and what a restore does not continue."""

from pathlib import Path

from sqlalchemy import text

from shared.core.clock import now_us
from shared.deployment.runtime import Runtime
from shared.evaluation_jobs.watching import StoredSession, watch_all
from shared.evaluations import store
from shared.events.batch import POSITION_BITS
from shared.objects import open_objects
from shared.organizations import lifecycle
from shared.upkeep.backup.create import create
from shared.upkeep.backup.moving import import_organization
from tests.support.evaluations import evaluation
from tests.support.jobs import insert_job
from tests.support.runtime import Org


def test_a_session_has_its_result_or_its_job(runtime: Runtime, org: Org, tmp_path: Path) -> None:
    with runtime.postgres.transaction() as session:
        insert_job(session, org, "waits")
        watch_all(session, [StoredSession(org.uuid, org.slug, "waits", has_agent_end=False)])
        organization = lifecycle.require(session, org.slug)
        [job] = session.scalars(
            text("SELECT id FROM evaluation_jobs WHERE org_id = :org"), {"org": org.uuid}
        )

    def meanwhile(progress: str) -> None:
        """Ends the job, and stores another session, once PostgreSQL has been read."""
        if not progress.startswith("postgres/watched_sessions"):
            return
        with runtime.postgres.transaction() as session:
            session.execute(
                text("UPDATE evaluation_jobs SET status = 'done' WHERE id = :id"), {"id": job}
            )
        of_job = evaluation(org.id, "waits", now_us(), evaluation_id=str(job))
        store.insert(runtime.clickhouse, [of_job, evaluation(org.id, "telemetry", now_us())])
        runtime.clickhouse.insert(
            "events",
            {
                "org_id": [org.id],
                "id": [1],
                "session_id": ["later"],
                "event_type": ["agent_end"],
                "ts": [now_us()],
                "arrival": [now_us() // 1000 << POSITION_BITS],
            },
        )

    place = open_objects(str(tmp_path / "export"))
    create(runtime, place, meanwhile, organization)
    made = import_organization(runtime, place, meanwhile, f"{org.slug}-copy")
    copy = {"org": made.new_id}
    results = runtime.clickhouse.rows(
        "SELECT session_id FROM evaluations FINAL WHERE org_id = {org:String}",
        {"org": str(made.new_id)},
    )
    assert results == [("telemetry",)]
    with runtime.postgres.transaction() as session:
        jobs = text("SELECT session_id, status FROM evaluation_jobs WHERE org_id = :org")
        assert [tuple(row) for row in session.execute(jobs, copy)] == [("waits", "pending")]
        watched = text(
            "SELECT session_id, idle_only FROM watched_sessions WHERE org_id = :org ORDER BY 1"
        )
        rows = [tuple(row) for row in session.execute(watched, copy)]
    assert rows == [("later", True), ("waits", False)]


def test_a_job_that_an_evaluator_may_have_forgotten_is_sent_again(
    runtime: Runtime, org: Org, tmp_path: Path
) -> None:
    polling = text(
        "UPDATE evaluation_jobs SET status = 'polling', evaluator_job_id = session_id,"
        " poll_deadline_at = now() + make_interval(hours => :hours)"
        " WHERE org_id = :org AND session_id = :session"
    )
    with runtime.postgres.transaction() as session:
        for session_id, hours in (("known", 1), ("forgotten", -1)):
            insert_job(session, org, session_id)
            values = {"org": org.uuid, "session": session_id, "hours": hours}
            session.execute(polling, values)
        organization = lifecycle.require(session, org.slug)
    place = open_objects(str(tmp_path / "export"))
    create(runtime, place, print, organization)
    made = import_organization(runtime, place, print, f"{org.slug}-copy")
    with runtime.postgres.transaction() as session:
        rows = session.execute(
            text(
                "SELECT session_id, status, evaluator_job_id FROM evaluation_jobs"
                " WHERE org_id = :org ORDER BY 1"
            ),
            {"org": made.new_id},
        )
        assert [tuple(row) for row in rows] == [
            ("forgotten", "pending", None),
            ("known", "polling", "known"),
        ]

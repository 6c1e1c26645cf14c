"""The moment of a backup: what happens while it is taken, and what a restore does not continue."""

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import msgspec
from sqlalchemy import text

from shared.access.organizations import lifecycle
from shared.evaluation.evaluation_jobs.watching import StoredSession, watch_all
from shared.foundation.clickhouse.event_columns import POSITION_BITS
from shared.foundation.core.clock import format_ts, now, now_us
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.objects import open_objects
from shared.intake.ingest import stream
from shared.intake.ingest.decode import decode_events
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from shared.reading.evaluations import store
from shared.upkeep.backup.create import create
from shared.upkeep.backup.manifest import Manifest
from shared.upkeep.backup.moving import import_organization
from shared.upkeep.backup.settle import watch_again
from tests.support.evaluations import evaluation
from tests.support.events import event
from tests.support.jobs import insert_job
from tests.support.runtime import Org, make_org

_WATCHED = text("SELECT session_id FROM watched_sessions WHERE org_id = :org ORDER BY 1")


def test_a_session_has_its_result_or_its_job(runtime: Runtime, org: Org, tmp_path: Path) -> None:
    with runtime.postgres.transaction() as session:
        insert_job(session, org, "waits")
        watch_all(
            session,
            [
                StoredSession(org.uuid, org.slug, one, has_agent_end=False)
                for one in ("waits", "ends")
            ],
        )
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
        for session_id in ("later", "ends"):
            store_end(runtime, org, session_id)

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
            "SELECT session_id, idle_only, check_at IS NOT NULL FROM watched_sessions"
            " WHERE org_id = :org ORDER BY 1"
        )
        rows = [tuple(row) for row in session.execute(watched, copy)]
    # Without a timeout of the evaluator, only a check finds the end of "ends".
    assert rows == [("ends", False, True), ("later", True, False), ("waits", False, False)]


def test_a_session_whose_batch_waits_is_watched_once_it_is_stored(
    runtime: Runtime, org: Org, tmp_path: Path
) -> None:
    lines = [event("waiting", "10:00:00", "agent_end")]
    batch = decode_events(lines, org.id, 10_000).batch
    stream.append(runtime.redis, org.id, org.slug, batch)
    with runtime.postgres.transaction() as session:
        organization = lifecycle.require(session, org.slug)
    place = open_objects(str(tmp_path / "export"))
    create(runtime, place, print, organization)
    slug = f"{org.slug}-copy"
    made = import_organization(runtime, place, print, slug)
    assert watched_by(runtime, made.new_id) == []
    evaluating = msgspec.structs.replace(
        runtime.settings, evaluator_endpoint="http://evaluator", evaluator_orgs=slug
    )
    Drain(replace(runtime, settings=evaluating), "c1", IngestRulesCache(runtime)).run()
    assert watched_by(runtime, made.new_id) == ["waiting"]


def test_the_first_sessions_of_an_organization_are_watched_again(
    runtime: Runtime, org: Org
) -> None:
    other = make_org(runtime)
    store_end(runtime, org, "first")
    found = Manifest(
        id="1",
        kind="deployment",
        postgres_revision="",
        clickhouse_version=0,
        point_at=format_ts(now()),
        snapshot_at=format_ts(now()),
    )
    with runtime.postgres.transaction() as session:
        session.execute(text("DELETE FROM watched_sessions"))
        # Nothing was watched, so there was no evaluator.
        watch_again(runtime.clickhouse, session, found)
        assert session.scalar(_WATCHED, {"org": org.uuid}) is None
        watch_all(session, [StoredSession(other.uuid, other.slug, "old", has_agent_end=False)])
        watch_again(runtime.clickhouse, session, found)
        assert session.scalar(_WATCHED, {"org": org.uuid}) == "first"
        # The sessions of other tests are none of this one's business.
        session.rollback()


def watched_by(runtime: Runtime, org_id: UUID) -> list[str]:
    with runtime.postgres.transaction() as session:
        return list(session.scalars(_WATCHED, {"org": org_id}))


def store_end(runtime: Runtime, org: Org, session_id: str) -> None:
    """Stores the end of an agent, as a drain does before PostgreSQL has the session."""
    runtime.clickhouse.insert(
        "events",
        {
            "org_id": [org.id],
            "id": [new_id().int % 2**63],
            "session_id": [session_id],
            "event_type": ["agent_end"],
            "ts": [now_us()],
            "arrival": [now_us() // 1000 << POSITION_BITS],
        },
    )


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

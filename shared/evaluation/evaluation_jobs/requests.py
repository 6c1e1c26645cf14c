"""Evaluations of a session on request."""

from uuid import UUID

from sqlalchemy import text

from shared.evaluation.evaluation_jobs import evaluator_config
from shared.evaluation.evaluation_jobs.enqueue import NewJob, enqueue_manual
from shared.evaluation.evaluation_jobs.watching import quiet_secs
from shared.foundation.core.clock import now_us
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import Conflict, Forbidden, NotFound
from shared.foundation.core.ids import new_request_id
from shared.foundation.core.logs import current_request_id
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import after_commit
from shared.foundation.queue import jobs
from shared.reading.sessions import facts as session_facts
from shared.reading.sessions.facts import SessionFacts

_EVALUATED_BEFORE = text("""
SELECT EXISTS (
    SELECT FROM evaluation_jobs WHERE org_id = :org_id AND session_id = :session_id
        AND status IN ('storing', 'done', 'error', 'timeout'))
""")


def re_evaluate(runtime: Runtime, org_id: UUID, org_slug: str, session_id: str) -> UUID:
    """Enqueues an evaluation of a session and returns the job's id.

    Raises `NotFound` for an unknown session, `Forbidden` if EVALUATOR_ORGS excludes the
    organization, and `Conflict` without an evaluator, while a job of the session is live, or while
    the session is open: not ended, not idle (`quiet_secs`) and never evaluated.
    """
    settings = runtime.settings
    facts = session_facts.find(runtime.clickhouse, str(org_id), session_id)
    if facts is None:
        raise NotFound.named("session", session_id)
    check_evaluator(settings, org_slug)
    with runtime.postgres.transaction() as session:
        job = NewJob(org_id, session_id, facts.agent_id, facts.environment)
        created = enqueue_manual(session, [job], current_request_id() or new_request_id())
        if not created:
            raise Conflict(
                "an evaluation of this session is already queued or running", code="evaluation_live"
            )
        timeout = evaluator_config.current(session, settings).inactivity_timeout_secs
        key = {"org_id": org_id, "session_id": session_id}
        if not _is_finished(facts, timeout) and not session.scalar(_EVALUATED_BEFORE, key):
            # Raised inside the transaction, so the job is never visible.
            raise Conflict(
                "the session is still open: wait until it has ended, or until nothing has arrived"
                f" for {quiet_secs(timeout):g} s",
                code="session_open",
            )
        after_commit(session, lambda: runtime.queue.nudge_soon(jobs.RUN_EVALUATIONS))
    return created[0]


def check_evaluator(settings: Settings, org_slug: str) -> None:
    """Raises `Conflict` without an evaluator, `Forbidden` if EVALUATOR_ORGS excludes the slug."""
    if settings.evaluator_endpoint is None:
        raise Conflict("no evaluator is configured", code="evaluator_disabled")
    if not settings.may_evaluate(org_slug):
        raise Forbidden(
            "this organization may not use the evaluator", code="evaluator_not_for_organization"
        )


def _is_finished(facts: SessionFacts, inactivity_timeout_secs: float | None) -> bool:
    """Returns whether the session has ended or is quiet enough for a request by hand."""
    if facts.ended_at is not None:
        return True
    return now_us() / 1e6 - facts.last_arrival_ms / 1e3 >= quiet_secs(inactivity_timeout_secs)

"""Records the outcomes of calls, many at once, and frees the jobs in the same transaction."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from shared.core.attempts import jitter
from shared.core.config import Settings
from shared.evaluation_jobs import evaluator_config
from shared.evaluation_jobs.answers import Answer, NoAnswer, read
from shared.evaluation_jobs.claims import HELD, ClaimedJob, held
from shared.evaluation_jobs.rules import Call, Finish, Poll, Step, next_step

# The answer to a call, or the end of a job that is not called.
Brought = Answer | NoAnswer | Finish

_LOCK = text(f"""
SELECT job.id, clock_timestamp() AS now, attempt_count, evaluator_job_id, poll_deadline_at
FROM evaluation_jobs AS job JOIN {HELD} ON job.id = held.id AND job.lease_token = held.token
WHERE status IN ('pending', 'polling')
FOR UPDATE OF job
""")

# A null of `step` leaves the column as it is.
_RECORD = text("""
UPDATE evaluation_jobs AS job
SET lease_token = NULL,
    lease_expires_at = NULL,
    status = coalesce(step.status, job.status),
    last_error = step.error,
    result = step.result,
    attempt_count = greatest(attempt_count, CASE WHEN step.status = 'storing' THEN 1 ELSE 0 END),
    completed_at = CASE WHEN step.status = 'storing' THEN clock_timestamp() END,
    next_attempt_at = coalesce(
        statement_timestamp() + make_interval(secs => step.after_secs), next_attempt_at),
    evaluator_job_id = coalesce(step.evaluator_job_id, job.evaluator_job_id),
    poll_deadline_at = coalesce(poll_deadline_at, CASE WHEN step.status = 'polling'
        THEN statement_timestamp() + make_interval(secs => :max_poll_secs) END)
FROM unnest(
    CAST(:ids AS uuid[]), CAST(:statuses AS text[]), CAST(:errors AS text[]),
    CAST(:results AS bytea[]), CAST(:waits AS float[]), CAST(:evaluator_job_ids AS text[])
) AS step (id, status, error, result, after_secs, evaluator_job_id)
WHERE job.id = step.id
""")
_COLUMNS = ("ids", "statuses", "errors", "results", "waits", "evaluator_job_ids")


def record(
    session: Session, settings: Settings, brought: Sequence[tuple[ClaimedJob, Brought]]
) -> list[Step | None]:
    """Records what calls brought, and frees the leases.

    Returns the decision for each job, None if another worker has it: a late answer changes nothing.
    """
    if not brought:
        return []
    jobs = held([job for job, _ in brought])
    rows = {row.id: row for row in session.execute(_LOCK, jobs)}
    default_poll_secs = evaluator_config.current(session, settings).default_poll_interval_secs

    steps: dict[UUID, Step] = {}
    for job, one in brought:
        row = rows.get(job.row.id)
        if row is None:
            continue
        steps[row.id] = (
            one
            if isinstance(one, Finish)
            else next_step(
                _call(row),
                read(one, row.now),
                settings,
                default_poll_secs=default_poll_secs,
                jitter=jitter(),
            )
        )
    if steps:
        changes = zip(*(_changes(job_id, step) for job_id, step in steps.items()), strict=True)
        columns = dict(zip(_COLUMNS, map(list, changes), strict=True))
        max_poll_secs = settings.evaluator_max_poll_duration_secs
        session.execute(_RECORD, {**columns, "max_poll_secs": max_poll_secs})
    return [steps.get(job.row.id) for job, _ in brought]


def _call(row: Row[Any]) -> Call:
    left = None
    if row.poll_deadline_at is not None:
        left = (row.poll_deadline_at - row.now).total_seconds()
    return Call(row.attempt_count, row.evaluator_job_id, left)


def _changes(job_id: UUID, step: Step) -> tuple[object, ...]:
    """Returns the values of `_COLUMNS`."""
    if isinstance(step, Finish):
        return str(job_id), "storing", step.result.error, step.result.packed(), None, None
    if isinstance(step, Poll):
        return str(job_id), "polling", step.error, None, step.after_secs, step.evaluator_job_id
    return str(job_id), None, step.error, None, step.after_secs, None

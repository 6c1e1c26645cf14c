"""Records the outcomes of calls, many at once, and frees the jobs in the same transaction."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import breaker
from shared.evaluation.evaluation_jobs.answers import Answer, NoEvaluatorAnswer, Reading, read
from shared.evaluation.evaluation_jobs.breaker import Breaker
from shared.evaluation.evaluation_jobs.claims import HELD, ClaimedJob, held
from shared.evaluation.evaluation_jobs.rules import Call, Finish, Poll, Step, next_step
from shared.evaluation.evaluation_jobs.scope import JobScope
from shared.foundation.core.attempts import jitter

# The answer to a call, or the end of a job that is not called.
Brought = Answer | NoEvaluatorAnswer | Finish

# Classifies the answer to a job as of a moment.
Reader = Callable[[ClaimedJob, Answer | NoEvaluatorAnswer, datetime], Reading]

_LOCK = f"""
SELECT job.id, clock_timestamp() AS now, attempt_count, evaluator_job_id, poll_deadline_at,
    enqueued_at
FROM {{table}} AS job JOIN {HELD} ON job.id = held.id AND job.lease_token = held.token
WHERE status IN ('pending', 'polling')
FOR UPDATE OF job
"""

# A null of `step` leaves the column as it is.
_RECORD = """
UPDATE {table} AS job
SET lease_token = NULL,
    lease_expires_at = NULL,
    status = coalesce(step.status, job.status),
    last_error = step.error,
    result = step.result,
    attempt_count = greatest(attempt_count - step.uncounted,
        CASE WHEN step.status = 'storing' THEN 1 ELSE 0 END),
    completed_at = CASE WHEN step.status = 'storing' THEN clock_timestamp() END,
    next_attempt_at = coalesce(
        statement_timestamp() + make_interval(secs => step.after_secs), next_attempt_at),
    evaluator_job_id = coalesce(step.evaluator_job_id, job.evaluator_job_id),
    poll_deadline_at = coalesce(poll_deadline_at, CASE WHEN step.status = 'polling'
        THEN statement_timestamp() + make_interval(secs => :max_poll_secs) END)
FROM unnest(
    CAST(:ids AS uuid[]), CAST(:statuses AS text[]), CAST(:errors AS text[]),
    CAST(:results AS bytea[]), CAST(:waits AS float[]), CAST(:evaluator_job_ids AS text[]),
    CAST(:uncounted AS int[])
) AS step (id, status, error, result, after_secs, evaluator_job_id, uncounted)
WHERE job.id = step.id
"""
_COLUMNS = ("ids", "statuses", "errors", "results", "waits", "evaluator_job_ids", "uncounted")


def record(
    session: Session,
    scope: JobScope,
    brought: Sequence[tuple[ClaimedJob, Brought]],
    reader: Reader = lambda _job, answer, now: read(answer, now),
) -> list[Step | None]:
    """Records what calls of one evaluator brought, and frees the leases.

    Returns the decision for each job, None if another worker has it: a late answer changes nothing.
    """
    if not brought:
        return []
    jobs = held([job for job, _ in brought])
    rows = {row.id: row for row in session.execute(text(_LOCK.format(table=scope.table)), jobs)}
    steps: dict[UUID, Step] = {}
    readings: dict[UUID, Reading] = {}
    for job, one in brought:
        if job.row.id not in rows:
            continue
        if isinstance(one, Finish):
            steps[job.row.id] = one
        else:
            readings[job.row.id] = reader(job, one, rows[job.row.id].now)
    state, away = _note(session, scope, rows, readings)
    for job_id, reading in readings.items():
        steps[job_id] = next_step(
            _call(rows[job_id]),
            reading,
            scope.limits,
            jitter=jitter(),
            is_away=job_id in away,
        )
    if steps:
        changes = zip(*(_changes(job_id, step) for job_id, step in steps.items()), strict=True)
        columns = dict(zip(_COLUMNS, map(list, changes), strict=True))
        session.execute(
            text(_RECORD.format(table=scope.table)),
            {**columns, "max_poll_secs": scope.limits.max_poll_secs},
        )
    if any(state.has_lasted_too_long(rows[job_id].now) for job_id in away):
        breaker.end_jobs(session, state, scope)
    return [steps.get(job.row.id) for job, _ in brought]


def _note(
    session: Session,
    scope: JobScope,
    rows: Mapping[UUID, Row[Any]],
    readings: Mapping[UUID, Reading],
) -> tuple[Breaker, set[UUID]]:
    """Counts the calls; returns the breaker, and the jobs whose call failed while it was open."""
    state, away = breaker.current(session, scope.breaker_key), set[UUID]()
    if not state.failures and not any(map(breaker.failure_of, readings.values())):
        return state, away
    before = state = breaker.lock(session, scope.breaker_key)
    for job_id, reading in readings.items():
        state = state.after(job_id, reading, rows[job_id].now)
        if state.is_open:
            away.add(job_id)
    if state != before:
        breaker.save(session, scope.breaker_key, state)
    return state, away


def _call(row: Row[Any]) -> Call:
    left = None
    if row.poll_deadline_at is not None:
        left = (row.poll_deadline_at - row.now).total_seconds()
    age = (row.now - row.enqueued_at).total_seconds()
    return Call(row.attempt_count, row.evaluator_job_id, left, age)


def _changes(job_id: UUID, step: Step) -> tuple[object, ...]:
    """Returns the values of `_COLUMNS`."""
    if isinstance(step, Finish):
        return str(job_id), "storing", step.result.error, step.result.packed(), None, None, 0
    if isinstance(step, Poll):
        return str(job_id), "polling", step.error, None, step.after_secs, step.evaluator_job_id, 0
    return str(job_id), None, step.error, None, step.after_secs, None, int(not step.counts)

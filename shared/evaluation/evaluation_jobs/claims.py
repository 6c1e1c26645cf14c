"""Claims of due jobs under leases, many at once: the selection, and the limit of calls in flight.

The number of live leases is the number of calls in flight in the whole deployment. A killed worker
frees its place when its lease expires; its job is then due again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import breaker
from shared.evaluation.evaluation_jobs.models import EvaluationJob, JobColumns
from shared.evaluation.evaluation_jobs.scope import JobScope, breaker_key, evaluator_slugs
from shared.foundation.core.config import Settings
from shared.foundation.postgres import leases
from shared.foundation.postgres.leases import RowLease

_Row = TypeVar("_Row", bound=JobColumns)

# Any number that no other advisory lock of this project uses.
_LOCK_ID = 7_237_002

# A lease outlasts the longest call by this much: time to record the outcome.
_SLACK_SECS = 5.0


@dataclass(frozen=True)
class ClaimedJob:
    """A job that this worker holds; `row` is the job as it was claimed."""

    lease: RowLease
    row: JobColumns


# Jobs with the tokens under which a worker holds them, as a source of rows.
HELD = "unnest(CAST(:ids AS uuid[]), CAST(:tokens AS uuid[])) AS held (id, token)"

_FREE_PLACES = text("""
SELECT :bound - count(*) FROM evaluation_jobs WHERE lease_expires_at > statement_timestamp()
""")

# Organizations take turns, the one that has waited longest first. One probe of the index
# (org_id, next_attempt_at) for each organization finds those with due jobs, however many are due;
# a second one reads no more jobs than can be claimed.
_DUE = f"""
    org_id = organizations.id
    AND status IN ('pending', 'polling')
    AND next_attempt_at <= statement_timestamp()
    AND {leases.FREE}
"""
_NEXT_JOBS = text(f"""
WITH waiting AS (
    SELECT organizations.id, turn.last_turn_at
    FROM organizations
    LEFT JOIN evaluator_turns AS turn ON turn.org_id = organizations.id
    CROSS JOIN LATERAL (SELECT FROM evaluation_jobs WHERE {_DUE} LIMIT 1) AS any_job
    WHERE organizations.deleted_at IS NULL
        AND (CAST(:slugs AS text[]) IS NULL OR organizations.slug = ANY(CAST(:slugs AS text[])))
    ORDER BY turn.last_turn_at NULLS FIRST
    LIMIT :most
)
SELECT job.id
FROM waiting AS organizations
CROSS JOIN LATERAL (
    SELECT id, row_number() OVER (ORDER BY next_attempt_at) AS round FROM (
        SELECT id, next_attempt_at FROM evaluation_jobs
        WHERE {_DUE} ORDER BY next_attempt_at LIMIT :most
    ) AS oldest
) AS job
ORDER BY job.round, organizations.last_turn_at NULLS FIRST
LIMIT :most
""")

# The turns of one claim are a microsecond apart, so their order is kept.
_TAKE_TURNS = text("""
INSERT INTO evaluator_turns
SELECT org_id, statement_timestamp() + max(place) * interval '1 microsecond'
FROM unnest(CAST(:org_ids AS uuid[])) WITH ORDINALITY AS taken (org_id, place)
GROUP BY org_id
ON CONFLICT (org_id) DO UPDATE SET last_turn_at = excluded.last_turn_at
""")

_BEGIN = f"""
UPDATE {{table}} AS job
SET attempt_count = attempt_count + 1,
    started_at = coalesce(started_at, statement_timestamp()),
    lease_expires_at = statement_timestamp() + make_interval(secs => :lease_secs)
FROM {HELD}
WHERE job.id = held.id AND job.lease_token = held.token
    AND lease_expires_at > statement_timestamp()
RETURNING job.id
"""


def claim(session: Session, settings: Settings, *, most: int) -> list[ClaimedJob]:
    """Takes up to `most` due jobs, the next one to call first.

    Organizations take turns, each with its oldest job. At most EVALUATOR_WORKERS x
    EVALUATOR_CLAIM_BATCH calls are in flight in the whole deployment. The advisory lock lets one
    worker at a time count the places and take some. While the breaker is open, one job is taken as
    a probe when its time has come.
    """
    if most <= 0:
        return []
    session.execute(text("SELECT pg_advisory_xact_lock(:id)"), {"id": _LOCK_ID})
    key = breaker_key(settings)
    away = breaker.current(session, key)
    if away.retry_at is not None:
        if session.scalar(text("SELECT :at > statement_timestamp()"), {"at": away.retry_at}):
            return []
        most = 1  # the probe
    free = session.execute(_FREE_PLACES, {"bound": settings.evaluator_concurrency}).scalar_one()
    if free <= 0:
        return []
    wanted = {"slugs": evaluator_slugs(settings), "most": min(free, most)}
    ids = list(session.scalars(_NEXT_JOBS, wanted))
    if not ids:
        return []
    secs = lease_secs(settings.evaluator_request_timeout_ms / 1000)
    taken = [ClaimedJob(*one) for one in take(session, EvaluationJob, ids, secs)]
    if away.is_open:
        breaker.begin_probe(session, key, ids[0], secs)
    session.execute(_TAKE_TURNS, {"org_ids": [str(job.row.org_id) for job in taken]})
    return taken


def take(
    session: Session, table: type[_Row], ids: Sequence[UUID], secs: float
) -> list[tuple[RowLease, _Row]]:
    """Takes the jobs of `ids`, which are free, in this order, for `secs` seconds."""
    lease, rows = leases.take(session, table, table.id.in_(ids), secs, (table,))
    by_id = {row.id: row for (row,) in rows}
    return [(replace(lease, rows=table.id == one), by_id[one]) for one in ids]


def begin_deliveries(session: Session, scope: JobScope, jobs: Sequence[ClaimedJob]) -> set[UUID]:
    """Counts a delivery attempt of each job just before it is made, and renews the leases for it.

    They are counted before, so that a request that kills every worker ends too. Returns the ids of
    the jobs that may be sent. The lease of the others expired while their requests were built:
    another worker may have them now.
    """
    begin = text(_BEGIN.format(table=scope.table))
    return set(
        session.scalars(begin, {**held(jobs), "lease_secs": lease_secs(scope.limits.timeout_secs)})
    )


def give_back(session: Session, jobs: Sequence[ClaimedJob], *, after_secs: float) -> None:
    """Frees jobs without an outcome; they are due again in `after_secs`."""
    for job in jobs:
        job.lease.end(session, next_attempt_at=leases.in_secs(after_secs))


def held(jobs: Sequence[ClaimedJob]) -> dict[str, object]:
    """Returns the parameters of `HELD`."""
    return {
        "ids": [str(job.row.id) for job in jobs],
        "tokens": [str(job.lease.token) for job in jobs],
    }


def lease_secs(timeout_secs: float) -> float:
    """Returns the duration of a lease, which outlasts a call."""
    return timeout_secs + _SLACK_SECS

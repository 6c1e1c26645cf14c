"""Evaluations of many sessions on request: of those whose newest result matches filters."""

from typing import NamedTuple
from uuid import UUID

from shared.evaluation.evaluation_jobs.enqueue import NewJob, enqueue_manual
from shared.evaluation.evaluation_jobs.requests import check_evaluator
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.core.clock import now_us
from shared.foundation.core.errors import Invalid
from shared.foundation.core.ids import new_request_id
from shared.foundation.core.logs import current_request_id
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import after_commit
from shared.foundation.queue import jobs
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.evaluations.source import source_of

MAX_SESSIONS = 20_000
_CHUNK = 2_000


class BulkResult(NamedTuple):
    """The number of sessions that match, and how many of them got a job.

    The rest has an evaluation that is queued or running.
    """

    sessions: int
    queued: int


def re_evaluate_all(
    runtime: Runtime, org_id: UUID, org_slug: str, wanted: EvaluationFilters, *, dry_run: bool
) -> BulkResult:
    """Enqueues an evaluation of each session whose newest result matches `wanted`.

    With `dry_run` it counts the sessions and enqueues nothing. Raises `Invalid` for more than
    `MAX_SESSIONS`, and otherwise as `requests.re_evaluate`.
    """
    check_evaluator(runtime.settings, org_slug)
    found = _sessions(runtime.clickhouse, org_id, wanted)
    if len(found) > MAX_SESSIONS:
        raise Invalid(
            f"more than {MAX_SESSIONS} sessions match: choose a shorter range of time",
            fields={"ts_from": [f"more than {MAX_SESSIONS} sessions match"]},
        )
    if dry_run:
        return BulkResult(len(found), 0)
    queued, request_id = 0, current_request_id() or new_request_id()
    for start in range(0, len(found), _CHUNK):
        with runtime.postgres.transaction() as session:
            queued += len(enqueue_manual(session, found[start : start + _CHUNK], request_id))
            after_commit(session, lambda: runtime.queue.nudge_soon(jobs.RUN_EVALUATIONS))
    return BulkResult(len(found), queued)


def _sessions(clickhouse: ClickHouse, org_id: UUID, wanted: EvaluationFilters) -> list[NewJob]:
    newest = wanted.replace(latest_per_session=True)
    source = source_of(str(org_id), newest, as_of=now_us())
    rows = clickhouse.rows(
        f"SELECT session_id, agent_id, environment FROM {source.sql}"
        f" ORDER BY completed_at, session_id LIMIT {MAX_SESSIONS + 1:d}",
        source.params,
        settings=PAGE,
    )
    return [NewJob(org_id, *row) for row in rows]

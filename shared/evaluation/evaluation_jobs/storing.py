"""Moves results from PostgreSQL to ClickHouse.

A finished job keeps its result until ClickHouse has it, so an outage of ClickHouse never causes a
second call to the evaluator.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from shared.access import organizations
from shared.evaluation.evaluation_jobs.result import JobResult, unpack
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.clock import to_us
from shared.foundation.core.tracing import spans
from shared.foundation.postgres import Postgres
from shared.foundation.queue.jobs import STORE_EVALUATIONS
from shared.reading.evaluations import store
from shared.reading.evaluations.records import Evaluation
from shared.reading.sessions import deleted

# Results are at most 10 MiB each. A block of them stays below this size unless a single one is
# larger.
_BLOCK_BYTES = 32 * 1024 * 1024
_BLOCK_ROWS = 500

_MAX_UINT32 = 2**32 - 1

_TO_STORE = """
SELECT * FROM (
    SELECT {columns}, sum(octet_length(result)) OVER (ORDER BY completed_at, job.id)
        AS bytes_so_far
    FROM {source}
    WHERE status = 'storing'
    ORDER BY completed_at, job.id
    LIMIT :rows
) AS oldest
WHERE bytes_so_far - octet_length(result) < :bytes
"""

_STORED = """
UPDATE {table} AS job
SET status = stored.status, result = NULL
FROM unnest(CAST(:ids AS uuid[]), CAST(:statuses AS text[])) AS stored (id, status)
WHERE job.id = stored.id AND job.status = 'storing'
"""

# The columns of every kind of job.
COLUMNS = """job.id, job.org_id, job.session_id, job.agent_id, job.environment, job.trigger,
    attempt_count, started_at, completed_at, result"""


class FinishedJobs(NamedTuple):
    """Where finished jobs wait: `source` is SQL with the table as `job`.

    `columns` are those that `record` reads, those of `COLUMNS` among them.
    """

    table: str
    source: str
    columns: str
    record: Callable[[Row[Any], JobResult], Evaluation]


def store_results(postgres: Postgres, clickhouse: ClickHouse, finished: FinishedJobs) -> int:
    """Appends every finished result to ClickHouse, then closes its job; returns the number.

    If it is killed in between, or runs twice at once, it appends equal records again, which count
    as one result.
    """
    total = 0
    oldest = text(_TO_STORE.format(columns=finished.columns, source=finished.source))
    while True:
        with postgres.transaction() as session:
            rows = session.execute(oldest, {"rows": _BLOCK_ROWS, "bytes": _BLOCK_BYTES}).all()
            if not rows:
                return total
            with spans.work(STORE_EVALUATIONS.actor):
                total += _store(session, clickhouse, finished, rows)


def _store(
    session: Session, clickhouse: ClickHouse, finished: FinishedJobs, rows: Sequence[Row[Any]]
) -> int:
    existing = organizations.hold(session, {row.org_id for row in rows})
    rows = [row for row in rows if row.org_id in existing]
    results = [unpack(row.result) for row in rows]
    records = [finished.record(*pair) for pair in zip(rows, results, strict=True)]
    # A deletion waits for the organizations held here, and removes the jobs of its sessions later.
    gone = deleted.among(session, {(one.org_id, one.session_id) for one in records})
    kept = [one for one in records if (one.org_id, one.session_id) not in gone]
    store.insert(clickhouse, kept)
    session.execute(
        text(_STORED.format(table=finished.table)),
        {
            "ids": [str(row.id) for row in rows],
            "statuses": [result.status for result in results],
        },
    )
    return len(rows)


def evaluation_of(row: Row[Any], result: JobResult, **fields: Any) -> Evaluation:
    """Returns the record of a finished job; `fields` are those that its kind of job adds."""
    return Evaluation(
        org_id=str(row.org_id),
        evaluation_id=str(row.id),
        session_id=row.session_id,
        agent_id=row.agent_id,
        environment=row.environment,
        trigger=row.trigger,
        **msgspec.structs.asdict(result),
        attempt_count=row.attempt_count,
        duration_ms=_duration_ms(row.started_at, row.completed_at),
        completed_at=to_us(row.completed_at),
        **fields,
    )


# The jobs of the deployment's evaluator.
OF_DEFAULT = FinishedJobs("evaluation_jobs", "evaluation_jobs AS job", COLUMNS, evaluation_of)


def _duration_ms(started_at: datetime | None, completed_at: datetime) -> int | None:
    """Returns the time from the first delivery to the result, None if it was never sent."""
    if started_at is None:
        return None
    elapsed = int((completed_at - started_at).total_seconds() * 1000)
    return min(max(elapsed, 0), _MAX_UINT32)

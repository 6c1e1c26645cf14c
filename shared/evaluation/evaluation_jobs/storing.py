"""Moves results from PostgreSQL to ClickHouse.

A finished job keeps its result until ClickHouse has it, so an outage of ClickHouse never causes a
second call to the evaluator.
"""

from collections.abc import Sequence
from datetime import datetime

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

_TO_STORE = text("""
SELECT * FROM (
    SELECT id, org_id, session_id, agent_id, environment, attempt_count, started_at, completed_at,
        result, sum(octet_length(result)) OVER (ORDER BY completed_at, id) AS bytes_so_far
    FROM evaluation_jobs
    WHERE status = 'storing'
    ORDER BY completed_at, id
    LIMIT :rows
) AS oldest
WHERE bytes_so_far - octet_length(result) < :bytes
""")

_STORED = text("""
UPDATE evaluation_jobs
SET status = stored.status, result = NULL
FROM unnest(CAST(:ids AS uuid[]), CAST(:statuses AS text[])) AS stored (id, status)
WHERE evaluation_jobs.id = stored.id AND evaluation_jobs.status = 'storing'
""")


def store_results(postgres: Postgres, clickhouse: ClickHouse) -> int:
    """Appends every finished result to ClickHouse, then closes its job; returns the number.

    If it is killed in between, or runs twice at once, it appends equal records again, which count
    as one result.
    """
    total = 0
    while True:
        with postgres.transaction() as session:
            rows = session.execute(_TO_STORE, {"rows": _BLOCK_ROWS, "bytes": _BLOCK_BYTES}).all()
            if not rows:
                return total
            with spans.work(STORE_EVALUATIONS.actor):
                total += _store(session, clickhouse, rows)


def _store(
    session: Session, clickhouse: ClickHouse, rows: Sequence[Row[tuple[object, ...]]]
) -> int:
    existing = organizations.hold(session, {row.org_id for row in rows})
    rows = [row for row in rows if row.org_id in existing]
    results = [unpack(row.result) for row in rows]
    records = [_record(*pair) for pair in zip(rows, results, strict=True)]
    # A deletion waits for the organizations held here, and removes the jobs of its sessions later.
    gone = deleted.among(session, {(one.org_id, one.session_id) for one in records})
    kept = [one for one in records if (one.org_id, one.session_id) not in gone]
    store.insert(clickhouse, kept)
    session.execute(
        _STORED,
        {
            "ids": [str(row.id) for row in rows],
            "statuses": [result.status for result in results],
        },
    )
    return len(rows)


def _record(row: Row[tuple[object, ...]], result: JobResult) -> Evaluation:
    return Evaluation(
        org_id=str(row.org_id),
        evaluation_id=str(row.id),
        session_id=row.session_id,
        agent_id=row.agent_id,
        environment=row.environment,
        **msgspec.structs.asdict(result),
        attempt_count=row.attempt_count,
        duration_ms=_duration_ms(row.started_at, row.completed_at),
        completed_at=to_us(row.completed_at),
    )


def _duration_ms(started_at: datetime | None, completed_at: datetime) -> int | None:
    """Returns the time from the first delivery to the result, None if it was never sent."""
    if started_at is None:
        return None
    elapsed = int((completed_at - started_at).total_seconds() * 1000)
    return min(max(elapsed, 0), _MAX_UINT32)

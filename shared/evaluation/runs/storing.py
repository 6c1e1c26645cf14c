"""The records of finished runs."""

from typing import Any

from sqlalchemy import Row

from shared.evaluation.evaluation_jobs.result import JobResult
from shared.evaluation.evaluation_jobs.storing import COLUMNS, FinishedJobs, evaluation_of
from shared.foundation.core.clock import to_us
from shared.reading.evaluations.records import Evaluation

_SOURCE = """evaluator_runs AS job
    JOIN evaluators AS evaluator ON evaluator.id = job.evaluator_id
    JOIN evaluator_versions AS version ON version.id = job.version_id"""

_COLUMNS = f"""{COLUMNS}, evaluator.key AS evaluator, version.version AS evaluator_version,
    revision, covered_events, covered_until, backfill_id"""


def _record(row: Row[Any], result: JobResult) -> Evaluation:
    return evaluation_of(
        row,
        result,
        evaluator=row.evaluator,
        evaluator_version=row.evaluator_version,
        revision=row.revision,
        covered_events=row.covered_events,
        covered_until=to_us(row.covered_until),
        backfill_id=None if row.backfill_id is None else str(row.backfill_id),
    )


OF_RUNS = FinishedJobs("evaluator_runs", _SOURCE, _COLUMNS, _record)

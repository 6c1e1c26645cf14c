"""Makes runs. A session has at most one live run of an evaluator, and one at each revision."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs.run_models import RANKS
from shared.foundation.core.clock import from_us
from shared.foundation.core.ids import new_id, new_request_id
from shared.reading.sessions.coverage import Coverage


class NewRun(NamedTuple):
    """A run to make; agent and environment are the session's as they were when it began."""

    org_id: UUID
    session_id: str
    agent_id: str
    environment: str
    evaluator_id: UUID
    version_id: UUID
    trigger: str
    coverage: Coverage
    backfill_id: UUID | None = None


class MadeRun(NamedTuple):
    """A run that was made."""

    id: UUID
    evaluator_id: UUID
    session_id: str


_INSERT = text("""
INSERT INTO evaluator_runs
    (id, org_id, session_id, agent_id, environment, evaluator_id, version_id, trigger, request_id,
     revision, covered_events, covered_until, backfill_id, rank, enqueued_at, next_attempt_at)
SELECT run.*, statement_timestamp(), statement_timestamp()
FROM unnest(CAST(:ids AS uuid[]), CAST(:org_ids AS uuid[]), CAST(:session_ids AS text[]),
            CAST(:agent_ids AS text[]), CAST(:environments AS text[]),
            CAST(:evaluator_ids AS uuid[]), CAST(:version_ids AS uuid[]), CAST(:triggers AS text[]),
            CAST(:request_ids AS text[]), CAST(:revisions AS bigint[]), CAST(:events AS bigint[]),
            CAST(:untils AS timestamptz[]), CAST(:backfill_ids AS uuid[]),
            CAST(:ranks AS smallint[])) AS run
ON CONFLICT DO NOTHING
RETURNING id, evaluator_id, session_id
""")

_COUNT = text("""
INSERT INTO evaluator_months AS known (evaluator_id, month, org_id, evaluations)
SELECT evaluator.id, date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC'),
    evaluator.org_id, made.runs
FROM unnest(CAST(:ids AS uuid[]), CAST(:runs AS bigint[])) AS made (id, runs)
JOIN evaluators AS evaluator ON evaluator.id = made.id
ORDER BY evaluator.id
ON CONFLICT (evaluator_id, month) DO UPDATE
SET evaluations = known.evaluations + excluded.evaluations
""")


def make(session: Session, runs: Sequence[NewRun], request_id: str | None = None) -> list[MadeRun]:
    """Makes runs, and counts them for the budgets of their evaluators.

    Returns those that were made: none where a run of the session and the evaluator is live, or
    where an automatic one has the same revision.
    """
    if not runs:
        return []
    rows = session.execute(
        _INSERT,
        {
            "ids": [str(new_id()) for _ in runs],
            "org_ids": [str(run.org_id) for run in runs],
            "session_ids": [run.session_id for run in runs],
            "agent_ids": [run.agent_id for run in runs],
            "environments": [run.environment for run in runs],
            "evaluator_ids": [str(run.evaluator_id) for run in runs],
            "version_ids": [str(run.version_id) for run in runs],
            "triggers": [run.trigger for run in runs],
            "request_ids": [request_id or new_request_id() for _ in runs],
            "revisions": [run.coverage.revision for run in runs],
            "events": [run.coverage.events for run in runs],
            "untils": [_moment(run.coverage) for run in runs],
            "backfill_ids": [run.backfill_id and str(run.backfill_id) for run in runs],
            "ranks": [RANKS[run.trigger] for run in runs],
        },
    )
    made = [MadeRun(*row) for row in rows]
    counted = Counter(run.evaluator_id for run in made)
    if counted:
        session.execute(
            _COUNT, {"ids": [str(one) for one in counted], "runs": list(counted.values())}
        )
    return made


def _moment(coverage: Coverage) -> datetime:
    return from_us(coverage.until)

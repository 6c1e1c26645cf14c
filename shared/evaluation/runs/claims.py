"""Claims of due runs under leases: of evaluators that are called, in places that they share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import breaker, claims
from shared.evaluation.evaluation_jobs.claims import ClaimedJob, lease_secs
from shared.evaluation.evaluation_jobs.run_models import EvaluatorRun
from shared.evaluation.runs.choosing import CallPlaces, DueRun, choose
from shared.evaluation.runs.definitions import RunDefinition, definitions_of
from shared.foundation.core.config import Settings
from shared.foundation.postgres import leases

# Kinds whose runs become calls of ours.
CALLED = ("push", "judge")

# Any number that no other advisory lock of this project uses.
_LOCK_ID = 7_237_004


@dataclass(frozen=True)
class HeldRun(ClaimedJob):
    """A run that this worker holds, with the version that it is of."""

    row: EvaluatorRun
    definition: RunDefinition


_IN_FLIGHT = text("""
SELECT run.evaluator_id, run.trigger = 'backfill', count(*)
FROM evaluator_runs AS run JOIN evaluators AS evaluator ON evaluator.id = run.evaluator_id
WHERE run.lease_expires_at > statement_timestamp() AND evaluator.kind = ANY(:kinds)
GROUP BY run.evaluator_id, run.trigger = 'backfill'
""")

# A few probes of an index for each evaluator that is on, however many of its runs are due.
_DUE = text(f"""
SELECT due.id, evaluator.org_id, evaluator.id AS evaluator_id, due.rank, evaluator.priority,
    due.next_attempt_at, evaluator.concurrency, evaluator.timeout_ms, breaker.retry_at,
    breaker.retry_at > statement_timestamp() AS is_away
FROM evaluators AS evaluator
JOIN organizations AS org ON org.id = evaluator.org_id AND org.deleted_at IS NULL
LEFT JOIN evaluator_breakers AS breaker ON breaker.key = CAST(evaluator.id AS text)
CROSS JOIN LATERAL (
    SELECT id, rank, next_attempt_at
    FROM evaluator_runs
    WHERE evaluator_id = evaluator.id AND status IN ('pending', 'polling')
        AND next_attempt_at <= statement_timestamp() AND {leases.FREE}
    ORDER BY rank, next_attempt_at
    LIMIT :most
) AS due
WHERE evaluator.kind = ANY(:kinds) AND evaluator.enabled AND evaluator.archived_at IS NULL
""")

_TURNS = text("SELECT org_id, last_turn_at FROM run_turns WHERE org_id = ANY(:org_ids)")

# The turns of one claim are a microsecond apart, so their order is kept.
_TAKE_TURNS = text("""
INSERT INTO run_turns
SELECT org_id, statement_timestamp() + max(place) * interval '1 microsecond'
FROM unnest(CAST(:org_ids AS uuid[])) WITH ORDINALITY AS taken (org_id, place)
GROUP BY org_id
ON CONFLICT (org_id) DO UPDATE SET last_turn_at = excluded.last_turn_at
""")


def claim(session: Session, settings: Settings, *, most: int) -> list[HeldRun]:
    """Takes up to `most` due runs, the next one to call first.

    At most EVALUATOR_CALLS calls are in flight in the whole deployment, half of them of backfills,
    and of an evaluator as many as its concurrency. The advisory lock lets one worker at a time
    count the places and take some. While the breaker of an evaluator is open, one run of it is
    taken as a probe when its time has come.
    """
    if most <= 0:
        return []
    session.execute(text("SELECT pg_advisory_xact_lock(:id)"), {"id": _LOCK_ID})
    flying = session.execute(_IN_FLIGHT, {"kinds": list(CALLED)}).all()
    free = min(most, settings.evaluator_calls - sum(row[2] for row in flying))
    if free <= 0:
        return []
    rows = session.execute(_DUE, {"kinds": list(CALLED), "most": free}).all()
    rows = [row for row in rows if not row.is_away]
    if not rows:
        return []
    in_flight: dict[UUID, int] = {}
    for evaluator_id, _, count in flying:
        in_flight[evaluator_id] = in_flight.get(evaluator_id, 0) + count
    probes = {row.evaluator_id for row in rows if row.retry_at is not None}
    places = CallPlaces(
        free,
        max(settings.evaluator_calls // 2, 1) - sum(row[2] for row in flying if row[1]),
        {
            row.evaluator_id: 1
            if row.evaluator_id in probes
            else row.concurrency - in_flight.get(row.evaluator_id, 0)
            for row in rows
        },
    )
    turns = {row[0]: row[1] for row in session.execute(_TURNS, {"org_ids": _org_ids(rows)})}
    chosen = choose([DueRun(*row[:6]) for row in rows], places, turns)
    # The longest call that may begin; a delivery sets the lease of its own evaluator.
    secs = lease_secs(max(row.timeout_ms for row in rows) / 1000)
    return _taken(session, settings, chosen, probes, secs)


def _taken(
    session: Session,
    settings: Settings,
    chosen: Sequence[DueRun],
    probes: set[UUID],
    secs: float,
) -> list[HeldRun]:
    if not chosen:
        return []
    held = claims.take(session, EvaluatorRun, [one.id for one in chosen], secs)
    versions = definitions_of(session, settings, {row.version_id for _, row in held})
    session.execute(_TAKE_TURNS, {"org_ids": [str(one.org_id) for one in chosen]})
    for one in chosen:
        if one.evaluator_id in probes:
            breaker.begin_probe(session, str(one.evaluator_id), one.id, secs)
    return [HeldRun(lease, row, versions[row.version_id]) for lease, row in held]


def _org_ids(rows: Sequence[Row[Any]]) -> list[UUID]:
    return list({row.org_id for row in rows})

"""Reads the states of a session for each evaluator of its organization."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import breaker
from shared.evaluation.evaluation_jobs.listing import LiveJob, listed_of
from shared.evaluation.evaluation_jobs.models import LIVE
from shared.evaluation.evaluation_jobs.run_models import (
    EvaluatorMonth,
    EvaluatorRun,
    SessionTrigger,
)
from shared.evaluation.evaluators.conditions.deciding import decide as decide_condition
from shared.evaluation.evaluators.conditions.nodes import Leaf
from shared.evaluation.evaluators.conditions.parsing import parse
from shared.evaluation.evaluators.models import Evaluator, EvaluatorVersion
from shared.evaluation.runs.budgets import MonthlyUse
from shared.evaluation.runs.deciding import ActiveEvaluator, SessionPause
from shared.evaluation.runs.state.decision import (
    ReasonSince,
    RunInCall,
    SessionForEvaluator,
    decide,
)
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.where import Where
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations.reading import complete, newest_of_each
from shared.reading.evaluations.records import Evaluation
from shared.reading.evaluations.tables import OWN
from shared.reading.sessions.facts import SessionFacts
from shared.reading.sessions.staleness import stale_among


class EvaluatorState(NamedTuple):
    """The state of a session for one evaluator; `version` is the name of the active one.

    `latest` is its newest result of the active version, else of any. `stale`: the session has newer
    events than that covers.
    """

    evaluator: str
    version: str | None
    reason: ReasonSince
    job: LiveJob | None
    latest: Evaluation | None
    stale: bool


class _Rows(NamedTuple):
    evaluators: Sequence[tuple[Evaluator, EvaluatorVersion | None]]
    runs: Mapping[UUID, RunInCall]
    used: Mapping[UUID, MonthlyUse]
    breakers: Mapping[str, breaker.Breaker]
    trigger: SessionTrigger | None


_THIS_MONTH = text("month = date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC')")
_IN_CALL = func.coalesce(EvaluatorRun.lease_expires_at > func.statement_timestamp(), False)


def states_of(runtime: Runtime, org_id: UUID, facts: SessionFacts) -> list[EvaluatorState]:
    """Returns the states of a session, by the keys of the evaluators.

    A deleted evaluator has one if it has a result.
    """
    # A run that ends now is read as live, or its result is already stored.
    with runtime.postgres.transaction() as session:
        rows = _read(session, org_id, facts.session_id)
        now = session.scalars(select(func.statement_timestamp())).one()
        session.expunge_all()
    if not rows.evaluators:
        return []
    latest = _latest(runtime.clickhouse, str(org_id), facts)
    stale = stale_among(
        runtime.clickhouse, str(org_id), [one for some in latest.values() for one in some]
    )
    states = []
    for evaluator, version in rows.evaluators:
        result = _newest(latest.get(evaluator.key, []), version)
        run = rows.runs.get(evaluator.id)
        if run is not None and result is not None and result.evaluation_id == str(run.job.id):
            run = None
        if evaluator.archived_at is not None and result is None:
            continue
        active = None if version is None else _active(evaluator, version)
        found = SessionForEvaluator(
            now=now,
            enabled=evaluator.enabled,
            active=active,
            session_id=facts.session_id,
            run=run,
            latest=result,
            pause=_pause(rows.trigger),
            has_ended=facts.ended_at is not None,
            against=_against(runtime.clickhouse, facts, active, result, run),
            used=rows.used.get(evaluator.id, MonthlyUse()),
            breaker=rows.breakers[str(evaluator.id)],
        )
        states.append(
            EvaluatorState(
                evaluator.key,
                None if version is None else version.version,
                decide(found),
                None if run is None else run.job,
                result,
                result is not None and result.evaluation_id in stale,
            )
        )
    return states


def _read(session: Session, org_id: UUID, session_id: str) -> _Rows:
    joined = EvaluatorVersion.id == Evaluator.active_version_id
    own = select(Evaluator, EvaluatorVersion).outerjoin(EvaluatorVersion, joined)
    evaluators = session.execute(
        own.where(Evaluator.org_id == org_id).order_by(Evaluator.key)
    ).all()
    live = session.execute(
        select(
            EvaluatorRun.evaluator_id, *listed_of(EvaluatorRun), _IN_CALL, EvaluatorRun.started_at
        ).where(EvaluatorRun.org_id == org_id, EvaluatorRun.session_id == session_id, text(LIVE))
    ).all()
    months = session.scalars(
        select(EvaluatorMonth).where(EvaluatorMonth.org_id == org_id, _THIS_MONTH)
    ).all()
    return _Rows(
        [(row[0], row[1]) for row in evaluators],
        {row[0]: RunInCall(LiveJob(*row[1:-2]), row[-2], row[-1]) for row in live},
        {
            one.evaluator_id: MonthlyUse(one.evaluations, one.tokens, Decimal(one.usd))
            for one in months
        },
        breaker.of_keys(session, [str(row[0].id) for row in evaluators]),
        session.get(SessionTrigger, {"org_id": org_id, "session_id": session_id}),
    )


def _latest(
    clickhouse: ClickHouse, org_id: str, facts: SessionFacts
) -> dict[str, list[Evaluation]]:
    """Returns the newest result of each evaluator and version."""
    where = Where(org_id).any_of("session_id", [facts.session_id])
    weighed = newest_of_each(clickhouse, where, OWN, "evaluator, evaluator_version")
    found: dict[str, list[Evaluation]] = {}
    for one in complete(clickhouse, org_id, weighed, OWN).values():
        found.setdefault(one.evaluator, []).append(one)
    return found


def _newest(results: Sequence[Evaluation], version: EvaluatorVersion | None) -> Evaluation | None:
    of_active = [
        one for one in results if version is not None and one.evaluator_version == version.version
    ]
    among = of_active or results
    return max(among, key=lambda one: (one.completed_at, one.evaluation_id), default=None)


def _pause(trigger: SessionTrigger | None) -> SessionPause | None:
    if trigger is None:
        return None
    return SessionPause(trigger.last_arrival_at, trigger.end_check_at, trigger.idle_only)


def _active(evaluator: Evaluator, version: EvaluatorVersion) -> ActiveEvaluator:
    return ActiveEvaluator(
        evaluator.id,
        evaluator.org_id,
        version.id,
        version.condition,
        evaluator.enabled_since or evaluator.created_at,
        evaluator.sample,
        evaluator.sample_seed,
        evaluator.idle_secs,
        evaluator.rescore,
        evaluator.rescore_max,
        evaluator.budget,
    )


def _against(
    clickhouse: ClickHouse,
    facts: SessionFacts,
    active: ActiveEvaluator | None,
    latest: Evaluation | None,
    run: RunInCall | None,
) -> Leaf | None:
    """Returns the part of the condition that decided, where the state depends on it."""
    if active is None or active.condition is None or latest is not None or run is not None:
        return None
    condition = parse(active.condition)
    org_id = str(active.org_id)
    return decide_condition(clickhouse, org_id, [facts.session_id], condition).get(facts.session_id)

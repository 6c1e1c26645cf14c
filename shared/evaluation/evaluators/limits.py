"""How many evaluators, versions and pools an organization can have."""

import uuid

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from shared.evaluation.evaluators.models import Evaluator, EvaluatorPool, EvaluatorVersion
from shared.foundation.core.errors import Conflict
from shared.foundation.postgres.locks import lock_until_commit

MAX_ENABLED = 100
MAX_EVALUATORS = 500
MAX_VERSIONS = 1000
MAX_POOLS = 20
MAX_DEFINITION_BYTES = 64 * 1024


def hold(session: Session, org_id: uuid.UUID) -> None:
    """Lets no other transaction count an organization's evaluators until this one ends."""
    lock_until_commit(session, f"evaluators/{org_id}")


def require_room_for_evaluator(session: Session, org_id: uuid.UUID) -> None:
    """Raises `Conflict` if the organization has as many evaluators as it can have."""
    count = _count(_evaluators(org_id))
    _require(session, count, MAX_EVALUATORS, "evaluators: delete one first")


def require_room_for_enabled(session: Session, org_id: uuid.UUID) -> None:
    """Raises `Conflict` if as many evaluators are enabled as can be."""
    count = _count(_evaluators(org_id).where(Evaluator.enabled))
    _require(session, count, MAX_ENABLED, "enabled evaluators: switch one off first")


def require_room_for_version(session: Session, evaluator: Evaluator) -> None:
    """Raises `Conflict` if the evaluator has as many versions as it can have."""
    rows = select(EvaluatorVersion.id).where(
        EvaluatorVersion.org_id == evaluator.org_id, EvaluatorVersion.evaluator_id == evaluator.id
    )
    what = f"versions of {evaluator.key}: create another evaluator"
    _require(session, _count(rows), MAX_VERSIONS, what)


def require_room_for_pool(session: Session, org_id: uuid.UUID) -> None:
    """Raises `Conflict` if the organization has as many pools as it can have."""
    rows = select(EvaluatorPool.id).where(EvaluatorPool.org_id == org_id)
    _require(session, _count(rows), MAX_POOLS, "pools: delete one first")


def _evaluators(org_id: uuid.UUID) -> Select[uuid.UUID]:
    return select(Evaluator.id).where(Evaluator.org_id == org_id, Evaluator.archived_at.is_(None))


def _count(rows: Select[uuid.UUID]) -> Select[int]:
    return select(func.count()).select_from(rows.subquery())


def _require(session: Session, count: Select[int], most: int, what: str) -> None:
    if (session.scalar(count) or 0) >= most:
        raise Conflict(f"an organization can have at most {most} {what}", code="limit")

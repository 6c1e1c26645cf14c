"""Pools: workers of an organization that ask for runs, with one token each.

Of a token only the SHA-256 is kept, so it is shown once; a new one ends the old.
"""

import hashlib
import secrets
import uuid

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from shared.access.audit_log import fields_of, record
from shared.evaluation.evaluators import limits
from shared.evaluation.evaluators.models import Evaluator, EvaluatorPool, EvaluatorWorker
from shared.foundation.core import bounds
from shared.foundation.core.errors import Conflict
from shared.foundation.postgres import transaction_time
from shared.foundation.postgres.rows import flush_unique, require_row

MAX_NAME_CHARS = 128
PREFIX = "wpw_"
_TOKEN_BYTES = 32


def hash_token(token: str) -> bytes:
    """Returns what is stored of a token."""
    return hashlib.sha256(token.encode()).digest()


def list_(session: Session, org_id: uuid.UUID) -> list[EvaluatorPool]:
    """Lists the organization's pools by name."""
    return list(session.scalars(_of(org_id).order_by(EvaluatorPool.name)))


def workers_of(session: Session, org_id: uuid.UUID) -> dict[uuid.UUID, list[EvaluatorWorker]]:
    """Returns the workers of each pool of an organization that has any, by their names."""
    rows = select(EvaluatorWorker).where(EvaluatorWorker.org_id == org_id)
    found: dict[uuid.UUID, list[EvaluatorWorker]] = {}
    for row in session.scalars(rows.order_by(EvaluatorWorker.worker_id)):
        found.setdefault(row.pool_id, []).append(row)
    return found


def create(
    session: Session, org_id: uuid.UUID, name: str, by: str, *, may_define: bool
) -> tuple[EvaluatorPool, str]:
    """Creates a pool; returns it with its token.

    Raises `Invalid` naming the field, and `Conflict` if the name is taken and at the limit.
    """
    name = bounds.require_name("name", name, most=MAX_NAME_CHARS)
    limits.hold(session, org_id)
    limits.require_room_for_pool(session, org_id)
    token, moment = _new_token(), transaction_time(session)
    pool = EvaluatorPool(
        org_id=org_id,
        name=name,
        may_define=may_define,
        token_hash=hash_token(token),
        created_by=by,
        created_at=moment,
        updated_at=moment,
    )
    session.add(pool)
    taken = Conflict("a pool of this name exists: choose another name", code="pool_exists")
    flush_unique(session, {"uq_evaluator_pools_org_id": taken})
    logged = fields_of(pool, "name", "may_define")
    record(session, org_id, "evaluator_pool.create", of=pool, after=logged)
    return pool, token


def renew_token(session: Session, org_id: uuid.UUID, pool_id: str) -> tuple[EvaluatorPool, str]:
    """Gives a pool a new token and returns both; run it in `cache.at_once`. Raises `NotFound`."""
    pool = _changeable(session, org_id, pool_id)
    token = _new_token()
    pool.token_hash = hash_token(token)
    pool.updated_at = transaction_time(session)
    record(session, org_id, "evaluator_pool.renew_token", of=pool)
    return pool, token


def delete(session: Session, org_id: uuid.UUID, pool_id: str) -> None:
    """Deletes a pool with its workers; run it in `cache.at_once`.

    Raises `NotFound`, and `Conflict` while an evaluator uses it.
    """
    limits.hold(session, org_id)
    pool = _changeable(session, org_id, pool_id)
    users = select(func.count()).where(Evaluator.org_id == org_id, Evaluator.pool_id == pool.id)
    if session.scalar(users):
        raise Conflict(
            "evaluators use this pool: delete them or give them another pool first",
            code="pool_in_use",
        )
    session.delete(pool)
    logged = fields_of(pool, "name", "may_define")
    record(session, org_id, "evaluator_pool.delete", of=pool, before=logged)


def _new_token() -> str:
    return PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)


def _changeable(session: Session, org_id: uuid.UUID, pool_id: str) -> EvaluatorPool:
    rows = _of(org_id).with_for_update()
    return require_row(session, rows, EvaluatorPool.id, pool_id, "pool")


def _of(org_id: uuid.UUID) -> Select[EvaluatorPool]:
    return select(EvaluatorPool).where(EvaluatorPool.org_id == org_id)

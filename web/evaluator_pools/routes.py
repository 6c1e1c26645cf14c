"""Pools of workers: list, create and delete them, and renew their tokens."""

from collections.abc import Sequence
from typing import Any

from shared.evaluation.evaluators import pools
from shared.evaluation.evaluators.models import EvaluatorPool, EvaluatorWorker
from web.auth import current_identity, requires
from web.blueprint import Blueprint
from web.evaluator_pools import schemas
from web.responses import row_of
from web.transaction import Tx, in_transaction, in_transaction_at_once

blueprint = Blueprint("evaluator_pools", "Workers that evaluate sessions where they run")

# Workers get transcripts.
_READS = "events:read"


@blueprint.route("/evaluator-pools")
@requires("evaluations:read")
@blueprint.response(200, schemas.PoolList)
@in_transaction
def list_evaluator_pools(tx: Tx) -> dict[str, Any]:
    """List the organization's pools by name, with their workers."""
    workers = pools.workers_of(*tx)
    return {"pools": [_row(one, workers.get(one.id, ())) for one in pools.list_(*tx)]}


@blueprint.route("/evaluator-pools", methods=["POST"])
@requires("settings:write")
@blueprint.needs_too(_READS)
@blueprint.arguments(schemas.PoolBody)
@blueprint.response(201, schemas.PoolWithToken, errors=(409,))
@in_transaction
def create_evaluator_pool(tx: Tx, body: dict[str, Any]) -> dict[str, Any]:
    """Create a pool. The answer shows the token of its workers, once.

    It needs `events:read`, too. An organization has at most 20 pools.
    """
    _require_reads()
    may_define = body["may_define"] is not False
    by = current_identity().name
    made, token = pools.create(*tx, body["name"], by, may_define=may_define)
    return row_of(schemas.PoolWithToken, made, workers=[], token=token)


@blueprint.route("/evaluator-pools/<pool_id>", methods=["DELETE"])
@requires("settings:write")
@blueprint.needs_too(_READS)
@blueprint.response(204, errors=(409,))
@in_transaction_at_once
def delete_evaluator_pool(tx: Tx, pool_id: str) -> None:
    """Delete a pool that no evaluator uses. Its token stops working with the next request.

    It needs `events:read`, too.
    """
    _require_reads()
    pools.delete(*tx, pool_id)


@blueprint.route("/evaluator-pools/<pool_id>/token", methods=["POST"])
@requires("settings:write")
@blueprint.needs_too(_READS)
@blueprint.response(200, schemas.PoolWithToken)
@in_transaction_at_once
def renew_evaluator_pool_token(tx: Tx, pool_id: str) -> dict[str, Any]:
    """Give a pool a new token. The old one stops working with the next request.

    It needs `events:read`, too.
    """
    _require_reads()
    pool, token = pools.renew_token(*tx, pool_id)
    workers = _worker_rows(pools.workers_of(*tx).get(pool.id, ()))
    return row_of(schemas.PoolWithToken, pool, workers=workers, token=token)


def _require_reads() -> None:
    current_identity().require_any((_READS,))


def _row(pool: EvaluatorPool, workers: Sequence[EvaluatorWorker]) -> dict[str, Any]:
    return row_of(schemas.PoolRow, pool, workers=_worker_rows(workers))


def _worker_rows(workers: Sequence[EvaluatorWorker]) -> list[dict[str, Any]]:
    return [row_of(schemas.WorkerRow, one, leased=0) for one in workers]

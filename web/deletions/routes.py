"""Deletions: request, preview, list and prove them."""

from typing import Any

from shared.upkeep.deletions import proof, service
from shared.upkeep.deletions.models import Deletion
from shared.upkeep.deletions.target import target_of
from web.auth import current_actor, current_org_id, requires
from web.blueprint import Blueprint
from web.deletions import schemas
from web.responses import row_of
from web.state import runtime
from web.transaction import Tx, in_transaction

blueprint = Blueprint("deletions", "Sessions removed for good, with a proof")


@blueprint.route("/deletions", methods=["POST"])
@requires("events:delete")
@blueprint.arguments(schemas.DeletionBody)
@blueprint.response(202, schemas.DeletionRow, errors=(409,))
@in_transaction
def request_deletion(tx: Tx, body: dict[str, Any]) -> dict[str, Any]:
    """Delete sessions with everything about them, for good.

    `field` and `equals` name a person: every session with an event whose payload has this value
    there is deleted as a whole. `user_id` does so with every session that has an event of this
    user, some after others. Events that arrive for a deleted session later are dropped.
    """
    deletion = service.request(
        tx.session, runtime().queue, tx.org_id, target_of(**body), current_actor().name
    )
    return _row(schemas.DeletionRow, deletion)


@blueprint.route("/deletions/preview", methods=["POST"])
@requires("events:delete")
@blueprint.arguments(schemas.DeletionBody)
@blueprint.response(200, schemas.DeletionPreview, errors=(504,))
def preview_deletion(body: dict[str, Any]) -> dict[str, Any]:
    """Count what a deletion would remove now, and remove nothing."""
    return service.preview(runtime(), current_org_id(), target_of(**body))


@blueprint.route("/deletions")
@requires("events:delete")
@blueprint.arguments(schemas.DeletionQuery, location="query")
@blueprint.response(200, schemas.DeletionList)
@in_transaction
def list_deletions(tx: Tx, query: dict[str, Any]) -> dict[str, Any]:
    """List deletions, newest first."""
    found = service.list_(*tx, **query)
    return {"deletions": [_row(schemas.DeletionRow, one) for one in found]}


@blueprint.route("/deletions/<deletion_id>")
@requires("events:delete")
@blueprint.response(200, schemas.DeletionDetail)
@in_transaction
def read_deletion(tx: Tx, deletion_id: str) -> dict[str, Any]:
    """Read what a deletion removed, and the statements that show that nothing is left."""
    deletion = service.get(*tx, deletion_id)
    return _row(
        schemas.DeletionDetail,
        deletion,
        dropped_events=proof.dropped(tx.session, deletion),
        proofs=[one._asdict() for one in proof.proofs_of(tx.session, deletion)],
        not_reached=list(proof.NOT_REACHED),
    )


def _row(schema: type[schemas.DeletionRow], deletion: Deletion, **more: object) -> dict[str, Any]:
    return row_of(schema, deletion, removed=deletion.removed_so_far, **more)

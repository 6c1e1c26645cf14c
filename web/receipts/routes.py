"""Receipts: what arrived from which sender, and what was skipped."""

from typing import Any
from uuid import UUID

from shared.intake.receipts.listing import ReceiptFilters, list_receipts
from shared.intake.receipts.skipped import list_skipped
from shared.intake.receipts.totals import Bucket
from web.auth import current_identity, current_org_id, requires, requires_any
from web.blueprint import Blueprint
from web.receipts import schemas
from web.state import runtime

blueprint = Blueprint("receipts", "What arrived from which sender, and what became of it")


@blueprint.route("/receipts")
@requires_any("events:read", "settings:read")
@blueprint.arguments(schemas.ReceiptQuery, location="query")
@blueprint.response(200, schemas.ReceiptPage)
def list_receipts_of_senders(query: dict[str, Any]) -> dict[str, Any]:
    """List what arrived, by sender, key and service, newest first.

    Receipts are kept for 30 days. A sender from which something arrives moves to the front.
    """
    bucket: Bucket = query.pop("bucket")
    cursor, limit = query.pop("cursor"), query.pop("limit")
    filters = ReceiptFilters(**{**query, "key_id": _text(query["key_id"])})
    page = list_receipts(
        runtime(), current_org_id(), filters, bucket=bucket, cursor=cursor, limit=limit
    )
    return {
        "receipts": [schemas.receipt_row(row) for row in page.rows],
        "next_cursor": page.next_cursor,
    }


@blueprint.route("/receipts/skipped")
@requires("events:read")
@blueprint.arguments(schemas.SkippedQuery, location="query")
@blueprint.response(200, schemas.SkippedPage)
def list_skipped_lines(query: dict[str, Any]) -> dict[str, Any]:
    """List lines and records that were not accepted, newest first.

    The last 1000 of an organization are kept, for 7 days.
    """
    page = list_skipped(
        runtime().redis,
        current_identity().org_id,
        **{**query, "key_id": _text(query["key_id"])},
    )
    return {"skipped": page.rows, "next_cursor": page.next_cursor}


def _text(key_id: UUID | None) -> str | None:
    return None if key_id is None else str(key_id)

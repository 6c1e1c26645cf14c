"""Request and response schemas of the routes of receipts."""

from typing import Any, get_args

from marshmallow import Schema, validate

from shared.intake.receipts.folding import DUPLICATE_SECS, MAX_ROWS, OTHER
from shared.intake.receipts.listing import Receipts
from shared.intake.receipts.origin import MAX_CHARS, Source
from shared.intake.receipts.receipt import MAX_REASONS
from shared.intake.receipts.skipped import MAX_EXCERPT
from shared.intake.receipts.totals import Bucket
from web import fields
from web.params import Limit
from web.responses import row_of

_SOURCES = get_args(Source)


def _source_filter() -> fields.Field:
    return fields.text("the way in", optional=True, validate=validate.OneOf(_SOURCES))


class ReceiptQuery(Schema):
    """The receipts to list."""

    ts_from = fields.moment(
        "only what was received from this time on; the default is 24 hours ago. Receipts are"
        " counted by the hour, so an hour counts whole if it has requests in the range",
        optional=True,
    )
    ts_to = fields.moment(
        "only what was received before this time; the default is now", optional=True
    )
    source = _source_filter()
    key_id = fields.uuid("the key of the requests", optional=True)
    service = fields.text("the service that sent", optional=True)
    bucket = fields.text(
        "a row for each hour or day (UTC); `none`: one for the whole range",
        load_default="none",
        validate=validate.OneOf(get_args(Bucket)),
    )
    cursor = fields.cursor()
    limit = Limit(default=50, cap=200)


class ReceiptReason(Schema):
    """A reason, and how often it was given."""

    reason = fields.text()
    count = fields.integer()


class ReceiptLag(Schema):
    """Milliseconds from the answer to a request until its batch was stored."""

    p50 = fields.integer("median, exact within 5 %; null if nothing was stored yet", null=True)
    max = fields.integer("null if nothing was stored yet", null=True)


class Receipt(Schema):
    """The arrivals from one sender with one key, and their outcomes.

    The counts are exact.
    """

    bucket_start = fields.moment("null without buckets", null=True)
    source = fields.text("the way in", enum=list(_SOURCES))
    key_id = fields.uuid("null for a person who is signed in", null=True)
    key_name = fields.text(null=True)
    sender = fields.text(
        f"User-Agent of the requests, at most {MAX_CHARS} characters; of more than {MAX_ROWS}"
        f" origins in an hour, further ones are counted together as `{OTHER}`"
    )
    machine_id = fields.text(
        "`X-Watchpost-Machine-Id` or `X-Failproofai-Machine-Id` of the requests", null=True
    )
    service = fields.text("`service.name` of OpenTelemetry", null=True)
    requests = fields.integer("requests, including refused ones; each counts for all its services")
    accepted = fields.integer("accepted events; of OpenTelemetry spans and log records")
    duplicate = fields.integer(
        f"accepted ones in requests whose unpacked bytes had come within {DUPLICATE_SECS // 3600}"
        " hours; of imports those that were known, which are not accepted"
    )
    skipped = fields.integer("bad events, spans or log records, which are not stored")
    not_stored = fields.integer("accepted spans and log records that are not stored by choice")
    dead_lettered = fields.integer("accepted ones that could not be stored")
    refused = fields.integer("requests that were answered with 503 or 429")
    warnings = fields.integer("faults of accepted events, as `POST /events` names them")
    reasons = fields.rows(
        ReceiptReason,
        f"the {MAX_REASONS} most frequent reasons of what was skipped, not stored, dead-lettered,"
        " refused or warned of",
    )
    first_at = fields.moment("first request")
    last_at = fields.moment("last request")
    lag_ms = fields.nested(ReceiptLag)
    newest_event_at = fields.moment("time of the newest event that was accepted", null=True)


class ReceiptPage(Schema):
    """A page of receipts, the newest last request first."""

    receipts = fields.rows(Receipt)
    next_cursor = fields.next_cursor()


class SkippedQuery(Schema):
    """The bad lines and records to list."""

    source = _source_filter()
    key_id = fields.uuid("the key of the requests", optional=True)
    cursor = fields.cursor()
    limit = Limit(default=50, cap=200)


class SkippedRow(Schema):
    """A line or record that was not accepted."""

    at = fields.moment()
    source = fields.text("the way in", enum=list(_SOURCES))
    key_id = fields.uuid("null for a person who is signed in", null=True)
    sender = fields.text("User-Agent of the request")
    service = fields.text("`service.name` of OpenTelemetry", null=True)
    where = fields.text("number of the line or element, counted from 1; of a span its id")
    reason = fields.text()
    excerpt = fields.text(f"its first {MAX_EXCERPT} characters without the values of redacted keys")


class SkippedPage(Schema):
    """A page of bad lines and records, newest first."""

    skipped = fields.rows(SkippedRow)
    next_cursor = fields.next_cursor()


def receipt_row(receipts: Receipts) -> dict[str, Any]:
    """Returns a row of `Receipt`."""
    return row_of(Receipt, receipts, **receipts.counts)

"""The receipts of POST /events, and of what workers store or cannot store."""

from collections.abc import Iterable

import redis

from shared.foundation.core.clock import now_us
from shared.intake.ingest.decode import DecodedBody
from shared.intake.ingest.stream import StreamEntry
from shared.intake.receipts.lag import lag_tally
from shared.intake.receipts.origin import Origin
from shared.intake.receipts.receipt import (
    NEWEST,
    Receipt,
    add_up,
    count_if_possible,
    digest_of,
    reasons_of,
    receipt_of_mark,
)
from shared.intake.receipts.skipped import Skip
from shared.intake.redaction.excerpts import excerpt
from shared.intake.redaction.rules import Redactor


def receipt_of(
    origin: Origin, unpacked: bytes, decoded: DecodedBody, redactor: Redactor
) -> Receipt:
    """Returns the receipt of an unpacked body."""
    row = origin.of()
    tally = {"requests": 1, "accepted": len(decoded.batch)}
    if decoded.batch.ts:
        tally[NEWEST] = max(decoded.batch.ts)
    if decoded.skipped:
        tally["skipped"] = decoded.skipped
        tally.update(reasons_of(decoded.reasons))
    if decoded.warnings.reasons:
        tally["warnings"] = decoded.warnings.reasons.total()
        add_up(tally, reasons_of(decoded.warnings.reasons))
    skips = tuple(
        (row, Skip(str(error.line), error.error, excerpt(line, redactor)))
        for error, line in decoded.bad
    )
    return Receipt(now_us(), {row: tally}, digest_of(unpacked), skips)


def count_stored(client: redis.Redis, entries: Iterable[StreamEntry]) -> None:
    """Counts the lags of entries that were stored just now; together, if they have one origin."""
    now_ms = now_us() // 1000
    counted: dict[tuple[str, str, int], Receipt] = {}
    for entry in entries:
        if entry.receipt is not None:
            later = receipt_of_mark(entry.receipt)
            row = (entry.org_id, later.origin, later.hour)
            counted.setdefault(row, later).add(lag_tally(now_ms - later.at_us // 1000))
    count_if_possible(client, ((org_id, one) for (org_id, *_), one in counted.items()))


def dead_letter_of(mark: str | None, reason: str) -> Receipt | None:
    """Returns the receipt of an event that was set aside, if its entry has a mark."""
    if mark is None:
        return None
    receipt = receipt_of_mark(mark)
    receipt.add({"dead_lettered": 1, **reasons_of({reason: 1})})
    return receipt

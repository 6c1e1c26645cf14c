"""The receipt of an import."""

from collections.abc import Callable

from shared.foundation.core.clock import now_us
from shared.intake.imports.assembling import Conversion
from shared.intake.imports.file import ImportFile
from shared.intake.ingest.batch import Batch
from shared.intake.receipts.origin import Origin
from shared.intake.receipts.receipt import NEWEST, Receipt, reasons_of
from shared.intake.receipts.skipped import Skip


def receipt_of(
    origin: Origin,
    file: ImportFile,
    converted: Conversion,
    excerpt: Callable[[bytes], str],
    *,
    new: Batch,
    left_alone: dict[str, int],
) -> Receipt:
    """Returns the receipt of a file; `left_alone` counts events of skipped sessions by reason.

    `excerpt` makes the beginning of a bad line, without the values of redacted keys.
    """
    row = origin.of()
    not_stored = sum(left_alone.values())
    counts = {
        "accepted": len(new),
        "duplicate": len(converted.batch) - len(new) - not_stored,
        "not_stored": not_stored,
        "skipped": converted.skipped,
    }
    tally = {"requests": 1, **{name: count for name, count in counts.items() if count}}
    tally.update(reasons_of({**converted.reasons, **left_alone}))
    if new.ts:
        tally[NEWEST] = max(new.ts)
    return Receipt(now_us(), {row: tally}, skips=_skips(row, file, converted, excerpt))


def _skips(
    row: str, file: ImportFile, converted: Conversion, excerpt: Callable[[bytes], str]
) -> tuple[tuple[str, Skip], ...]:
    if not converted.bad:
        return ()
    texts = {line.number: line.text for line in file.lines()}
    return tuple(
        (row, Skip(str(line), reason, excerpt(texts.get(line, b""))))
        for line, reason in converted.bad.items()
    )

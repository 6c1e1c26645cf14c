"""Events as JSON."""

from typing import Any

import msgspec

from shared.foundation.clickhouse import Row
from shared.foundation.clickhouse.event_columns import LISTED
from shared.foundation.core.clock import format_us

HEAD = tuple(column.name for column in LISTED)
AMOUNTS = tuple(column.name for column in LISTED if "Decimal" in column.type)


def event_row(row: Row, last: str) -> dict[str, Any]:
    """Returns the row of an event from the columns `HEAD` and `last`: its payload or summary."""
    event = dict(zip(HEAD, row, strict=False))
    event["ts"] = format_us(event["ts"])
    for name in AMOUNTS:
        if (amount := event[name]) is not None:
            event[name] = float(amount)
    event[last] = msgspec.Raw(row[-1].encode()) if last == "payload" else row[-1]
    return event

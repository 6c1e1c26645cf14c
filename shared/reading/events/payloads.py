"""The payloads of a page within bounds: a thousand events of a megabyte do not fit in an answer.

A page is first read with the small payloads. The large ones are fetched by key once it is known how
many of them fit, so that nothing is read in vain.
"""

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.event_columns import SELECT_KEY, TABLE
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.where import Where

COLUMN = "payload"
_SMALL_BYTES = 32 * 1024

# Selected in place of the payload, and in addition to it, before the three columns of the key.
SMALL = f"if(length({COLUMN}) <= {_SMALL_BYTES}, {COLUMN}, '')"
SIZE = f"length({COLUMN})"
WEIGHT = -4

_LARGE = f"""
SELECT {SELECT_KEY}, {COLUMN}
FROM {TABLE} FINAL
WHERE {{where}}
"""


def add_large(clickhouse: ClickHouse, org_id: str, rows: list[Row], place: int) -> list[Row]:
    """Adds the large payloads to `rows` at `place`; drops events that were deleted meanwhile.

    Rows end with the size of their payload and the values of `SELECT_KEY`.
    """
    keys = [row[-3:] for row in rows if row[WEIGHT] > _SMALL_BYTES]
    if not keys:
        return rows
    times = [key[0] for key in keys]
    where = Where(org_id).any_of("id", [key[2] for key in keys], "UInt64")
    where.within("ts", min(times), max(times) + 1)
    found = clickhouse.rows(_LARGE.format(where=where), where.params, settings=PAGE)
    large = {row[:3]: row[3] for row in found}
    complete = []
    for row in rows:
        if row[WEIGHT] <= _SMALL_BYTES:
            complete.append(row)
        elif row[-3:] in large:
            complete.append((*row[:place], large[row[-3:]], *row[place + 1 :]))
    return complete

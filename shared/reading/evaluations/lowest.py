"""The results with the lowest scores under one key."""

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.core.clock import now_us
from shared.foundation.core.page_bytes import how_many_fit
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.evaluations.reading import KEY, NEWEST_FIRST, ResultKey, complete, fetch
from shared.reading.evaluations.records import Evaluation
from shared.reading.evaluations.source import source_of

_LOWEST = f"""
SELECT {KEY} FROM {{source}}
WHERE mapContains(scores, {{{{lowest:String}}}})
ORDER BY scores[{{{{lowest:String}}}}], {NEWEST_FIRST}
LIMIT {{limit:d}}
"""


def lowest(
    clickhouse: ClickHouse, org_id: str, wanted: EvaluationFilters, key: str, *, limit: int
) -> list[Evaluation]:
    """Returns at most `limit` results that match and have a score under `key`.

    The lowest score is first; of equal ones the newest result. There are fewer results if they
    would be larger than `MAX_PAGE_BYTES` together.
    """
    source = source_of(org_id, wanted, as_of=now_us())
    rows = clickhouse.rows(
        _LOWEST.format(source=source.sql, limit=limit),
        {**source.params, "lowest": key},
        settings=PAGE,
    )
    found = fetch(clickhouse, org_id, [ResultKey(*row) for row in rows], wanted.table)
    shown = found[: how_many_fit([row.weight for row in found])]
    return list(complete(clickhouse, org_id, shown, wanted.table).values())

"""The list of evaluation results, newest first."""

import msgspec

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.clock import now_us
from shared.foundation.core.cursor import Page, decode_cursor, encode_cursor
from shared.foundation.core.page_bytes import how_many_fit
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.evaluations.latest import newest_of_sessions
from shared.reading.evaluations.reading import ResultKey, complete, fetch, newest
from shared.reading.evaluations.records import Evaluation


class _ResultCursor(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The last row of a page, and the time of the first page (all in microseconds).

    "Newest of its session" is evaluated as of that time. Otherwise a session that is evaluated
    again during paging would vanish from the remaining pages.
    """

    completed_at: int
    evaluation_id: str
    as_of: int


def page(
    clickhouse: ClickHouse,
    org_id: str,
    wanted: EvaluationFilters,
    *,
    limit: int,
    cursor: str | None,
) -> Page[Evaluation]:
    """Returns one page of at most `limit` results; raises `Invalid` for a foreign `cursor`.

    The page ends before `limit` if the results together would be larger than `MAX_PAGE_BYTES`.
    """
    read = None if cursor is None else decode_cursor(cursor, _ResultCursor)
    after = None if read is None else ResultKey(read.completed_at, read.evaluation_id)
    as_of = now_us() if read is None else read.as_of
    if wanted["latest_per_session"]:
        keys = newest_of_sessions(
            clickhouse, org_id, wanted, as_of=as_of, after=after, limit=limit + 1
        )
        found = fetch(clickhouse, org_id, keys, wanted.table)
    else:
        found = newest(clickhouse, org_id, wanted, after=after, limit=limit + 1)
    shown = found[: how_many_fit([row.weight for row in found[:limit]])]
    more = len(found) > len(shown)
    return Page(
        list(complete(clickhouse, org_id, shown, wanted.table).values()),
        encode_cursor(_ResultCursor(*shown[-1].key, as_of)) if more else None,
    )

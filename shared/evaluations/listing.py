"""The list of evaluation results, newest first."""

from typing import NamedTuple

import msgspec

from shared.clickhouse import ClickHouse
from shared.clickhouse.settings import PAGE
from shared.clickhouse.where import moment
from shared.clock import now_us
from shared.cursor import decode_cursor, encode_cursor
from shared.evaluations.filters import EvaluationFilter
from shared.evaluations.latest import ORDER_KEY
from shared.evaluations.records import SELECT_LIST, Evaluation, from_row


class EvaluationPage(NamedTuple):
    """Some results and the cursor of those after them, None on the last page."""

    evaluations: list[Evaluation]
    next_cursor: str | None


class _Cursor(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The last row of a page, and when the first page was read (microseconds, all of them).

    "Newest of its session" is asked as of that moment: otherwise a session that is evaluated again
    while somebody pages would vanish from the pages still to come.
    """

    completed_at: int
    evaluation_id: str
    as_of: int


def page(
    clickhouse: ClickHouse, org_id: str, wanted: EvaluationFilter, *, limit: int, cursor: str | None
) -> EvaluationPage:
    """One page of at most `limit` results; raises `Invalid` for a foreign `cursor`."""
    after = None if cursor is None else decode_cursor(cursor, _Cursor)
    as_of = now_us() if after is None else after.as_of
    where = wanted.where(org_id)
    if after is not None:
        # The plain bound on time is what the primary key can use, the tuple is what is meant.
        where.add(
            f"completed_at <= {moment('after')}"
            f" AND {ORDER_KEY} < ({moment('after')}, {{after_id:String}})",
            after=after.completed_at,
            after_id=after.evaluation_id,
        )
    if wanted.latest_per_session:
        where.add(_IS_LATEST, as_of=as_of)
    # LIMIT BY drops the copies of a result that was stored twice, and unlike FINAL it lets the
    # table be read backwards from its end until the page is full.
    rows = clickhouse.rows(
        f"SELECT {SELECT_LIST} FROM evaluations WHERE {where}"
        " ORDER BY completed_at DESC, evaluation_id DESC"
        " LIMIT 1 BY completed_at, evaluation_id LIMIT {limit:UInt32}",
        {**where.params, "limit": limit + 1},
        settings=PAGE,
    )
    found = [from_row(row) for row in rows[:limit]]
    more = len(rows) > limit
    return EvaluationPage(found, _cursor_after(found[-1], as_of) if more else None)


_IS_LATEST = f"""{ORDER_KEY} IN (
    SELECT max({ORDER_KEY}) FROM evaluations
    WHERE org_id = {{org_id:String}} AND completed_at <= {moment("as_of")}
    GROUP BY session_id
)"""


def _cursor_after(last: Evaluation, as_of: int) -> str:
    return encode_cursor(_Cursor(last.completed_at, last.evaluation_id, as_of))

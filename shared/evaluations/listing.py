"""The list of evaluation results, newest first."""

from datetime import datetime
from typing import NamedTuple

import msgspec

from shared.clickhouse import ClickHouse
from shared.clickhouse.settings import PAGE
from shared.clickhouse.where import Where, moment
from shared.clock import now_us
from shared.cursor import decode_cursor, encode_cursor
from shared.evaluations.latest import ORDER_KEY
from shared.evaluations.records import SELECT_LIST, Evaluation, Status, from_row
from shared.evaluations.score_filters import ScoreFilter, conditions


class EvaluationFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which results: AND between fields, OR inside one; an empty field is no condition.

    `ts_from` (inclusive) and `ts_to` (exclusive) bound the moment of completion. With
    `latest_per_session` a result must also be the newest of its session, whatever else is asked:
    a session whose error was followed by a success is not among the latest errors.
    """

    session_ids: tuple[str, ...] = ()
    agent_ids: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = ()
    scores: tuple[ScoreFilter, ...] = ()
    ts_from: datetime | None = None
    ts_to: datetime | None = None
    latest_per_session: bool = False


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
    where = _where(org_id, wanted)
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


def _where(org_id: str, wanted: EvaluationFilter) -> Where:
    where = (
        Where(org_id)
        .any_of("session_id", wanted.session_ids)
        .any_of("agent_id", wanted.agent_ids)
        .any_of("environment", wanted.environments)
        .any_of("status", wanted.statuses)
        .between("completed_at", wanted.ts_from, wanted.ts_to)
    )
    texts, params = conditions(wanted.scores)
    where.params.update(params)
    for text in texts:
        where.add(text)
    return where


def _cursor_after(last: Evaluation, as_of: int) -> str:
    return encode_cursor(_Cursor(last.completed_at, last.evaluation_id, as_of))

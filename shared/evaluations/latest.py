"""The newest result of each session."""

from collections.abc import Sequence

from shared.clickhouse import ClickHouse
from shared.clickhouse.settings import PAGE
from shared.clickhouse.where import Where
from shared.evaluations.records import SELECT_LIST, Evaluation, from_row
from shared.evaluations.score_filters import ScoreFilter, conditions

# Results of one moment are told apart by their id, here as in every order of results.
ORDER_KEY = "(completed_at, evaluation_id)"


def latest_of(
    clickhouse: ClickHouse, org_id: str, session_ids: Sequence[str]
) -> dict[str, Evaluation]:
    """The newest result of each of `session_ids` that has one, by session id."""
    if not session_ids:
        return {}
    where = Where(org_id).any_of("session_id", session_ids)
    rows = clickhouse.rows(
        f"SELECT {SELECT_LIST} FROM evaluations WHERE {where}"
        " ORDER BY completed_at DESC, evaluation_id DESC LIMIT 1 BY session_id",
        where.params,
        settings=PAGE,
    )
    return {record.session_id: record for record in map(from_row, rows)}


def sessions_by_latest(where: Where, statuses: Sequence[str], scores: Sequence[ScoreFilter]) -> str:
    """SQL of the ids of the sessions whose newest result has one of `statuses` and all `scores`.

    Its parameters are added to `where`, whose `org_id` it shares. No statuses means any.
    """
    newest = f"argMax({{column}}, {ORDER_KEY})"
    wanted, params = conditions(scores, newest.format(column="scores"))
    if statuses:
        wanted.append(f"{newest.format(column='status')} IN {{latest_status:Array(String)}}")
        params["latest_status"] = list(statuses)
    where.params.update(params)
    having = " AND ".join(wanted) or "true"
    return (
        "SELECT session_id FROM evaluations WHERE org_id = {org_id:String}"
        f" GROUP BY session_id HAVING {having}"
    )

"""Decides for which sessions a condition holds, on the events that are stored now."""

from collections.abc import Sequence

from shared.evaluation.evaluators.conditions.nodes import Condition, Leaf, leaves
from shared.evaluation.evaluators.conditions.statement import FOR_MANY, condition_sql
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.settings import SMALL_PAGE

_GIVEN = "SELECT arrayJoin({session_ids:Array(String)})"
# The statement for fewer sessions takes longer to share among threads than to run.
_SOME = 100


def decide(
    clickhouse: ClickHouse, org_id: str, session_ids: Sequence[str], condition: Condition | None
) -> dict[str, Leaf | None]:
    """Returns the leaf that decided against each session, None if the condition holds.

    The first leaf counts, in the order in which they are written. Sessions without stored events
    are missing; only None, which holds for all, does not look at any.
    """
    if condition is None or not session_ids:
        return dict.fromkeys(session_ids)
    found = condition_sql(condition, _GIVEN)
    rows = clickhouse.rows(
        f"SELECT session_id, leaf FROM ({found.sql})",
        {**found.params, "org_id": org_id, "session_ids": list(session_ids)},
        settings=SMALL_PAGE if len(session_ids) <= _SOME else FOR_MANY,
    )
    places = (None, *leaves(condition))
    return {session_id: places[place] for session_id, place in rows}

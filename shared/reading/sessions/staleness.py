"""Which evaluations do not cover the newest events of their sessions."""

from collections.abc import Sequence

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.settings import SMALL_PAGE
from shared.foundation.clickhouse.where import Where
from shared.reading.evaluations.records import Evaluation
from shared.reading.sessions import coverage, facts

_NEWEST = """
SELECT session_id, max(last_arrival) FROM agent_sessions WHERE {where} GROUP BY session_id
"""


def stale_among(clickhouse: ClickHouse, org_id: str, rows: Sequence[Evaluation]) -> set[str]:
    """Returns the ids of the evaluations whose sessions got events since.

    An event that was sent again keeps its first arrival, so it makes nothing stale. Results without
    a revision are never stale: nothing tells which events they cover.
    """
    known = {row.session_id for row in rows if row.revision}
    if not known:
        return set()
    where = Where(org_id).any_of("session_id", sorted(known))
    found = clickhouse.rows(_NEWEST.format(where=where), where.params, settings=SMALL_PAGE)
    newest = {session_id: int(arrival) for session_id, arrival in found}
    suspects = {row.session_id for row in rows if newest.get(row.session_id, 0) > row.revision > 0}
    sessions = facts.fetch(clickhouse, org_id, sorted(suspects))
    covered = coverage.of_sessions(clickhouse, org_id, list(sessions.values()))
    return {
        row.evaluation_id
        for row in rows
        if row.session_id in covered and covered[row.session_id].revision > row.revision > 0
    }

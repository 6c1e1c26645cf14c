"""The user and the version of sessions, for events that have none of their own."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.settings import SMALL_PAGE
from shared.foundation.clickhouse.where import Where
from shared.reading.dimensions.first_values import SELECTED, only_version_of, user_of
from shared.reading.sessions.facts import fetch


class SessionDimensions(NamedTuple):
    """The user and the version of a session, None if no event of it has one."""

    user_id: str | None
    agent_version: str | None


_OF_SESSIONS = f"""
SELECT session_id, {SELECTED}
FROM agent_sessions
WHERE {{where}}
GROUP BY session_id
"""
# The sessions are found by their key.
_SETTINGS = {**SMALL_PAGE, "optimize_use_projections": 0}


def of_sessions(
    clickhouse: ClickHouse, org_id: str, session_ids: Collection[str]
) -> dict[str, SessionDimensions]:
    """Returns the dimensions of those of the sessions that exist, by session id."""
    if not session_ids:
        return {}
    where = Where(org_id).any_of("session_id", sorted(session_ids))
    rows = clickhouse.rows(_OF_SESSIONS.format(where=where), where.params, settings=_SETTINGS)
    # Which of several versions counts, the root agent decides.
    versions = {name: only_version_of(firsts) for name, firsts in rows}
    unclear = [name for name, (is_clear, _) in versions.items() if not is_clear]
    facts = fetch(clickhouse, org_id, unclear)
    return {
        name: SessionDimensions(
            user_of(firsts),
            facts[name].agent_version if name in facts else versions[name][1],
        )
        for name, firsts in rows
    }


def filled(
    clickhouse: ClickHouse, org_id: str, columns: Sequence[str], rows: Sequence[Row]
) -> list[Row]:
    """Returns rows of events whose `user_id` and `agent_version` are the effective ones.

    Without these columns, and that of the session, the rows stay as they are.
    """
    if not {"session_id", *SessionDimensions._fields}.issubset(columns):
        return list(rows)
    session, *places = (columns.index(name) for name in ("session_id", *SessionDimensions._fields))
    lacking = {row[session] for row in rows if any(row[place] is None for place in places)}
    known = of_sessions(clickhouse, org_id, lacking)
    return [_filled(row, places, known.get(row[session])) for row in rows]


def _filled(row: Row, places: Sequence[int], dimensions: SessionDimensions | None) -> Row:
    if dimensions is None:
        return row
    values = list(row)
    for place, value in zip(places, dimensions, strict=True):
        if values[place] is None:
            values[place] = value
    return tuple(values)

"""The user and the version of sessions, for events that have none of their own."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.settings import SMALL_PAGE
from shared.foundation.clickhouse.where import Where
from shared.reading.dimensions.conditions import FIRST_VERSION
from shared.reading.dimensions.first_values import SELECTED, FirstValues, only_version_of, user_of


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
# The root agent decides, which takes longer to find.
_VERSIONS = f"""
SELECT session_id, nullIf({FIRST_VERSION}, '')
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
    firsts: dict[str, FirstValues] = dict(_read(clickhouse, org_id, _OF_SESSIONS, session_ids))
    clear = {name: only_version_of(values) for name, values in firsts.items()}
    unclear = [name for name, (is_clear, _) in clear.items() if not is_clear]
    versions = {name: version for name, (_, version) in clear.items()}
    if unclear:
        versions |= dict(_read(clickhouse, org_id, _VERSIONS, unclear))
    return {
        name: SessionDimensions(user_of(values), versions[name]) for name, values in firsts.items()
    }


def _read(clickhouse: ClickHouse, org_id: str, sql: str, session_ids: Collection[str]) -> list[Row]:
    where = Where(org_id).any_of("session_id", sorted(session_ids))
    return clickhouse.rows(sql.format(where=where), where.params, settings=_SETTINGS)


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

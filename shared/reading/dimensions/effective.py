"""The user and the version of sessions, for events that have none of their own."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.settings import SMALL_PAGE
from shared.foundation.clickhouse.where import Where
from shared.reading.dimensions.conditions import FIRST_VERSION
from shared.reading.dimensions.first_values import FirstValues, of_rows, only_version_of, user_of


class SessionDimensions(NamedTuple):
    """The user and the version of a session, None if no event of it has one."""

    user_id: str | None
    agent_version: str | None


# The rows are merged here: ClickHouse plans for longer than it reads them.
_ROWS = "SELECT session_id, first_values FROM agent_sessions WHERE {where}"
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
    clickhouse: ClickHouse,
    org_id: str,
    session_ids: Collection[str],
    known: Mapping[str, FirstValues] | None = None,
) -> dict[str, SessionDimensions]:
    """Returns the dimensions of those of the sessions that exist, by session id.

    `known` are first values of all of them, if they were read already.
    """
    if not session_ids:
        return {}
    if known is None:
        firsts = of_rows(_read(clickhouse, org_id, _ROWS, session_ids))
    else:
        firsts = {name: known[name] for name in session_ids if name in known}
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
    clickhouse: ClickHouse,
    org_id: str,
    columns: Sequence[str],
    rows: Sequence[Row],
    known: Mapping[str, FirstValues] | None = None,
) -> list[Row]:
    """Returns rows of events whose `user_id` and `agent_version` are the effective ones.

    Without these columns, and that of the session, the rows stay as they are. `known` are first
    values of all of the sessions, if they were read already.
    """
    if not {"session_id", *SessionDimensions._fields}.issubset(columns):
        return list(rows)
    session, *places = (columns.index(name) for name in ("session_id", *SessionDimensions._fields))
    lacking = {row[session] for row in rows if any(row[place] is None for place in places)}
    found = of_sessions(clickhouse, org_id, lacking, known)
    return [_filled(row, places, found.get(row[session])) for row in rows]


def _filled(row: Row, places: Sequence[int], dimensions: SessionDimensions | None) -> Row:
    if dimensions is None:
        return row
    values = list(row)
    for place, value in zip(places, dimensions, strict=True):
        if values[place] is None:
            values[place] = value
    return tuple(values)

"""The facts of a session that the table `agent_sessions` knows without reading events."""

from collections.abc import Sequence
from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.root_agent import FIRST_EVENT, root_agent
from shared.foundation.clickhouse.settings import PAGE, SMALL_PAGE
from shared.foundation.clickhouse.where import Where, us
from shared.reading.dimensions.first_values import SELECTED, has_attributes, user_of, version_of


class SessionKey(NamedTuple):
    """A session of any organization."""

    org_id: str
    session_id: str


class SessionFacts(NamedTuple):
    """The agent, the environment and the times of a session, in microseconds since the epoch.

    All of the session's events lie within `started_at` and `last_event_at`, both inclusive.
    `last_arrival_ms` is the time when the server received the newest batch of it, in milliseconds.
    `user_id` is that of its first event that has one; `agent_version` is that of the root agent's
    first event that has one, else of any first. `has_lists` tells whether any event may have tags
    or attributes.
    """

    session_id: str
    agent_id: str
    environment: str
    started_at: int
    last_event_at: int
    ended_at: int | None
    last_arrival_ms: int
    user_id: str | None = None
    agent_version: str | None = None
    has_lists: bool = False


# States are always merged here, because parts of one session may merge at any later time.
SELECT_LIST = f"""
    session_id,
    {us("min(started_at)")},
    {us("max(last_event_at)")},
    {root_agent()},
    {FIRST_EVENT}.2,
    mapApply((agent, ts) -> (agent, {us("ts")}), maxMap(agent_ends)),
    bitShiftRight(max(last_arrival), 21),
    {SELECTED},
    max(notEmpty(seen_values['tag']))
"""

_FACTS = f"""
SELECT {SELECT_LIST}
FROM agent_sessions
WHERE {{where}}
GROUP BY session_id
"""

_FACTS_OF_KEYS = f"""
SELECT toString(org_id), {SELECT_LIST}
FROM agent_sessions
WHERE (org_id, session_id) IN {{keys:Array(Tuple(String, String))}}
GROUP BY org_id, session_id
"""


def find(clickhouse: ClickHouse, org_id: str, session_id: str) -> SessionFacts | None:
    """Returns the facts of one session, None if no event of it was ever stored."""
    return fetch(clickhouse, org_id, [session_id]).get(session_id)


def fetch(
    clickhouse: ClickHouse, org_id: str, session_ids: Sequence[str]
) -> dict[str, SessionFacts]:
    """Returns the facts of those of `session_ids` that exist, by session id."""
    if not session_ids:
        return {}
    where = Where(org_id).any_of("session_id", session_ids)
    found = clickhouse.rows(_FACTS.format(where=where), where.params, settings=SMALL_PAGE)
    return {row[0]: from_row(row) for row in found}


def of_keys(clickhouse: ClickHouse, keys: Sequence[SessionKey]) -> dict[SessionKey, SessionFacts]:
    """Returns the facts of those sessions that exist, of several organizations at once."""
    if not keys:
        return {}
    wanted = {"keys": [tuple(key) for key in keys]}
    found = clickhouse.rows(_FACTS_OF_KEYS, wanted, settings=PAGE)
    return {SessionKey(row[0], row[1]): from_row(row[1:]) for row in found}


def events_of(org_id: str, facts: SessionFacts) -> Where:
    """Returns the condition for the session's events; by its times only its granules are read."""
    where = Where(org_id).add("session_id = {session_id:String}", session_id=facts.session_id)
    return where.within("ts", facts.started_at, facts.last_event_at + 1)


def from_row(row: Row) -> SessionFacts:
    """Reads the facts of a row that was selected with `SELECT_LIST`, grouped by session."""
    session_id, started_at, last_event_at, agent_id, environment, ends, arrival, firsts, tagged = (
        row
    )
    return SessionFacts(
        session_id,
        agent_id,
        environment,
        started_at,
        last_event_at,
        ends.get(agent_id),
        arrival,
        user_of(firsts),
        version_of(firsts, agent_id),
        bool(tagged) or has_attributes(firsts),
    )

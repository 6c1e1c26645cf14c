"""What signals of whole sessions read: who ran a session, when it ended and last did something.

Root agent, environment and end are those of the view `agent_sessions`, but as they were at the end
of a window: what a session did later changes neither what is found in the window nor what its
evidence says.
"""

from shared.audits.signals import sql
from shared.audits.signals.interface import Look
from shared.clickhouse.root_agent import (
    FIRST_EVENT,
    FIRST_STARTED,
    first_event,
    first_started,
    root_agent,
)
from shared.clickhouse.where import moment

# Sessions as they were at the parameter `stop`: those whose last event before it lies at or after
# the parameter `since` (both in microseconds), with `org_id`, `session_id`, `agent_id`,
# `environment`, `last_event_at` and `ended_at`. The table knows them without reading events, but
# of those that went on after `stop`.
SESSIONS_AT_STOP = f"""(
    SELECT {{org_id:String}} AS org_id, session_id, {root_agent("first", "starter")} AS agent_id,
        first.2 AS environment, last AS last_event_at,
        if(mapContains(ends, agent_id), ends[agent_id], NULL) AS ended_at
    FROM (
        SELECT session_id, max(last_event_at) AS last, maxMap(agent_ends) AS ends,
            {FIRST_EVENT} AS first, {FIRST_STARTED} AS starter
        FROM agent_sessions
        WHERE org_id = {{org_id:String}} AND session_id IN (
            SELECT session_id FROM agent_sessions
            WHERE org_id = {{org_id:String}} AND last_event_at >= {moment("since")})
        GROUP BY session_id
        HAVING last < {moment("stop")}
        UNION ALL
        SELECT session_id, max(ts) AS last,
            maxMapIf(map(CAST(agent_id, 'String'), ts), event_type = 'agent_end') AS ends,
            {first_event("e")} AS first, {first_started("e")} AS starter
        FROM events AS e FINAL
        PREWHERE org_id = {{org_id:String}} AND ts < {moment("stop")} AND session_id IN (
            SELECT session_id FROM agent_sessions
            WHERE org_id = {{org_id:String}} AND last_event_at >= {moment("stop")})
        GROUP BY session_id
        HAVING last >= {moment("since")}
    )
)"""


def sessions_at_stop(look: Look, events: str) -> str:
    """What `SESSIONS_AT_STOP` selects, for an evidence query, of sessions with some events.

    `events` is a condition on the view `events`. There is no `org_id`, but `started_at` and
    `event_count`, and the conditions can be on any of the columns.
    """
    which = f"session_id IN (SELECT session_id FROM events WHERE {events})"
    # The view orders events of one moment by their arrival, which is no column: so who began a
    # session is what the view says, unless the agent_start that it goes by came later.
    return (
        "(SELECT session_id, environment, started_at, last_event_at, event_count,"
        " if(starts = 0, opener, root) AS agent_id,"
        " if(mapContains(ends, agent_id), ends[agent_id], NULL) AS ended_at"
        " FROM (SELECT session_id, any(s.root) AS root, any(s.place) AS environment,"
        " anyIf(agent_id, id = s.first_id) AS opener,"
        " countIf(event_type = 'agent_start') AS starts,"
        " maxMapIf(map(agent_id, ts), event_type = 'agent_end') AS ends, min(ts) AS started_at,"
        " max(ts) AS last_event_at, count() AS event_count FROM events INNER JOIN"
        " (SELECT session_id, agent_id AS root, environment AS place, first_event_id AS first_id"
        f" FROM agent_sessions WHERE {which}) AS s USING (session_id)"
        f" WHERE ts < {sql.moment(look.window.stop)} AND {which} GROUP BY session_id))"
    )

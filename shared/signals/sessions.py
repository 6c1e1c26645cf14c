"""What signals of whole sessions read: who ran a session, when it ended and last did something.

Root agent, environment and end are those of the view `agent_sessions`, which evidence queries read.
A signal has them from the table of that name, which knows them without reading events.
"""

from shared.clickhouse.where import moment

# Sessions with an event at or after the parameter `since` (microseconds), with the columns of the
# view and `org_id`. Agent ids are never empty: an empty one means that no agent_start was stored.
SESSIONS_SINCE = f"""(
    SELECT {{org_id:String}} AS org_id, session_id, agent_id, environment, last_event_at,
        if(mapContains(ends, agent_id), ends[agent_id], NULL) AS ended_at
    FROM (
        SELECT session_id, max(last_event_at) AS last_event_at, maxMap(agent_ends) AS ends,
            argMinMerge(first_event) AS first, argMinIfMerge(first_agent_start) AS starter,
            if(starter = '', first.1, starter) AS agent_id, first.2 AS environment
        FROM agent_sessions
        WHERE org_id = {{org_id:String}} AND session_id IN (
            SELECT session_id FROM agent_sessions
            WHERE org_id = {{org_id:String}} AND last_event_at >= {moment("since")})
        GROUP BY session_id
    )
)"""

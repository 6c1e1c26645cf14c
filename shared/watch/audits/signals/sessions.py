"""Reads of signals about whole sessions: the root agent, the end and the last event.

Root agent, environment and end are defined as in the view `agent_sessions`, but at the end of a
window. Later events of a session change neither the findings of the window nor their evidence.
"""

from shared.foundation.clickhouse import literals
from shared.foundation.clickhouse.root_agent import (
    FIRST_EVENT,
    FIRST_STARTED,
    first_event,
    first_started,
    root_agent,
)
from shared.foundation.clickhouse.where import moment
from shared.watch.audits.signals.interface import Look

# Sessions as they were at the parameter `stop`, if their last event before it lies at or after the
# parameter `since` (both in microseconds). Columns: `org_id`, `session_id`, `agent_id`,
# `environment`, `last_event_at` and `ended_at`. Events are read only for sessions that went on
# after `stop`; the table knows all others.
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
    """Returns the selection of `SESSIONS_AT_STOP` for an evidence query, of sessions with `events`.

    `events` is a condition on the view `events`. The columns are the same without `org_id`, plus
    `started_at` and `event_count`. Conditions may use any of them.
    """
    which = f"session_id IN (SELECT session_id FROM events WHERE {events})"
    # The view orders simultaneous events by their arrival, which is not a column. The view's root
    # agent is therefore used, unless the agent_start that it is based on came later.
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
        f" WHERE ts < {literals.moment(look.window.stop)} AND {which} GROUP BY session_id))"
    )

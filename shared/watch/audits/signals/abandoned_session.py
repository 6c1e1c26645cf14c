"""Sessions that stopped without the end of their root agent.

A session is abandoned once it was idle for a while. It counts in the window in which it first
became so. Of consecutive windows exactly one contains it, however late in a window the session
stopped. Events after the window are ignored: a user who comes back had still stopped.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from shared.foundation.clickhouse import Row, literals
from shared.foundation.clickhouse.event_columns import ORDER_KEY
from shared.foundation.clickhouse.where import Where, moment, us
from shared.foundation.core.clock import to_us
from shared.watch.audits.signals import citing, reading, sql
from shared.watch.audits.signals.interface import (
    Candidate,
    EvidenceQuery,
    Look,
    Sensitivity,
    Window,
)
from shared.watch.audits.signals.sessions import SESSIONS_AT_STOP, sessions_at_stop
from shared.watch.audits.signals.weighing import at_least, magnitude, severity
from shared.watch.audits.signals.wording import counted, shown


@dataclass(frozen=True)
class AbandonedSessionThreshold:
    """At least `min_sessions` sessions of an agent had no event for `idle`."""

    idle: timedelta
    min_sessions: int


# People answer agents within minutes, seldom after half an hour. A single session may stop by
# chance.
THRESHOLDS: Mapping[Sensitivity, AbandonedSessionThreshold] = {
    "low": AbandonedSessionThreshold(timedelta(hours=2), 5),
    "medium": AbandonedSessionThreshold(timedelta(minutes=30), 2),
    "high": AbandonedSessionThreshold(timedelta(minutes=10), 1),
}
# Nearly all sessions stop, although the agent has ended sessions before.
_CRITICAL_RATE, _CRITICAL_SESSIONS = 0.9, 20
_INFO_RATE = 0.01
_MINUTE = timedelta(minutes=1)


def _statement(scope: Where) -> str:
    return f"""
SELECT agent_id, countIf(NOT has_ended), countIf(has_ended), {citing.citations("NOT has_ended")}
FROM (
    SELECT org_id, session_id, agent_id, environment, ended_at IS NOT NULL AS has_ended,
        {us("last_event_at")} AS last, last AS first, {citing.NO_EVENTS}
    FROM {SESSIONS_AT_STOP}
    WHERE ended_at >= {moment("start")} AND ended_at < {moment("stop")}
        OR ended_at IS NULL
            AND last_event_at >= {moment("since")} AND last_event_at < {moment("until")}
)
WHERE {scope}
GROUP BY agent_id
HAVING countIf(NOT has_ended) >= {{min_sessions:UInt64}}
ORDER BY countIf(NOT has_ended) DESC, agent_id
LIMIT {reading.MAX_CANDIDATES}
"""


# The last event of each of some sessions; `since` is not after it.
_LAST_EVENTS = f"""
SELECT session_id, argMax(id, {ORDER_KEY})
FROM events FINAL
PREWHERE org_id = {{org_id:String}} AND ts >= {moment("since")} AND ts < {moment("until")}
    AND session_id IN {{session_ids:Array(String)}}
GROUP BY session_id
"""
# The agents, out of some, that ever ended a session, as its root or not.
_ENDING = """
SELECT DISTINCT arrayJoin(mapKeys(agent_ends)) AS agent
FROM agent_sessions
WHERE org_id = {org_id:String} AND agent IN {agents:Array(String)}
"""


def find(look: Look) -> list[Candidate]:
    """Returns a candidate per root agent: `{abandoned_sessions, ended_sessions, abandoned_rate}`.

    `ended_sessions` counts the sessions that the agent ended in the window. A session is seen at
    the moment when it had been idle for long enough, so that moment lies in the window.
    """
    threshold = THRESHOLDS[look.sensitivity]
    stopped = Window(look.window.start - threshold.idle, look.window.stop - threshold.idle)
    scope = Where(look.org_id).any_of("environment", look.environments)
    scope.any_of("agent_id", look.agent_ids)
    scope.params.update(
        start=to_us(look.window.start),
        stop=to_us(look.window.stop),
        since=to_us(stopped.start),
        until=to_us(stopped.stop),
        min_sessions=threshold.min_sessions,
    )
    found = reading.rows(look, _statement(scope), scope.params)
    if not found:
        return []
    cited = [
        session_id for row in found for session_id in citing.FindingCitations.of(row).session_ids
    ]
    params = {**scope.params, "session_ids": cited, "agents": [row[0] for row in found]}
    last_events: dict[str, int] = dict(reading.rows(look, _LAST_EVENTS, params))
    ending = {agent for (agent,) in reading.rows(look, _ENDING, params)}
    return [_candidate(look, stopped, row, last_events, row[0] in ending) for row in found]


def _candidate(
    look: Look, stopped: Window, row: Row, last_events: Mapping[str, int], is_ending: bool
) -> Candidate:
    agent, abandoned, ended = row[:3]
    idle = look.window.stop - stopped.stop
    cited = citing.FindingCitations.of(row).later(idle)
    cited = cited._replace(
        event_ids=tuple(last_events[one] for one in cited.session_ids if one in last_events)
    )
    rate = abandoned / (abandoned + ended)
    surely_abandoned = at_least(abandoned, abandoned + ended)
    return Candidate(
        signal="abandoned_session",
        key=(agent,),
        title=f"{shown(agent)} abandoned {counted(abandoned, 'session')}",
        category="sessions",
        failure_type="abandoned_session",
        kind="failure",
        severity=severity(
            critical=is_ending
            and surely_abandoned >= _CRITICAL_RATE
            and abandoned >= _CRITICAL_SESSIONS,
            warning=is_ending and surely_abandoned >= _INFO_RATE,
        ),
        magnitude=magnitude(rate),
        description=(
            f"{counted(abandoned, 'session')} of {shown(agent)} had no event for"
            f" {idle // _MINUTE} minutes and never ended; {ended} ended in the window."
            + (
                ""
                if is_ending
                else " It never ended any session, so it may simply not send `agent_end`."
            )
        ),
        **cited._asdict(),
        numbers={
            "abandoned_sessions": abandoned,
            "ended_sessions": ended,
            "abandoned_rate": rate,
        },
        queries=_queries(look, stopped, agent),
        recommendation=(
            "Look at the last event of these sessions: a crashed agent is found by what it did"
            " then, an agent that waits for a person by `human_wait`."
        ),
        scope={"agent_ids": (agent,)},
    )


def _queries(look: Look, stopped: Window, agent: str) -> tuple[EvidenceQuery, ...]:
    is_abandoned = f"ended_at IS NULL AND {sql.within(stopped, 'last_event_at')}"
    # Sessions that stopped or ended have an event in this window, so older events need not be read.
    sessions = sessions_at_stop(look, sql.within(Window(stopped.start, look.window.stop)))
    scope = " AND ".join((literals.is_text("agent_id", agent), *sql.scope(look)))
    return (
        EvidenceQuery(
            "Numbers of abandoned and ended sessions",
            f"SELECT countIf({is_abandoned}) AS abandoned_sessions,"
            f" countIf({sql.within(look.window, 'ended_at')}) AS ended_sessions,"
            " abandoned_sessions / (abandoned_sessions + ended_sessions) AS abandoned_rate"
            f" FROM {sessions} WHERE {scope}",
        ),
        EvidenceQuery(
            "The abandoned sessions, newest first",
            "SELECT session_id, environment, started_at, last_event_at, event_count"
            f" FROM {sessions} WHERE {scope} AND {is_abandoned}"
            " ORDER BY last_event_at DESC, session_id LIMIT 100",
        ),
    )

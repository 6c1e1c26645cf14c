"""Agents whose finished sessions are not evaluated any more."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from shared.clickhouse.where import Where, moment, us
from shared.clock import from_us, to_us
from shared.signals import reading, sql
from shared.signals.gaps import Count, Group, gaps_of, total_of, without
from shared.signals.interface import (
    MAX_CITED,
    Candidate,
    EvidenceQuery,
    Look,
    Severity,
    Window,
)
from shared.signals.sessions import SESSIONS_SINCE
from shared.signals.wording import counted, shown

SIGNAL = "evaluation_gap"


# Evaluators take their time, and failed calls are repeated for half an hour and more.
GRACE = timedelta(hours=1)

# A session belongs where it ended. Only results count: an evaluator that fails leaves sessions
# without scores.
_ENDED = f"""
SELECT session_id, agent_id, environment, ended_at, ended_at >= {moment("start")} AS is_now,
    session_id IN (
        SELECT session_id FROM evaluations
        WHERE org_id = {{org_id:String}} AND status = 'done'
            AND completed_at >= {moment("ts_from")}
    ) AS is_evaluated
FROM {SESSIONS_SINCE}
"""

_COUNTS = """
SELECT agent_id, environment, countIf(is_now), countIf(is_now AND is_evaluated),
    countIf(NOT is_now), countIf(NOT is_now AND is_evaluated)
FROM ({ended} WHERE {where})
GROUP BY agent_id, environment
ORDER BY agent_id, environment
"""

_MISSED = f"""
SELECT count(), min({us("ended_at")}), max({us("ended_at")}),
    groupArraySorted({MAX_CITED})((-{us("ended_at")}, session_id))
FROM ({{ended}} WHERE {{where}} AND is_now AND NOT is_evaluated)
"""


def find(look: Look) -> list[Candidate]:
    """One finding for an environment of an agent, an agent, or all agents, as far as it goes."""
    groups = gaps_of(_groups(look), look.sensitivity)
    groups.sort(key=lambda one: (one.now.evaluated - one.now.ended, one.agent_id or ""))
    made = (_candidate(look, group) for group in groups[: reading.MAX_CANDIDATES])
    return [candidate for candidate in made if candidate is not None]


def _groups(look: Look) -> list[Group]:
    where = _where(look)
    found = reading.rows(look, _COUNTS.format(ended=_ENDED, where=where), where.params)
    groups = [
        Group(agent_id, environment, Count(*counts[:2]), Count(*counts[2:]), Count(0, 0))
        for agent_id, environment, *counts in found
    ]
    total = total_of(group.now for group in groups)
    return [replace(group, others=without(total, group.now)) for group in groups]


def _where(look: Look) -> Where:
    where = look.where(_window(look), column="ended_at")
    where.params.update(start=to_us(look.window.start), since=where.params["ts_from"])
    return where


def _window(look: Look) -> Window:
    grace = min(GRACE, (look.window.stop - look.window.start) / 4)
    return Window(look.window.before.start, look.window.stop - grace)


def _candidate(look: Look, group: Group) -> Candidate | None:
    where = _where(look)
    for column, value in (("agent_id", group.agent_id), ("environment", group.environment)):
        if value is not None:
            where.add(f"{column} = {{its_{column}:String}}", **{f"its_{column}": value})
    statement = _MISSED.format(ended=_ENDED, where=where)
    [(missed, first, last, newest)] = reading.rows(look, statement, where.params)
    if not missed:
        return None
    session_ids = tuple(session_id for _, session_id in newest)
    ends = look.where().add("event_type = 'agent_end'").any_of("session_id", session_ids)
    whose = _whose(group)
    return Candidate(
        signal=SIGNAL,
        key=tuple(one for one in (group.agent_id, group.environment) if one is not None) or ("*",),
        title=f"Finished sessions of {whose} are not evaluated",
        category="evaluation",
        failure_type="not_evaluated",
        kind="failure",
        severity=_severity(group),
        magnitude="big" if group.now.share < 0.1 else "medium",
        affected_sessions=missed,
        first_seen_at=from_us(first),
        last_seen_at=from_us(last),
        description=(
            f"{group.now.evaluated:,} of {counted(group.now.ended, 'session')} of {whose} that"
            f" ended have a result; in the window before it was {group.before.evaluated:,} of"
            f" {group.before.ended:,}, and of other agents and environments it is"
            f" {group.others.evaluated:,} of {group.others.ended:,}."
        ),
        session_ids=session_ids,
        event_ids=reading.newest_events(look, ends),
        numbers=_values(group),
        queries=_queries(look, group),
        recommendation=(
            "See whether the evaluator is enabled and answers, and what its last errors say."
        ),
        scope={
            name: (shown(value),)
            for name, value in (
                ("agent_ids", group.agent_id),
                ("environments", group.environment),
            )
            if value is not None
        },
    )


def _whose(group: Group) -> str:
    if group.agent_id is None:
        return "all agents"
    agent = f"the agent {shown(group.agent_id)}"
    return agent if group.environment is None else f"{agent} in {shown(group.environment)}"


def _severity(group: Group) -> Severity:
    # What agents do goes on without scores, so nobody is called at night.
    return "warning" if group.now.share < 0.1 or group.agent_id is None else "info"


def _values(group: Group) -> Mapping[str, float | int]:
    return {
        "ended": group.now.ended,
        "evaluated": group.now.evaluated,
        "ended_before": group.before.ended,
        "evaluated_before": group.before.evaluated,
        "others_ended": group.others.ended,
        "others_evaluated": group.others.evaluated,
    }


def _queries(look: Look, group: Group) -> tuple[EvidenceQuery, ...]:
    window = _window(look)
    ended = (
        f"SELECT session_id, agent_id, environment, ended_at,"
        f" ended_at >= {sql.moment(look.window.start)} AS is_now,"
        " session_id IN (SELECT session_id FROM evaluations WHERE status = 'done'"
        f" AND completed_at >= {sql.moment(window.start)}) AS is_evaluated FROM agent_sessions"
        f" WHERE session_id IN (SELECT session_id FROM events WHERE {sql.within(window)}"
        f" AND event_type = 'agent_end') AND {sql.where(look, window, column='ended_at')}"
    )
    conditions = [
        sql.is_text(column, value)
        for column, value in (
            ("agent_id", group.agent_id),
            ("environment", group.environment),
        )
        if value is not None
    ]
    its = " AND ".join(conditions) or "1"
    numbers = {}
    for condition, name in (
        (f"is_now AND {its}", "{}"),
        (f"NOT is_now AND {its}", "{}_before"),
        (f"is_now AND NOT ({its})", "others_{}"),
    ):
        numbers[name.format("ended")] = f"countIf({condition})"
        numbers[name.format("evaluated")] = f"countIf({condition} AND is_evaluated)"
    return (
        EvidenceQuery(
            "Finished sessions and how many of them have a result",
            f"SELECT {reading.select_list(numbers)} FROM ({ended})",
        ),
        EvidenceQuery(
            "Newest finished sessions without a result",
            f"SELECT session_id, agent_id, environment, ended_at FROM ({ended})"
            f" WHERE is_now AND NOT is_evaluated AND {its} ORDER BY ended_at DESC LIMIT 100",
        ),
    )

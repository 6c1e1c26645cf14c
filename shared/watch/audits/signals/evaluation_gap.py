"""Agents whose finished sessions are no longer evaluated.

A session is judged `GRACE` after its end, in the window in which that moment lies, by the results
before the end of that window. Of consecutive windows exactly one judges an end, however late in a
window it was.
"""

from dataclasses import replace
from datetime import timedelta

from shared.foundation.clickhouse import literals
from shared.foundation.clickhouse.where import Where, moment, us
from shared.foundation.core.clock import to_us
from shared.watch.audits.signals import citing, reading, sql
from shared.watch.audits.signals.gaps import Count, GapGroup, gaps_of, total_of, without
from shared.watch.audits.signals.interface import Candidate, EvidenceQuery, Look, Window
from shared.watch.audits.signals.sessions import SESSIONS_AT_STOP, sessions_at_stop
from shared.watch.audits.signals.weighing import severity
from shared.watch.audits.signals.wording import counted, shown

# Evaluators take time, and failed calls are repeated for half an hour or more.
GRACE = timedelta(hours=1)

# Only results count: a failing evaluator leaves sessions without scores.
_ENDED = f"""
SELECT session_id, agent_id, environment, ended_at, ended_at >= {moment("judged")} AS is_now,
    session_id IN (
        SELECT session_id FROM evaluations
        WHERE org_id = {{org_id:String}} AND status = 'done'
            AND completed_at >= {moment("ts_from")} AND completed_at < {moment("stop")}
    ) AS is_evaluated
FROM {SESSIONS_AT_STOP}
"""

_COUNTS = """
SELECT agent_id, environment, countIf(is_now), countIf(is_now AND is_evaluated),
    countIf(NOT is_now), countIf(NOT is_now AND is_evaluated)
FROM ({ended} WHERE {where})
GROUP BY agent_id, environment
ORDER BY agent_id, environment
"""

_MISSED = f"""
    SELECT session_id, {us("ended_at")} AS first, first AS last
    FROM ({{ended}} WHERE {{where}} AND is_now AND NOT is_evaluated)
"""


def find(look: Look) -> list[Candidate]:
    """Returns a candidate per gap: an environment of an agent, a whole agent, or all agents."""
    groups = gaps_of(_groups(look), look.sensitivity)
    groups.sort(key=lambda one: (one.now.evaluated - one.now.ended, one.agent_id or ""))
    made = (_candidate(look, group) for group in groups[: reading.MAX_CANDIDATES])
    return [candidate for candidate in made if candidate is not None]


def _groups(look: Look) -> list[GapGroup]:
    where = _where(look)
    found = reading.rows(look, _COUNTS.format(ended=_ENDED, where=where), where.params)
    groups = [
        GapGroup(agent_id, environment, Count(*counts[:2]), Count(*counts[2:]), Count(0, 0))
        for agent_id, environment, *counts in found
    ]
    total = total_of(group.now for group in groups)
    return [replace(group, others=without(total, group.now)) for group in groups]


def _judged(look: Look) -> Window:
    return Window(look.window.start - GRACE, look.window.stop - GRACE)


def _both(look: Look) -> Window:
    judged = _judged(look)
    return Window(judged.before.start, judged.stop)


def _where(look: Look) -> Where:
    where = look.where(_both(look), column="ended_at")
    where.params.update(
        judged=to_us(_judged(look).start),
        since=where.params["ts_from"],
        stop=to_us(look.window.stop),
    )
    return where


def _candidate(look: Look, group: GapGroup) -> Candidate | None:
    where = _where(look)
    for column, value in group.columns.items():
        where.add(f"{column} = {{its_{column}:String}}", **{f"its_{column}": value})
    missed = _MISSED.format(ended=_ENDED, where=where)
    cited = citing.cited_sessions(look, missed, where.params)
    if cited is None:
        return None
    judged = _judged(look)
    ends = Where(look.org_id).between("ts", judged.start, judged.stop)
    ends.add("event_type = 'agent_end'").any_of("session_id", cited.session_ids)
    cited = cited.later(GRACE)._replace(event_ids=citing.newest_events(look, ends))
    whose = _whose(group)
    return Candidate(
        signal="evaluation_gap",
        key=tuple(group.columns.values()) or ("*",),
        title=f"Finished sessions of {whose} are not evaluated",
        category="evaluation",
        failure_type="not_evaluated",
        kind="failure",
        # The agents keep working without scores, so this is no reason to wake anybody.
        severity=severity(warning=group.now.share < 0.1 or group.agent_id is None),
        magnitude="big" if group.now.share < 0.1 else "medium",
        description=(
            f"{group.now.evaluated:,} of {counted(group.now.ended, 'session')} of {whose} that"
            f" ended have a result; in the window before it was {group.before.evaluated:,} of"
            f" {group.before.ended:,}, and of other agents and environments it is"
            f" {group.others.evaluated:,} of {group.others.ended:,}."
        ),
        **cited._asdict(),
        numbers={
            "ended": group.now.ended,
            "evaluated": group.now.evaluated,
            "ended_before": group.before.ended,
            "evaluated_before": group.before.evaluated,
            "others_ended": group.others.ended,
            "others_evaluated": group.others.evaluated,
        },
        queries=_queries(look, group),
        recommendation=(
            "Check that the evaluator is enabled and answers, and read its last errors."
        ),
        scope={f"{column}s": (shown(value),) for column, value in group.columns.items()},
    )


def _whose(group: GapGroup) -> str:
    if group.agent_id is None:
        return "all agents"
    agent = f"the agent {shown(group.agent_id)}"
    return agent if group.environment is None else f"{agent} in {shown(group.environment)}"


def _queries(look: Look, group: GapGroup) -> tuple[EvidenceQuery, ...]:
    both = _both(look)
    conditions = [literals.is_text(column, value) for column, value in group.columns.items()]
    results = Window(both.start, look.window.stop)
    sessions = sessions_at_stop(look, f"event_type = 'agent_end' AND {sql.within(both)}")
    ended = (
        "SELECT session_id, agent_id, environment, ended_at,"
        f" ended_at >= {literals.moment(_judged(look).start)} AS is_now,"
        f" {' AND '.join(conditions) or 'true'} AS is_its,"
        " session_id IN (SELECT session_id FROM evaluations WHERE status = 'done'"
        f" AND {sql.within(results, 'completed_at')}) AS is_evaluated"
        f" FROM {sessions} WHERE {sql.where(look, both, column='ended_at')}"
    )
    numbers = {}
    for condition, name in (
        ("is_now AND is_its", "{}"),
        ("NOT is_now AND is_its", "{}_before"),
        ("is_now AND NOT is_its", "others_{}"),
    ):
        numbers[name.format("ended")] = f"countIf({condition})"
        numbers[name.format("evaluated")] = f"countIf({condition} AND is_evaluated)"
    return (
        EvidenceQuery(
            "Numbers of finished sessions and of those with a result",
            f"SELECT {reading.select_list(numbers)} FROM ({ended})",
        ),
        EvidenceQuery(
            "Newest finished sessions without a result",
            f"SELECT session_id, agent_id, environment, ended_at FROM ({ended})"
            " WHERE is_now AND NOT is_evaluated AND is_its ORDER BY ended_at DESC LIMIT 100",
        ),
    )

"""Agents whose finished sessions are not evaluated any more."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple

from shared.clickhouse.where import Where, moment, us
from shared.clock import from_us, to_us
from shared.signals import reading, sql
from shared.signals.interface import (
    MAX_CITED,
    Candidate,
    EvidenceQuery,
    Look,
    Sensitivity,
    Severity,
    Window,
)
from shared.signals.wording import counted, shown

SIGNAL = "evaluation_gap"


@dataclass(frozen=True)
class Threshold:
    """What counts as a gap.

    `min_ended` sessions in the window, and in the one before where that is what it is compared
    with. The share of evaluated ones is at most `remaining` times what it is compared with, which
    was at least `usual`: who evaluates a sample only has no gap.
    """

    min_ended: int
    remaining: float
    usual: float


THRESHOLDS: Mapping[Sensitivity, Threshold] = {
    "low": Threshold(20, 0.1, 0.8),
    "medium": Threshold(10, 0.5, 0.5),
    "high": Threshold(5, 0.7, 0.3),
}
# By chance, a share comes so far below the other once in ten thousand comparisons.
_Z = 3.7
# Evaluators take their time, and failed calls are repeated for half an hour and more.
GRACE = timedelta(hours=1)

# Sessions by their root agent, which an event before the windows may name; a session belongs where
# it ended. Only results count: an evaluator that fails leaves sessions without scores.
_START, _FROM = (
    moment(name).replace("{", "{{").replace("}", "}}") for name in ("start", "ts_from")
)
_ENDED = f"""
SELECT session_id, agent_id, environment, ended_at, ended_at >= {_START} AS is_now,
    session_id IN (
        SELECT session_id FROM evaluations
        WHERE org_id = {{{{org_id:String}}}} AND status = 'done'
            AND completed_at >= {_FROM}
    ) AS is_evaluated
FROM (
    SELECT session_id, argMinMerge(first_event) AS first,
        argMinIfMerge(first_agent_start) AS started,
        if(started = '', first.1, started) AS agent_id, first.2 AS environment,
        maxMap(agent_ends) AS ends, ends[agent_id] AS ended_at
    FROM agent_sessions
    WHERE org_id = {{{{org_id:String}}}} AND session_id IN (
        SELECT session_id FROM agent_sessions
        WHERE org_id = {{{{org_id:String}}}} AND last_event_at >= {_FROM}
    )
    GROUP BY session_id
)
WHERE {{conditions}}
"""

_COUNTS = f"""
SELECT agent_id, environment, countIf(is_now), countIf(is_now AND is_evaluated),
    countIf(NOT is_now), countIf(NOT is_now AND is_evaluated)
FROM ({_ENDED})
GROUP BY agent_id, environment
ORDER BY agent_id, environment
"""

_MISSED = f"""
SELECT count(), min({us("ended_at")}), max({us("ended_at")}),
    groupArraySorted({MAX_CITED})((-{us("ended_at")}, session_id))
FROM ({_ENDED} AND is_now AND NOT is_evaluated)
"""


class _Count(NamedTuple):
    """Sessions that ended, and evaluated ones among them."""

    ended: int
    evaluated: int

    @property
    def share(self) -> float:
        return self.evaluated / self.ended if self.ended else 0.0


@dataclass(frozen=True)
class _Group:
    """Sessions of one agent in one environment, of one agent (None), or of all (None, None)."""

    agent_id: str | None
    environment: str | None
    now: _Count
    before: _Count
    others: _Count

    def is_gap(self, threshold: Threshold) -> bool:
        """Whether the share is far below the one before, else below that of the others."""
        if self.now.ended < threshold.min_ended:
            return False
        if self.before.ended >= threshold.min_ended and self.before.evaluated:
            return self._is_below(self.before, threshold)
        return self.others.ended >= threshold.min_ended and self._is_below(self.others, threshold)

    def _is_below(self, usual: _Count, threshold: Threshold) -> bool:
        pooled = (self.now.evaluated + usual.evaluated) / (self.now.ended + usual.ended)
        variance = pooled * (1 - pooled) * (1 / self.now.ended + 1 / usual.ended)
        return (
            usual.share >= threshold.usual
            and self.now.share <= threshold.remaining * usual.share
            and usual.share - self.now.share >= _Z * math.sqrt(variance)
        )


def find(look: Look) -> list[Candidate]:
    """One finding for an environment of an agent, an agent, or all agents, as far as it goes."""
    threshold = THRESHOLDS[look.sensitivity]
    groups = _merged(_groups(look), threshold)
    groups.sort(key=lambda one: (one.now.evaluated - one.now.ended, one.agent_id or ""))
    made = (_candidate(look, group) for group in groups[: reading.MAX_CANDIDATES])
    return [candidate for candidate in made if candidate is not None]


def _groups(look: Look) -> list[_Group]:
    where, conditions = _where(look)
    found = reading.rows(look, _COUNTS.format(conditions=conditions), where.params)
    groups = [
        _Group(agent_id, environment, _Count(*counts[:2]), _Count(*counts[2:]), _Count(0, 0))
        for agent_id, environment, *counts in found
    ]
    total = _sum(group.now for group in groups)
    return [replace(group, others=_minus(total, group.now)) for group in groups]


def _where(look: Look) -> tuple[Where, str]:
    """The values to bind, and the conditions on `ended_at`, agent and environment."""
    where = look.where(_window(look), column="ended_at")
    where.params["start"] = to_us(look.window.start)
    return where, " AND ".join(where.added)


def _window(look: Look) -> Window:
    grace = min(GRACE, (look.window.stop - look.window.start) / 4)
    return Window(look.window.before.start, look.window.stop - grace)


def _merged(groups: Sequence[_Group], threshold: Threshold) -> list[_Group]:
    """The gaps, as one where all of an agent's environments, or all agents, have one."""
    judged = [group for group in groups if group.now.ended >= threshold.min_ended]
    gaps = [group for group in judged if group.is_gap(threshold)]
    if len(gaps) == len(judged) > 1 and len({group.agent_id for group in gaps}) > 1:
        return [_whole(groups, None)]
    merged = []
    for agent_id in {group.agent_id for group in gaps}:
        of_agent = [group for group in gaps if group.agent_id == agent_id]
        if len(of_agent) == sum(group.agent_id == agent_id for group in judged) > 1:
            merged.append(_whole(groups, agent_id))
        else:
            merged += of_agent
    return merged


def _whole(groups: Sequence[_Group], agent_id: str | None) -> _Group:
    own = [group for group in groups if agent_id in (None, group.agent_id)]
    now = _sum(group.now for group in own)
    total = _sum(group.now for group in groups)
    before = _sum(group.before for group in own)
    return _Group(agent_id, None, now, before, _minus(total, now))


def _sum(counts: Iterable[_Count]) -> _Count:
    ended = evaluated = 0
    for count in counts:
        ended, evaluated = ended + count.ended, evaluated + count.evaluated
    return _Count(ended, evaluated)


def _minus(total: _Count, part: _Count) -> _Count:
    return _Count(total.ended - part.ended, total.evaluated - part.evaluated)


def _candidate(look: Look, group: _Group) -> Candidate | None:
    where, conditions = _where(look)
    for column, value in (("agent_id", group.agent_id), ("environment", group.environment)):
        if value is not None:
            where.params[f"its_{column}"] = value
            conditions += f" AND {column} = {{its_{column}:String}}"
    [(missed, first, last, newest)] = reading.rows(
        look, _MISSED.format(conditions=conditions), where.params
    )
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


def _whose(group: _Group) -> str:
    if group.agent_id is None:
        return "all agents"
    agent = f"the agent {shown(group.agent_id)}"
    return agent if group.environment is None else f"{agent} in {shown(group.environment)}"


def _severity(group: _Group) -> Severity:
    # What agents do goes on without scores, so nobody is called at night.
    return "warning" if group.now.share < 0.1 or group.agent_id is None else "info"


def _values(group: _Group) -> Mapping[str, float | int]:
    return {
        "ended": group.now.ended,
        "evaluated": group.now.evaluated,
        "ended_before": group.before.ended,
        "evaluated_before": group.before.evaluated,
        "others_ended": group.others.ended,
        "others_evaluated": group.others.evaluated,
    }


def _queries(look: Look, group: _Group) -> tuple[EvidenceQuery, ...]:
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

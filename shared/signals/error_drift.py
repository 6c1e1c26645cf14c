"""Calls and runs that fail more often than in the window before, and errors of more sessions.

A tool, model, hook or agent is judged by the share of its calls (runs) that failed; an error type
by the share of sessions that had such an `error` event. An error event that comes along with a call
that failed is the same fault told twice: it is a finding only where it drifts in other sessions.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from shared.signals import counting, reading, sql
from shared.signals.interface import Candidate, EvidenceQuery, Look, Magnitude, Sensitivity
from shared.signals.wording import counted, shown

SIGNAL = "error_drift"


@dataclass(frozen=True)
class Threshold:
    """What counts as failing more often.

    `min_total` calls in each window, `min_failed` of them failed, in `min_sessions` sessions: one
    session that tries again and again is no drift. The share grew by `difference` and to `ratio`
    times what it was, and is `z` standard deviations above it; several dozen shares are compared.
    """

    min_total: int
    min_failed: int
    min_sessions: int
    difference: float
    ratio: float
    z: float


THRESHOLDS: Mapping[Sensitivity, Threshold] = {
    "low": Threshold(50, 10, 5, 0.15, 2.0, 5.0),
    "medium": Threshold(20, 5, 3, 0.08, 1.5, 4.0),
    "high": Threshold(10, 3, 2, 0.03, 1.25, 3.0),
}
# Nearly everything fails that did not: somebody has to look before the morning.
_CRITICAL_RATE, _CRITICAL_BEFORE, _CRITICAL_TOTAL = 0.8, 0.4, 50


@dataclass(frozen=True)
class _Family:
    event_type: str
    column: str
    noun: str
    unit: str
    verb: str = "fails more often"


_ERROR = _Family("error", "error_type", "error", "session", "hits more sessions")
_FAMILIES = (
    _Family("tool_result", "tool_name", "tool", "call"),
    _Family("model_response", "model", "model", "call"),
    _Family("hook_completed", "hook_name", "hook", "call"),
    _Family("agent_end", "agent_id", "agent", "run"),
    _ERROR,
)
_BY_TYPE = {family.event_type: family for family in _FAMILIES}
_NAME = "multiIf({}, NULL)".format(
    ", ".join(
        f"event_type = '{one.event_type}', CAST({one.column}, 'Nullable(String)')"
        for one in _FAMILIES
    )
)
_IN_FAMILIES = f"event_type IN ({', '.join(repr(one.event_type) for one in _FAMILIES)})"

# Calls of one session succeed and fail together, so each session is one draw: the sums of squares
# give the variance of the share of such draws (the ratio estimator of cluster sampling).
_SHARES = f"""
SELECT kind, name, countIf(k1 > 0), countIf(k0 > 0), sum(n1), sum(k1), sum(n0), sum(k0),
    sum(k1 * k1), sum(k1 * n1), sum(n1 * n1), sum(k0 * k0), sum(k0 * n0), sum(n0 * n0)
FROM (
    SELECT CAST(event_type, 'String') AS kind, assumeNotNull({_NAME}) AS name, session_id,
        countIf({{now}}) AS n1, countIf({{now}} AND {{failed}}) AS k1,
        countIf(NOT ({{now}})) AS n0, countIf(NOT ({{now}}) AND {{failed}}) AS k0
    FROM events FINAL
    PREWHERE {{where}} AND {_IN_FAMILIES} AND isNotNull({_NAME})
    GROUP BY kind, name, session_id
)
GROUP BY kind, name
HAVING sum(k1) > 0
"""

_SESSIONS = """
SELECT uniqExactIf(session_id, {now}), uniqExactIf(session_id, NOT ({now}))
FROM events FINAL PREWHERE {where}
"""

# Sessions of an error type in which none of the calls failed that drift by themselves.
_ALONE = f"""
SELECT name, countIf(NOT fails)
FROM (
    SELECT session_id,
        groupUniqArrayIf(CAST(assumeNotNull(error_type), 'String'),
            event_type = 'error' AND isNotNull(error_type) AND {{failed}}) AS names,
        max(is_error AND has({{{{drifting:Array(String)}}}},
            concat(event_type, '\\0', assumeNotNull({_NAME})))) AS fails
    FROM events FINAL
    PREWHERE {{where}} AND {_IN_FAMILIES} AND isNotNull({_NAME})
    GROUP BY session_id
)
ARRAY JOIN names AS name
GROUP BY name
"""


@dataclass(frozen=True)
class _Share:
    """`failed` of `total` now and before, and the variances of both shares."""

    family: _Family
    name: str
    total: int
    failed: int
    total_before: int
    failed_before: int
    sessions: int
    variance: float = 0.0

    @property
    def group(self) -> str:
        return f"{self.family.event_type}\0{self.name}"

    @property
    def rate(self) -> float:
        return self.failed / self.total

    @property
    def before(self) -> float:
        return self.failed_before / self.total_before

    @property
    def z(self) -> float:
        pooled = (self.failed + self.failed_before) / (self.total + self.total_before)
        binomial = pooled * (1 - pooled) * (1 / self.total + 1 / self.total_before)
        variance = max(binomial, self.variance)
        return (self.rate - self.before) / math.sqrt(variance) if variance else 0.0

    def drifts(self, than: Threshold) -> bool:
        return (
            min(self.total, self.total_before) >= than.min_total
            and self.failed >= than.min_failed
            and self.sessions >= than.min_sessions
            and self.rate - self.before >= than.difference
            and self.rate >= than.ratio * self.before
            and self.z >= than.z
        )


def find(look: Look) -> list[Candidate]:
    """One finding for a tool, model, hook, agent or error type that fails more often."""
    threshold = THRESHOLDS[look.sensitivity]
    shares = [share for share in _shares(look) if share.drifts(threshold)]
    calls = [share for share in shares if share.family is not _ERROR]
    errors = [share for share in shares if share.family is _ERROR]
    if calls and errors:
        alone = _alone(look, calls)
        errors = [
            share
            for share in errors
            if replace(
                share, failed=alone.get(share.name, 0), sessions=alone.get(share.name, 0)
            ).drifts(threshold)
        ]
    found = sorted(calls + errors, key=lambda share: (-share.z, share.group))
    made = (_candidate(look, share) for share in found[: reading.MAX_CANDIDATES])
    return [candidate for candidate in made if candidate is not None]


def _shares(look: Look) -> list[_Share]:
    where = look.where(reading.with_before(look))
    now, failed = reading.is_now(look, where), counting.is_failed(look, where)
    statement = _SHARES.format(now=now, failed=failed, where=where)
    found = reading.rows(look, statement, where.params)
    if not found:
        return []
    [(sessions, before)] = reading.rows(look, _SESSIONS.format(now=now, where=where), where.params)
    return [
        _of_sessions(name, sessions, before, *failing)
        if kind == _ERROR.event_type
        else _of_calls(_BY_TYPE[kind], name, failing[0], sums)
        for kind, name, *failing, sums in ((*row[:4], row[4:]) for row in found)
    ]


def _of_sessions(name: str, sessions: int, before: int, failing: int, failed_before: int) -> _Share:
    return _Share(_ERROR, name, sessions, failing, before, failed_before, failing)


def _of_calls(family: _Family, name: str, failing: int, sums: Sequence[int]) -> _Share:
    total, failed, total_before, failed_before = sums[:4]
    variance = _variance(sums[:4], sums[4:])
    return _Share(family, name, total, failed, total_before, failed_before, failing, variance)


def _variance(totals: Sequence[int], squares: Sequence[int]) -> float:
    """That of the difference of two shares, from the sums over sessions of `_SHARES`."""
    n1, k1, n0, k0 = totals
    pooled = (k1 + k0) / (n1 + n0)
    variance = 0.0
    for total, (kk, kn, nn) in ((n1, squares[:3]), (n0, squares[3:])):
        if total:
            variance += (kk - 2 * pooled * kn + pooled**2 * nn) / total**2
    return variance


def _alone(look: Look, calls: Sequence[_Share]) -> dict[str, int]:
    where = look.where()
    failed = counting.is_failed(look, where)
    where.params["drifting"] = [share.group for share in calls]
    found = reading.rows(look, _ALONE.format(failed=failed, where=where), where.params)
    return dict(found)


def _candidate(look: Look, share: _Share) -> Candidate | None:
    family = share.family
    where = look.where().add(
        f"event_type = {{event_type:String}} AND {family.column} = {{name:String}}",
        event_type=family.event_type,
        name=share.name,
    )
    cited = reading.cited(look, where.add(counting.is_failed(look, where)))
    if cited is None:
        return None
    name = shown(share.name)
    rose = share.rate - share.before
    is_critical = (
        family is not _ERROR
        and share.rate >= _CRITICAL_RATE
        and share.before <= _CRITICAL_BEFORE
        and share.total >= _CRITICAL_TOTAL
    )
    return Candidate(
        signal=SIGNAL,
        key=(family.noun, share.name),
        title=f"The {family.noun} {name} {family.verb}",
        category="reliability",
        failure_type=f"{family.noun}_errors_rise",
        kind="failure",
        severity="critical" if is_critical else "warning" if rose >= 0.1 else "info",
        magnitude=_magnitude(rose),
        affected_sessions=cited.sessions,
        first_seen_at=cited.first_seen_at,
        last_seen_at=cited.last_seen_at,
        description=_description(share, name),
        session_ids=cited.session_ids,
        event_ids=cited.event_ids,
        numbers={
            "total": share.total,
            "failed": share.failed,
            "rate": round(share.rate, 6),
            "total_before": share.total_before,
            "failed_before": share.failed_before,
            "rate_before": round(share.before, 6),
        },
        queries=_queries(look, share),
        recommendation=(
            f"Compare the first of these failures with what changed in or behind the {family.noun}."
        ),
        scope={f"{family.column}s": (name,)},
    )


def _description(share: _Share, name: str) -> str:
    unit = share.family.unit
    now = f"{share.failed:,} of {counted(share.total, unit)} ({share.rate:.1%})"
    before = f"{share.failed_before:,} of {share.total_before:,} ({share.before:.1%})"
    if share.family is _ERROR:
        return f"{now} had the error {name}; in the window before {before} had it."
    return f"{now} of the {share.family.noun} {name} failed; in the window before {before} did."


def _magnitude(rose: float) -> Magnitude:
    if rose < 0.1:
        return "small"
    return "medium" if rose < 0.3 else "big"


def _queries(look: Look, share: _Share) -> tuple[EvidenceQuery, ...]:
    family = share.family
    of_it = f"event_type = '{family.event_type}' AND {sql.is_text(family.column, share.name)}"
    failed = counting.is_failed_literal(look)
    both = sql.where(look, reading.with_before(look))
    if family is not _ERROR:
        both = f"{both} AND {of_it}"
    return (
        EvidenceQuery(
            f"Failed {family.unit}s in the window and in the one before",
            f"SELECT {_numbers(look, share, f'{of_it} AND {failed}')} FROM events WHERE {both}",
        ),
        EvidenceQuery(
            "Newest failures",
            "SELECT session_id, id, ts, agent_id, environment, summary FROM events"
            f" WHERE {sql.where(look)} AND {of_it} AND {failed} ORDER BY ts DESC LIMIT 100",
        ),
    )


def _numbers(look: Look, share: _Share, failed: str) -> str:
    now = reading.is_now_literal(look)
    expressions: dict[str, str] = {}
    for condition, suffix in ((now, ""), (f"NOT ({now})", "_before")):
        both = f"{condition} AND {failed}"
        if share.family is _ERROR:
            total = f"uniqExactIf(session_id, {condition})"
            count = f"uniqExactIf(session_id, {both})"
        else:
            total, count = f"countIf({condition})", f"countIf({both})"
        expressions |= {
            f"total{suffix}": total,
            f"failed{suffix}": count,
            f"rate{suffix}": f"round(failed{suffix} / total{suffix}, 6)",
        }
    return reading.select_list(expressions)

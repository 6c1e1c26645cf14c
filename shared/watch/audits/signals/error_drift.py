"""Calls and runs that fail more often than in the window before, and errors of more sessions.

Tools, models, hooks and agents are compared by the share of failed calls or runs. Error types are
compared by the share of sessions with such an `error` event. An error event that accompanies a
failed call is the same fault. It is a finding only if it also drifts in other sessions.
"""

from collections.abc import Sequence

from shared.watch.audits.signals import citing, counting, reading, sql
from shared.watch.audits.signals.families import ENDS, GroupedEvents
from shared.watch.audits.signals.interface import Candidate, EvidenceQuery, Look
from shared.watch.audits.signals.shares import THRESHOLDS, Share, variance_of
from shared.watch.audits.signals.weighing import magnitude, severity
from shared.watch.audits.signals.wording import counted, shown

# Nearly all calls fail now and did not before: somebody has to look before the morning.
_CRITICAL_RATE, _CRITICAL_BEFORE, _CRITICAL_TOTAL = 0.8, 0.4, 50


_ERROR = GroupedEvents("error", "error_type", "error", "session", "hits more sessions")
_FAMILIES = (*ENDS.values(), _ERROR)
_BY_TYPE = {family.event_type: family for family in _FAMILIES}
_NAME = "multiIf({}, NULL)".format(
    ", ".join(
        f"event_type = '{one.event_type}', CAST({one.column}, 'Nullable(String)')"
        for one in _FAMILIES
    )
)
_IN_FAMILIES = f"event_type IN ({', '.join(repr(one.event_type) for one in _FAMILIES)})"

# Calls of one session succeed and fail together, so each session is one draw. The sums of squares
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

# Sessions with an error type but without a failure of the calls that drift by themselves.
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


def find(look: Look) -> list[Candidate]:
    """Returns a candidate for each tool, model, hook, agent or error type that fails more often."""
    threshold = THRESHOLDS[look.sensitivity]
    shares = _shares(look)
    calls = [one for one in shares if one.family is not _ERROR and one.drifts(threshold)]
    errors = [one for one in shares if one.family is _ERROR and one.drifts(threshold)]
    # Removes only errors explained by drifts at low sensitivity, so that a higher one never finds
    # less.
    told = [one for one in calls if one.drifts(THRESHOLDS["low"])]
    if told and errors:
        alone = _alone(look, told)
        errors = [one for one in errors if one.only(alone.get(one.name, 0)).drifts(threshold)]
    found = sorted(calls + errors, key=lambda share: (-share.z, share.group))
    made = (_candidate(look, share) for share in found[: reading.MAX_CANDIDATES])
    return [candidate for candidate in made if candidate is not None]


def _shares(look: Look) -> list[Share]:
    where = look.where(reading.with_before(look))
    now, failed = reading.is_now(look, where), counting.is_failed(look, where)
    statement = _SHARES.format(now=now, failed=failed, where=where)
    found = reading.rows(look, statement, where.params)
    if not found:
        return []
    [(sessions, before)] = reading.rows(look, _SESSIONS.format(now=now, where=where), where.params)
    shares = []
    for kind, name, failing, failing_before, *sums in found:
        family, variance = _BY_TYPE[kind], variance_of(sums[:4], sums[4:])
        total, failed, total_before, failed_before = sums[:4]
        if family is _ERROR:
            total, failed, variance = sessions, failing, 0.0
            total_before, failed_before = before, failing_before
        shares.append(
            Share(family, name, total, failed, total_before, failed_before, failing, variance)
        )
    return shares


def _alone(look: Look, calls: Sequence[Share]) -> dict[str, int]:
    where = look.where()
    failed = counting.is_failed(look, where)
    where.params["drifting"] = [share.group for share in calls]
    found = reading.rows(look, _ALONE.format(failed=failed, where=where), where.params)
    return dict(found)


def _candidate(look: Look, share: Share) -> Candidate | None:
    family = share.family
    where = family.where(look, share.name)
    cited = citing.cited(look, where.add(counting.is_failed(look, where)))
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
        signal="error_drift",
        key=(family.noun, share.name),
        title=f"The {family.noun} {name} {family.verb}",
        category="reliability",
        failure_type=f"{family.noun}_errors_rise",
        kind="failure",
        severity=severity(critical=is_critical, warning=rose >= 0.1),
        magnitude=magnitude(rose, medium=0.1, big=0.3),
        description=_description(share, name),
        **cited._asdict(),
        numbers={
            "total": share.total,
            "failed": share.failed,
            "rate": share.rate,
            "total_before": share.total_before,
            "failed_before": share.failed_before,
            "rate_before": share.before,
        },
        queries=_queries(look, share),
        recommendation=(
            f"Compare the first of these failures with changes in or behind the {family.noun}."
        ),
        scope={f"{family.column}s": (name,)},
    )


def _description(share: Share, name: str) -> str:
    unit = share.family.unit
    now = f"{share.failed:,} of {counted(share.total, unit)} ({share.rate:.1%})"
    before = f"{share.failed_before:,} of {share.total_before:,} ({share.before:.1%})"
    if share.family is _ERROR:
        return f"{now} had the error {name}; in the window before {before} had it."
    return f"{now} of the {share.family.noun} {name} failed; in the window before {before} did."


def _queries(look: Look, share: Share) -> tuple[EvidenceQuery, ...]:
    family = share.family
    of_it = family.condition(share.name)
    failed = f"{of_it} AND {counting.is_failed_literal(look)}"
    both = sql.where(look, reading.with_before(look))
    if family is not _ERROR:
        both = f"{both} AND {of_it}"
    # Long lists of ignored errors, and columns used for both windows, appear only once.
    rows = (
        f"SELECT session_id, {reading.is_now_literal(look)} AS is_now, {failed} AS has_failed"
        f" FROM events WHERE {both}"
    )
    return (
        EvidenceQuery(
            f"Failed {family.unit}s in the window and in the one before",
            f"SELECT {reading.select_list(_numbers(family))} FROM ({rows})",
        ),
        EvidenceQuery(
            "Newest failures",
            "SELECT session_id, id, ts, agent_id, environment, summary FROM events"
            f" WHERE {sql.where(look)} AND {failed} ORDER BY ts DESC LIMIT 100",
        ),
    )


def _numbers(family: GroupedEvents) -> dict[str, str]:
    count = "uniqExactIf(session_id, {})" if family is _ERROR else "countIf({})"
    numbers: dict[str, str] = {}
    for condition, suffix in (("is_now", ""), ("NOT is_now", "_before")):
        numbers |= {
            f"total{suffix}": count.format(condition),
            f"failed{suffix}": count.format(f"{condition} AND has_failed"),
            f"rate{suffix}": f"failed{suffix} / total{suffix}",
        }
    return numbers

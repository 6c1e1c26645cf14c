"""Tools and models that answer more slowly than in the window before."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared.foundation.clickhouse.where import Where
from shared.watch.audits.signals import citing, reading, sql
from shared.watch.audits.signals.families import MODELS, TOOLS, GroupedEvents
from shared.watch.audits.signals.interface import Candidate, EvidenceQuery, Look, Sensitivity
from shared.watch.audits.signals.weighing import magnitude, severity
from shared.watch.audits.signals.wording import counted, shown


@dataclass(frozen=True)
class LatencyDriftThreshold:
    """The definition of slower.

    `min_calls` in each window, because the median of fewer calls varies by itself. `ratio` to the
    median before; `tail_ratio` is the same for the 95th percentile, which is less steady. `min_ms`
    is a difference that is worth somebody's time. `p_value` belongs to the rank test, and `tail_z`
    to the share of calls above the former 95th percentile. An organization has dozens of tools and
    models, and each of them may be wrong by chance.
    """

    min_calls: int
    ratio: float
    tail_ratio: float
    min_ms: float
    p_value: float
    tail_z: float


THRESHOLDS: Mapping[Sensitivity, LatencyDriftThreshold] = {
    "low": LatencyDriftThreshold(50, 2.0, 3.0, 200, 1e-6, 6.0),
    "medium": LatencyDriftThreshold(20, 1.4, 2.0, 50, 1e-4, 5.0),
    "high": LatencyDriftThreshold(10, 1.2, 1.5, 20, 1e-3, 4.0),
}
# Beyond these values a person waits for so long that agents are useless.
_CRITICAL_RATIO, _CRITICAL_MS = 10, 30_000


_FAMILIES = {family.event_type: family for family in (TOOLS, MODELS)}
_TIMED = " OR ".join(
    f"(event_type = '{one.event_type}' AND isNotNull({one.column}))" for one in _FAMILIES.values()
)
_NAME = "CAST(assumeNotNull(if(event_type = 'tool_result', tool_name, model)), 'String')"
_GROUP = f"(CAST(event_type, 'String'), {_NAME})"

_DRIFTS = f"""
SELECT {_GROUP} AS named, {{numbers}}
FROM events FINAL
PREWHERE {{where}}
GROUP BY named
HAVING least(calls, calls_before) >= {{{{min_calls:UInt64}}}}
"""

# The test expects lower values in the sample of the window before. `transform` maps each group to
# its former 95th percentile.
_TESTS = f"""
SELECT {_GROUP} AS named,
    mannWhitneyUTest('less')(duration_ms, {{now}}).2,
    countIf({{now}} AND duration_ms > transform(
        concat(named.1, '\\0', named.2), {{{{names:Array(String)}}}},
        {{{{limits:Array(Float64)}}}}, 0.))
FROM events FINAL
PREWHERE {{where}} AND has({{{{names:Array(String)}}}}, concat(event_type, '\\0', {_NAME}))
GROUP BY named
"""


@dataclass(frozen=True)
class _Drift:
    family: GroupedEvents
    name: str
    numbers: Mapping[str, float | int]

    @property
    def group(self) -> str:
        return self.family.group(self.name)

    @property
    def median_ratio(self) -> float:
        return self.numbers["median_ms"] / max(self.numbers["median_before_ms"], 1)

    @property
    def tail_ratio(self) -> float:
        return self.numbers["p95_ms"] / max(self.numbers["p95_before_ms"], 1)

    def median_grew(self, than: LatencyDriftThreshold) -> bool:
        gained = self.numbers["median_ms"] - self.numbers["median_before_ms"]
        return self.median_ratio >= than.ratio and gained >= than.min_ms

    def tail_grew(self, than: LatencyDriftThreshold) -> bool:
        gained = self.numbers["p95_ms"] - self.numbers["p95_before_ms"]
        return self.tail_ratio >= than.tail_ratio and gained >= than.min_ms


def find(look: Look) -> list[Candidate]:
    """Returns a candidate for each tool or model whose median or 95th percentile grew."""
    threshold = THRESHOLDS[look.sensitivity]
    grown = [
        drift
        for drift in _drifts(look, threshold)
        if drift.median_grew(threshold) or drift.tail_grew(threshold)
    ]
    certain = _certain(look, threshold, grown)
    certain.sort(key=lambda one: (-max(one[0].median_ratio, one[0].tail_ratio), one[0].group))
    made = (_candidate(look, *one) for one in certain[: reading.MAX_CANDIDATES])
    return [candidate for candidate in made if candidate is not None]


def _numbers(now: str) -> dict[str, str]:
    numbers = {"calls": f"countIf({now})", "calls_before": f"countIf(NOT ({now}))"}
    for level, name in ((0.5, "median"), (0.95, "p95")):
        quantile = f"quantileExactInclusiveIf({level})"
        numbers[f"{name}_ms"] = f"round({quantile}(assumeNotNull(duration_ms), {now}), 3)"
        numbers[f"{name}_before_ms"] = (
            f"round({quantile}(assumeNotNull(duration_ms), NOT ({now})), 3)"
        )
    return numbers


def _where(look: Look) -> Where:
    where = look.where(reading.with_before(look))
    return where.add(f"isNotNull(duration_ms) AND ({_TIMED})")


def _drifts(look: Look, threshold: LatencyDriftThreshold) -> list[_Drift]:
    where = _where(look)
    where.params["min_calls"] = threshold.min_calls
    numbers = _numbers(reading.is_now(look, where))
    statement = _DRIFTS.format(numbers=reading.select_list(numbers), where=where)
    return [
        _Drift(_FAMILIES[event_type], name, dict(zip(numbers, values, strict=True)))
        for (event_type, name), *values in reading.rows(look, statement, where.params)
    ]


def _certain(
    look: Look, threshold: LatencyDriftThreshold, drifts: Sequence[_Drift]
) -> list[tuple[_Drift, bool]]:
    """Returns the drifts that are not due to chance, each with whether the median grew."""
    if not drifts:
        return []
    by_group = {drift.group: drift for drift in drifts}
    limits = [float(drift.numbers["p95_before_ms"]) for drift in drifts]
    where = _where(look)
    where.params.update(names=list(by_group), limits=limits)
    statement = _TESTS.format(now=reading.is_now(look, where), where=where)
    certain = []
    for (event_type, name), p_value, slow in reading.rows(look, statement, where.params):
        drift = by_group[_FAMILIES[event_type].group(name)]
        by_median = drift.median_grew(threshold) and p_value < threshold.p_value
        by_tail = drift.tail_grew(threshold) and _tail_z(drift, slow) >= threshold.tail_z
        if by_median or by_tail:
            certain.append((drift, by_median))
    return certain


def _tail_z(drift: _Drift, slow: int) -> float:
    """Returns by how many deviations `slow` exceeds the twentieth of calls that was expected."""
    calls, before = drift.numbers["calls"], drift.numbers["calls_before"]
    deviation = math.sqrt(0.05 * 0.95 * (1 / calls + 1 / before))
    return (slow / calls - 0.05) / deviation


def _candidate(look: Look, drift: _Drift, by_median: bool) -> Candidate | None:
    family, numbers = drift.family, drift.numbers
    limit = numbers["median_before_ms" if by_median else "p95_before_ms"]
    slow = family.where(look, drift.name).add("duration_ms > {limit:Float64}", limit=float(limit))
    cited = citing.cited(look, slow)
    if cited is None:
        return None
    ratio = drift.median_ratio if by_median else drift.tail_ratio
    measure = "median" if by_median else "95th percentile"
    now, before = (
        numbers[f"{'median' if by_median else 'p95'}{suffix}"] for suffix in ("_ms", "_before_ms")
    )
    name = shown(drift.name)
    is_critical = ratio >= _CRITICAL_RATIO and now >= _CRITICAL_MS
    return Candidate(
        signal="latency_drift",
        key=(family.noun, drift.name),
        title=f"The {family.noun} {name} answers more slowly",
        category="performance",
        failure_type=f"slow_{family.noun}",
        kind="failure",
        severity=severity(critical=is_critical, warning=ratio >= 2),
        magnitude=magnitude(ratio, medium=2, big=4),
        description=(
            f"The {measure} of {counted(int(numbers['calls']), 'call')} of the {family.noun}"
            f" {name} is {now:,.0f} ms, {ratio:.1f} times the {before:,.0f} ms of"
            f" {counted(int(numbers['calls_before']), 'call')} in the window before."
        ),
        **cited._asdict(),
        numbers=numbers,
        queries=_queries(look, drift, limit),
        recommendation=(
            f"Look at the slowest calls, and at changes in or behind the {family.noun}."
        ),
        scope={f"{family.column}s": (name,)},
    )


def _queries(look: Look, drift: _Drift, limit: float) -> tuple[EvidenceQuery, ...]:
    of_it = f"{drift.family.condition(drift.name)} AND isNotNull(duration_ms)"
    numbers = reading.select_list(_numbers(reading.is_now_literal(look)))
    both = sql.where(look, reading.with_before(look))
    return (
        EvidenceQuery(
            "Durations in the window and in the one before",
            f"SELECT {numbers} FROM events WHERE {both} AND {of_it}",
        ),
        EvidenceQuery(
            "Slowest calls",
            "SELECT session_id, id, ts, agent_id, environment, duration_ms FROM events"
            f" WHERE {sql.where(look)} AND {of_it} AND duration_ms > {limit}"
            " ORDER BY duration_ms DESC, ts DESC LIMIT 100",
        ),
    )

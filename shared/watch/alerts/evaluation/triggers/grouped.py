"""A metric_threshold that is evaluated for each group."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shared.foundation.core.clock import to_us
from shared.watch.alerts import groups
from shared.watch.alerts.evaluation.triggers.aggregates import Aggregate
from shared.watch.alerts.evaluation.triggers.grouping import HAS_EVENTS, Values, read_groups
from shared.watch.alerts.evaluation.triggers.interface import (
    GroupedReading,
    NotEvaluated,
    Outcome,
    Rule,
    RuleContext,
    RuleReading,
    TooMuch,
)
from shared.watch.alerts.evaluation.triggers.metric_threshold import WINDOW_IS_OPEN, MetricPlan
from shared.watch.alerts.evaluation.triggers.plan import samples_of
from shared.watch.alerts.specs import MetricThreshold

# A rule remembers so many groups that breached, to count their breaches.
MOST_BREACHES = 1000


def evaluate(context: RuleContext, rule: Rule, spec: MetricThreshold, by: str) -> Outcome:
    """Returns the readings of the groups that breach. Raises `Unavailable` and `TooMuch`."""
    plan = MetricPlan(rule, spec)
    if plan.is_open:
        return NotEvaluated(WINDOW_IS_OPEN)
    values = _read(context, rule, by, plan.aggregates, HAS_EVENTS)
    found = breaching(plan, by, values)
    start = to_us(rule.start_of(spec.window_secs))
    if plan.is_upper:
        # A count of a part of the window says nothing about an upper bound of the whole.
        for group, moment in rule.begins.items():
            if moment > start:
                found.pop(group, None)
    kept = dict(list(found.items())[:MOST_BREACHES])
    return GroupedReading(by, _with_samples(context, rule, by, plan, kept), len(found) - len(kept))


def breaching(plan: MetricPlan, by: str, values: Mapping[str, Values]) -> dict[str, RuleReading]:
    """Returns the readings of the groups that breach, the worst first."""
    found = {}
    for group, of_group in values.items():
        reading = plan.outcome(of_group)
        if isinstance(reading, RuleReading) and reading.breached:
            summary = f"{groups.words(by, group)}: {reading.summary}"
            found[group] = replace(reading, summary=summary)
    sign = -1 if plan.limit.op in (">", ">=") else 1
    return dict(sorted(found.items(), key=lambda one: (sign * (one[1].value or 0), one[0])))


def _with_samples(
    context: RuleContext, rule: Rule, by: str, plan: MetricPlan, found: dict[str, RuleReading]
) -> dict[str, RuleReading]:
    """Adds the rows that show the breach, to groups that may get an incident."""
    shown = list(found)[: groups.MOST_OPEN]
    asked = plan.samples(())
    if not shown:
        return found
    having = "grp IN {shown:Array(String)}"
    try:
        rows = _read(context, rule, by, asked, having, {"shown": shown})
    except TooMuch:
        return found
    for group, of_group in rows.items():
        samples = samples_of(asked, dict(zip(asked, of_group, strict=True)))
        found[group] = replace(found[group], evidence={**found[group].evidence, **samples})
    return found


def _read(
    context: RuleContext,
    rule: Rule,
    by: str,
    wanted: Sequence[Aggregate],
    having: str,
    params: Mapping[str, object] | None = None,
) -> dict[str, Values]:
    clickhouse, org_id = context.runtime.clickhouse, context.org_id
    return read_groups(
        clickhouse, org_id, by, wanted, having=having, begins=rule.begins, params=params
    )

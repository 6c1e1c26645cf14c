"""Evaluates an organization's due rules of all kinds together, in few statements."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from shared.foundation.core.text import storable
from shared.watch.alerts.evaluation.triggers import budget, custom_sql, grouped
from shared.watch.alerts.evaluation.triggers.aggregates import (
    TURN_SECS,
    Aggregate,
    read,
    read_samples,
)
from shared.watch.alerts.evaluation.triggers.eval_compound import CompoundPlan
from shared.watch.alerts.evaluation.triggers.evaluation_score import ScorePlan
from shared.watch.alerts.evaluation.triggers.interface import (
    NotEvaluated,
    Outcome,
    Rule,
    RuleContext,
    RuleOutcome,
    RuleReading,
    TooMuch,
)
from shared.watch.alerts.evaluation.triggers.metric_threshold import MetricPlan
from shared.watch.alerts.evaluation.triggers.per_event import PerEventPlan
from shared.watch.alerts.evaluation.triggers.plan import Plan, samples_of
from shared.watch.alerts.specs import (
    Budget,
    CustomSql,
    EvalCompound,
    EvaluationScore,
    MetricThreshold,
    PerEvent,
    Spec,
)

MAX_REASON_CHARS = 500

# One row for each kind that is evaluated together with others.
_PLANS: Mapping[type[Spec], Callable[[Rule, Any], Plan]] = {
    MetricThreshold: MetricPlan,
    EvaluationScore: ScorePlan,
    EvalCompound: CompoundPlan,
    PerEvent: PerEventPlan,
}


def evaluate(context: RuleContext, rules: Sequence[Rule]) -> Mapping[UUID, Outcome]:
    """Returns the outcome of each rule, all of one organization, by the rule's id.

    Rules that do not fit into a turn have no outcome, except that the first one always has. Raises
    `Unavailable` while a store is down, with no outcome at all, and `TooMuch` if rules that share a
    statement must be evaluated one by one.
    """
    plans: dict[UUID, Plan] = {}
    outcomes: dict[UUID, Outcome] = {}
    ends_at = time.monotonic() + TURN_SECS
    for rule in rules:
        if isinstance(rule.spec, CustomSql):
            outcomes[rule.alert_id] = custom_sql.evaluate(context, rule, rule.spec)
        elif not has_own_statement(rule.spec):
            plans[rule.alert_id] = plan_of(rule)
        elif not outcomes or time.monotonic() < ends_at:
            outcomes[rule.alert_id] = _alone(context, rule)
    if plans:
        outcomes.update(_together(context, plans))
    return {alert_id: _bounded(outcome) for alert_id, outcome in outcomes.items()}


def has_own_statement(spec: Spec) -> bool:
    """Returns whether a rule is read by itself: its groups are not those of others."""
    return isinstance(spec, Budget) or _group_of(spec) is not None


def plan_of(rule: Rule) -> Plan:
    """Returns the plan of a rule that shares statements with others."""
    return _PLANS[type(rule.spec)](rule, rule.spec)


def _group_of(spec: Spec) -> str | None:
    return spec.group_by if isinstance(spec, MetricThreshold) else None


def _alone(context: RuleContext, rule: Rule) -> Outcome:
    spec = rule.spec
    try:
        if isinstance(spec, MetricThreshold) and spec.group_by is not None:
            return grouped.evaluate(context, rule, spec, spec.group_by)
        if isinstance(spec, Budget):
            return budget.evaluate(context.runtime.clickhouse, context.org_id, spec, rule.until)
    except TooMuch as error:
        return NotEvaluated(error.reason)
    raise TypeError(f"{type(spec).__name__} shares statements with others")


def _together(context: RuleContext, plans: Mapping[UUID, Plan]) -> dict[UUID, RuleOutcome]:
    """Evaluates all plans in one go, and then reads the rows that show the breaches."""
    clickhouse, org_id = context.runtime.clickhouse, context.org_id
    found, refused, left = read(clickhouse, org_id, [plan.aggregates for plan in plans.values()])
    outcomes: dict[UUID, RuleOutcome] = {}
    shown: dict[UUID, Sequence[Aggregate]] = {}
    for alert_id, plan in plans.items():
        if not left.isdisjoint(plan.aggregates):
            continue
        reason = next((refused[one] for one in plan.aggregates if one in refused), None)
        if reason is not None:
            outcomes[alert_id] = NotEvaluated(reason)
            continue
        values = [found[aggregate] for aggregate in plan.aggregates]
        outcome = outcomes[alert_id] = plan.outcome(values)
        if isinstance(outcome, RuleReading) and outcome.breached:
            shown[alert_id] = plan.samples(values)
    wanted = (one for asked in shown.values() for one in asked)
    samples = read_samples(clickhouse, org_id, wanted)
    for alert_id, asked in shown.items():
        outcome = outcomes[alert_id]
        if isinstance(outcome, RuleReading):
            evidence = {**outcome.evidence, **samples_of(asked, samples)}
            outcomes[alert_id] = replace(outcome, evidence=evidence)
    return outcomes


def _bounded(outcome: Outcome) -> Outcome:
    if isinstance(outcome, NotEvaluated):
        return NotEvaluated(storable(outcome.reason, MAX_REASON_CHARS))
    return outcome

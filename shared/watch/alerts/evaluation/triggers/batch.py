"""Evaluates an organization's due rules of all kinds together, in few statements."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from shared.foundation.core.text import storable
from shared.watch.alerts.evaluation.triggers import custom_sql
from shared.watch.alerts.evaluation.triggers.aggregates import (
    EVENTS,
    Aggregate,
    Found,
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
    RuleReading,
)
from shared.watch.alerts.evaluation.triggers.metric_threshold import MetricPlan
from shared.watch.alerts.evaluation.triggers.per_event import PerEventPlan
from shared.watch.alerts.evaluation.triggers.plan import MAX_SAMPLES, Plan
from shared.watch.alerts.specs import (
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
    for rule in rules:
        if isinstance(rule.spec, CustomSql):
            outcomes[rule.alert_id] = custom_sql.evaluate(context, rule, rule.spec)
        else:
            plans[rule.alert_id] = plan_of(rule)
    outcomes.update(_together(context, plans))
    return {alert_id: _bounded(outcome) for alert_id, outcome in outcomes.items()}


def plan_of(rule: Rule) -> Plan:
    """Returns the plan of a rule of any kind but custom_sql."""
    return _PLANS[type(rule.spec)](rule, rule.spec)


def _together(context: RuleContext, plans: Mapping[UUID, Plan]) -> dict[UUID, Outcome]:
    """Evaluates all plans in one go, and then reads the rows that show the breaches."""
    clickhouse, org_id = context.runtime.clickhouse, context.org_id
    found, refused, left = read(clickhouse, org_id, [plan.aggregates for plan in plans.values()])
    outcomes: dict[UUID, Outcome] = {}
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
            evidence = {**outcome.evidence, **_samples(asked, samples)}
            outcomes[alert_id] = replace(outcome, evidence=evidence)
    return outcomes


def _samples(asked: Sequence[Aggregate], found: Found) -> dict[str, list[Any]]:
    """Returns the ids of the rows that show a breach, and of their sessions."""
    if not asked:
        return {}
    rows = [row for aggregate in asked for row in found.get(aggregate, ())]
    name = "event_ids" if asked[0].rows.table == EVENTS else "evaluation_ids"
    return {
        name: list(dict.fromkeys(row[1] for row in rows))[:MAX_SAMPLES],
        "session_ids": list(dict.fromkeys(storable(row[2]) for row in rows))[:MAX_SAMPLES],
    }


def _bounded(outcome: Outcome) -> Outcome:
    if isinstance(outcome, NotEvaluated):
        return NotEvaluated(storable(outcome.reason, MAX_REASON_CHARS))
    return outcome

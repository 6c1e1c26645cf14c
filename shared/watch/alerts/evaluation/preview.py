"""Previews: what a rule would have done over a span of the past.

The windows, the readings and the decisions about incidents are those of the evaluation. Nothing is
stored, and nobody is notified.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from shared.foundation.core.errors import Invalid
from shared.foundation.core.ids import new_id
from shared.foundation.queue.slots import QueryPlaces, QuerySlots
from shared.foundation.queue.waiting import stored_until_each
from shared.watch.alerts.evaluation.breaches import Terms
from shared.watch.alerts.evaluation.replaying import (
    Point,
    Replay,
    ReplayedIncident,
    incidents_of,
    replay_budget,
    replay_groups,
)
from shared.watch.alerts.evaluation.triggers import custom_sql
from shared.watch.alerts.evaluation.triggers.batch import has_own_statement, plan_of
from shared.watch.alerts.evaluation.triggers.interface import (
    Rule,
    RuleContext,
    RuleReading,
)
from shared.watch.alerts.evaluation.triggers.plan import BreachLimit
from shared.watch.alerts.evaluation.triggers.series import read_series
from shared.watch.alerts.rules import checked_spec, require_schedule
from shared.watch.alerts.specs import Budget, CustomSql, MetricThreshold, Spec, spec_of, symbol

DEFAULT_SPAN = timedelta(days=7)
MAX_SPAN = timedelta(days=30)
MOST_POINTS = 336
# One statement may keep a processor busy for ten seconds.
PLACES = QueryPlaces("alert-previews", 2, what="previews")

_SECOND = timedelta(seconds=1)
_ONLY_NOW = "SQL names its own window, so it was only evaluated for now"


@dataclass(frozen=True)
class RuleDraft:
    """The part of a rule that decides about incidents, and the span; None means the default."""

    trigger_kind: str
    trigger_spec: Mapping[str, Any]
    min_breaches: int
    eval_window: int
    eval_interval_secs: int
    ts_from: datetime | None
    ts_to: datetime | None


@dataclass(frozen=True)
class PreviewSpan:
    """The windows end at `ts_to` and every `step_secs` before it, after `ts_from`."""

    ts_from: datetime
    ts_to: datetime
    step_secs: int

    def ends(self) -> Sequence[datetime]:
        """Returns the ends of the windows, oldest first; at least one."""
        step = timedelta(seconds=self.step_secs)
        count = max(1, (self.ts_to - self.ts_from) // step)
        return [self.ts_to - nth * step for nth in reversed(range(count))]


@dataclass(frozen=True)
class Preview:
    """The replay of a rule. `reason` says why it was not replayed, and is None if it was.

    `groups` are those with most breaches, by their values, None of a rule without groups; then the
    rule itself has neither points nor incidents. `group_by` is their field.
    """

    span: PreviewSpan
    limit: BreachLimit | None
    points: Sequence[Point]
    incidents: Sequence[ReplayedIncident]
    reason: str | None
    group_by: str | None = None
    groups: Mapping[str, Replay] | None = None


def preview(
    context: RuleContext, draft: RuleDraft, *, schema: str, only: str | None = None
) -> Preview:
    """Replays a rule that nobody has saved, with one statement.

    `schema` is the database of the published tables. Of a rule with groups the one of the value
    `only` is replayed like a rule without any, if it is given. Raises `Invalid` naming the field,
    `RateLimited` while two previews of the organization run, `QueryTimeout` and `Unavailable`.
    """
    require_schedule(draft.min_breaches, draft.eval_window, draft.eval_interval_secs)
    kept = checked_spec(draft.trigger_kind, draft.trigger_spec, schema=schema)
    spec = spec_of(draft.trigger_kind, kept)
    [until] = stored_until_each(context.runtime.redis, [context.org_id])
    span = _span(draft, until)
    terms = Terms(draft.min_breaches, draft.eval_window, spec.auto_resolve)
    with QuerySlots(context.runtime.redis, context.runtime.clickhouse, PLACES).hold(context.org_id):
        if isinstance(spec, CustomSql):
            limit, points, reason = _present(context, spec, until)
            return Preview(span, limit, points, incidents_of(points, terms), reason)
        if has_own_statement(spec):
            return _alone(context, spec, span, terms, only)
        limit, points = _replayed(context, spec, span)
    return Preview(span, limit, points, incidents_of(points, terms), None)


def _alone(
    context: RuleContext, spec: Spec, span: PreviewSpan, terms: Terms, only: str | None
) -> Preview:
    """Replays a rule with groups, or a budget."""
    by = spec.group_by if isinstance(spec, Budget | MetricThreshold) else None
    if isinstance(spec, Budget):
        limit, replays = replay_budget(context, spec, span.ends(), only)
    elif isinstance(spec, MetricThreshold) and by is not None:
        limit, replays = replay_groups(context, spec, by, span.ends(), terms, only)
    else:
        raise TypeError(f"{type(spec).__name__} shares statements with others")
    if by is None or only is not None:
        [(points, incidents)] = replays.values()
        return Preview(span, limit, points, incidents, None)
    return Preview(span, limit, [], [], None, by, replays)


def _span(draft: RuleDraft, until: datetime) -> PreviewSpan:
    """Returns the span, which ends with the events that are surely stored. Raises `Invalid`."""
    ts_to = until if draft.ts_to is None else min(draft.ts_to, until)
    ts_from = ts_to - DEFAULT_SPAN if draft.ts_from is None else draft.ts_from
    if ts_from >= ts_to:
        raise Invalid.field("from", "must be earlier than `to`, and in the past")
    if ts_to - ts_from > MAX_SPAN:
        raise Invalid.field("from", f"must be at most {MAX_SPAN.days} days before `to`")
    least = -((ts_from - ts_to) // (MOST_POINTS * _SECOND))
    return PreviewSpan(ts_from, ts_to, max(draft.eval_interval_secs, least))


def _replayed(
    context: RuleContext, spec: Spec, span: PreviewSpan
) -> tuple[BreachLimit, Sequence[Point]]:
    step = timedelta(seconds=span.step_secs)
    ends = span.ends()
    # As if the rule had been evaluated before: the windows of per_event leave nothing out.
    plans = [plan_of(Rule(new_id(), spec, since=end - step, until=end)) for end in ends]
    windows = [plan.aggregates for plan in plans]
    values = read_series(context.runtime.clickhouse, context.org_id, windows)
    found = zip(ends, plans, values, strict=True)
    return plans[0].limit, [Point(end, plan.outcome(read)) for end, plan, read in found]


def _present(
    context: RuleContext, spec: CustomSql, until: datetime
) -> tuple[BreachLimit | None, Sequence[Point], str]:
    outcome = custom_sql.evaluate(context, Rule(new_id(), spec, None, until), spec)
    reason = _ONLY_NOW
    if not isinstance(outcome, RuleReading):
        reason = f"{_ONLY_NOW}; {outcome.reason}"
    limit = None
    if spec.op is not None and spec.value is not None:
        limit = BreachLimit(symbol(spec.op), spec.value)
    return limit, [Point(until, outcome)], reason

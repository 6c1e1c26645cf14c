"""The effects of evaluations on the incidents of their rules, in the transaction that records."""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.foundation.core.actor import SYSTEM
from shared.foundation.core.clock import to_us
from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger
from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts import groups
from shared.watch.alerts.evaluation import group_histories
from shared.watch.alerts.evaluation.breaches import History, Terms
from shared.watch.alerts.evaluation.budgets import telling
from shared.watch.alerts.evaluation.claims import ClaimedRule, RuleBatch
from shared.watch.alerts.evaluation.group_histories import Remembered
from shared.watch.alerts.evaluation.triggers.interface import (
    GroupedReading,
    Outcome,
    RuleReading,
)
from shared.watch.alerts.models import Alert
from shared.watch.alerts.opening import measured
from shared.watch.alerts.specs import Budget, spec_of
from shared.watch.alerts.spending import BudgetReading
from shared.watch.incidents import service as incidents
from shared.watch.incidents.models import Incident
from shared.watch.incidents.opening import Breach

log = get_logger(__name__)

Reading = RuleReading | GroupedReading | BudgetReading


@dataclass(frozen=True)
class HeldRule:
    """A rule whose lease is still held, with its earlier evaluations and this one."""

    rule: ClaimedRule
    before: History
    outcome: Outcome
    now: datetime


class RuleMemory(NamedTuple):
    """What a rule remembers after an evaluation, of itself and of its groups."""

    history: History
    remembered: Remembered


class Following:
    """The open incidents of rules, and the effects of evaluations on them."""

    def __init__(
        self, session: Session, runtime: Runtime, batch: RuleBatch, held: Collection[HeldRule]
    ) -> None:
        self._session = session
        self._runtime = runtime
        self._batch = batch
        readings = {
            one.rule.alert_id: one.outcome for one in held if isinstance(one.outcome, Reading)
        }
        # Locked until the end, so that nobody resolves one between the decision and its effect.
        open_ones = select(Incident).where(
            Incident.org_id == batch.org_id,
            Incident.alert_id.in_(readings),
            Incident.state != "resolved",
        )
        self._open: dict[uuid.UUID, list[Incident]] = {}
        for row in session.scalars(open_ones.order_by(Incident.id).with_for_update()):
            if row.alert_id is not None:
                self._open.setdefault(row.alert_id, []).append(row)
        named = [alert_id for alert_id, reading in readings.items() if _names_alert(reading)]
        alerts = select(Alert).where(Alert.org_id == batch.org_id, Alert.id.in_(named))
        self._alerts = {alert.id: alert for alert in session.scalars(alerts)} if named else {}

    def must_wait(self, held: HeldRule) -> bool:
        """Returns whether a breach would only repeat an incident that was resolved."""
        until, outcome = held.rule.held_until, held.outcome
        is_early = until is not None and held.now < until
        is_breach = isinstance(outcome, RuleReading) and outcome.breached
        return is_early and is_breach and self._of_all(held.rule) is None

    def follow(self, held: HeldRule, reading: Reading) -> RuleMemory | None:
        """Opens, folds or resolves; returns None if a fault of ours prevented that.

        The failure of one rule must not keep the organization's other rules from being recorded.
        """
        try:
            with self._session.begin_nested():
                self._end_periods(held.rule)
                return self._follow(held, reading)
        except Unavailable:
            raise
        except Exception:
            log.exception("alert_not_followed", alert_id=str(held.rule.alert_id))
            return None

    def _follow(self, held: HeldRule, reading: Reading) -> RuleMemory:
        rule = held.rule
        if isinstance(reading, RuleReading):
            history = held.before.followed_by(reading.breached, _terms(rule))
            effect = history.effect(_terms(rule), is_open=self._of_all(rule) is not None)
            if effect == "breach":
                self._open_one(rule, reading, None)
            elif effect == "end":
                self._end(self._of_all(rule))
            return RuleMemory(history, rule.groups)
        if isinstance(reading, GroupedReading):
            return RuleMemory(held.before, self._follow_groups(rule, reading))
        return RuleMemory(held.before, self._tell(rule, reading))

    def _follow_groups(self, rule: ClaimedRule, reading: GroupedReading) -> Remembered:
        terms, open_ones = _terms(rule), self._of_groups(rule, reading.field)
        histories = group_histories.followed(rule.groups, reading.breaches, open_ones, terms)
        effects = {
            group: history.effect(terms, is_open=group in open_ones)
            for group, history in histories.items()
        }
        firing = [group for group, effect in effects.items() if effect == "breach"]
        fresh = [group for group in firing if group not in open_ones]
        places = max(groups.MOST_OPEN - len(open_ones), 0)
        unplaced = set(fresh[places:])
        more = {"groups_more": len(unplaced) + reading.more}
        for group in firing:
            if group not in unplaced:
                of_group = reading.breaches[group]
                told = replace(of_group, evidence={**of_group.evidence, **more})
                self._open_one(rule, told, groups.named(reading.field, group))
        for group, effect in effects.items():
            if effect == "end":
                self._end(open_ones[group])
        window = timedelta(seconds=rule.trigger_spec["window_secs"])
        still_open = {group for group in (*open_ones, *firing) if effects[group] != "end"}
        since = to_us(self._batch.until - window)
        return group_histories.kept(rule.groups, histories, still_open - unplaced, since)

    def _tell(self, rule: ClaimedRule, reading: BudgetReading) -> Remembered:
        until = to_us(self._batch.until)
        resting = {
            group: entry
            for group, entry in rule.groups.items()
            if entry.get("begins_at", 0) > until
        }
        spec, alert = spec_of(rule.trigger_kind, rule.trigger_spec), self._alerts[rule.alert_id]
        if isinstance(spec, Budget):
            open_groups = set(self._of_groups(rule, spec.group_by))
            telling.forget_earlier(self._session, alert, reading)
            telling.tell(
                self._session,
                self._runtime,
                alert,
                spec,
                reading,
                open_groups=open_groups,
                resting=set(resting),
            )
        return resting

    def _open_one(
        self, rule: ClaimedRule, reading: RuleReading, group: Mapping[str, str | None] | None
    ) -> None:
        alert = self._alerts[rule.alert_id]
        breach = Breach(reading.value, reading.summary, reading.evidence)
        title = None
        if group is not None:
            [(field, value)] = group.items()
            title = f"{alert.name}: {groups.words(field, value or '')}"
        opening = measured(alert, breach, title=title, group=group)
        incidents.open_incident(self._session, self._runtime, opening)

    def _end_periods(self, rule: ClaimedRule) -> None:
        """Resolves the incidents of budgets whose period is over."""
        for incident in list(self._open.get(rule.alert_id, ())):
            if incident.ends_at is not None and incident.ends_at <= self._batch.until:
                self._end(incident)
                self._open[rule.alert_id].remove(incident)

    def _end(self, incident: Incident | None) -> None:
        # An incident that a person opened by hand is never resolved automatically: no evaluation
        # measured its problem, so none can tell that it is over.
        if incident is not None and incident.evidence is not None:
            org_id = self._batch.org_id
            incidents.resolve(self._session, self._runtime, org_id, incident.id, SYSTEM)

    def _of_all(self, rule: ClaimedRule) -> Incident | None:
        """Returns the open incident of a rule without groups."""
        of_rule = self._open.get(rule.alert_id, ())
        return next((row for row in of_rule if row.breach_group is None), None)

    def _of_groups(self, rule: ClaimedRule, field: str | None) -> dict[str, Incident]:
        """Returns the open incidents by the values of their groups, "" if there is no field."""
        return {
            groups.value_in(row.breach_group): row
            for row in self._open.get(rule.alert_id, ())
            if (row.breach_group is None if field is None else field in (row.breach_group or {}))
        }


def _names_alert(reading: Any) -> bool:
    if isinstance(reading, RuleReading):
        return reading.breached
    return isinstance(reading, BudgetReading) or bool(reading.breaches)


def _terms(rule: ClaimedRule) -> Terms:
    auto_resolve = rule.trigger_spec.get("auto_resolve") is True
    return Terms(rule.min_breaches, rule.eval_window, auto_resolve)

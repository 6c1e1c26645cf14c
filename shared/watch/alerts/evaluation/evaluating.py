"""Evaluates a claimed batch; a rule that fails does not affect the others."""

import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from shared.foundation.core.clock import format_ts
from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger
from shared.watch.alerts.evaluation import windows
from shared.watch.alerts.evaluation.claims import ClaimedRule, RuleBatch
from shared.watch.alerts.evaluation.recording import INTERNAL_ERROR
from shared.watch.alerts.evaluation.triggers.interface import (
    Evaluate,
    NotEvaluated,
    Outcome,
    Rule,
    RuleContext,
    TooMuch,
)
from shared.watch.alerts.specs import spec_of

log = get_logger(__name__)

# After this time the results of a batch of statements are recorded, once the running statement has
# ended. A statement that takes ten seconds thus has a turn of its own, and other organizations
# follow.
SQL_TURN_SECS = 1.0
# The time for which the rules of a batch that failed as a whole are tried one by one; the rest
# stays due.
ALONE_SECS = 30.0


def outcomes_of(
    evaluate: Evaluate, context: RuleContext, batch: RuleBatch, stopped: Callable[[], bool]
) -> Iterator[Mapping[uuid.UUID, Outcome]]:
    """Yields the outcomes of a batch's rules, in as many parts as they are evaluated in.

    At least one rule gets an outcome, so that the same batch never comes twice. Rules that did not
    fit into the turn, or would come after `stopped`, have none and stay due. Raises `Unavailable`
    if a store is down; the remaining rules are then not evaluated.
    """
    rules, broken = _typed(batch)
    yield broken
    if batch.is_sql:
        alike = _by_statement(rules)
        yield from _one_by_one(evaluate, context, alike, SQL_TURN_SECS, stopped)
        return
    together = _together(evaluate, context, rules)
    if together is None:
        yield from _one_by_one(evaluate, context, rules, ALONE_SECS, stopped)
    else:
        yield together


def _together(
    evaluate: Evaluate, context: RuleContext, rules: Sequence[Rule]
) -> Mapping[uuid.UUID, Outcome] | None:
    """Returns the outcomes of the rules that fit into the turn, None if all failed together."""
    try:
        found = evaluate(context, rules)
    except Unavailable:
        raise
    except TooMuch as error:
        log.warning(
            "alerts_tried_alone", org_id=context.org_id, rules=len(rules), reason=error.reason
        )
        return None
    except Exception:
        log.exception("alerts_not_evaluated_together", org_id=context.org_id, rules=len(rules))
        return None
    outcomes = {rule.alert_id: found[rule.alert_id] for rule in rules if rule.alert_id in found}
    # With no outcome at all the same rules would be claimed again at once, forever.
    return outcomes or {rule.alert_id: INTERNAL_ERROR for rule in rules}


def _typed(batch: RuleBatch) -> tuple[Sequence[Rule], Mapping[uuid.UUID, Outcome]]:
    rules, broken = [], dict[uuid.UUID, Outcome]()
    for claimed in batch.rules:
        begins = claimed.begins_at
        if begins is not None and windows.end_of(claimed, batch.until) <= begins:
            broken[claimed.alert_id] = NotEvaluated(
                f"its incident was resolved: it waits for what comes after {format_ts(begins)}"
            )
            continue
        try:
            rules.append(_rule(claimed, batch))
        except (msgspec.ValidationError, KeyError):
            log.exception("alert_not_understood", alert_id=str(claimed.alert_id))
            broken[claimed.alert_id] = INTERNAL_ERROR
    return rules, broken


def _rule(claimed: ClaimedRule, batch: RuleBatch) -> Rule:
    spec = spec_of(claimed.trigger_kind, claimed.trigger_spec)
    until = windows.end_of(claimed, batch.until)
    return Rule(
        claimed.alert_id,
        spec,
        claimed.evaluated_to,
        until,
        is_behind=until < batch.until,
        begins_at=claimed.begins_at,
        begins={
            group: remembered["begins_at"]
            for group, remembered in claimed.groups.items()
            if "begins_at" in remembered
        },
    )


def _by_statement(rules: Sequence[Rule]) -> Sequence[Rule]:
    """Groups rules with the same statement, each group in the place of its first rule."""
    alike = defaultdict[object, list[Rule]](list)
    for rule in rules:
        alike[getattr(rule.spec, "sql", rule.alert_id)].append(rule)
    return [rule for group in alike.values() for rule in group]


def _one_by_one(
    evaluate: Evaluate,
    context: RuleContext,
    rules: Sequence[Rule],
    turn_secs: float,
    stopped: Callable[[], bool],
) -> Iterator[Mapping[uuid.UUID, Outcome]]:
    ends_at = time.monotonic() + turn_secs
    for rule in rules:
        yield {rule.alert_id: _alone(evaluate, context, rule)}
        if stopped() or time.monotonic() > ends_at:
            return


def _alone(evaluate: Evaluate, context: RuleContext, rule: Rule) -> Outcome:
    try:
        return evaluate(context, [rule])[rule.alert_id]
    except Unavailable:
        raise
    except Exception:
        log.exception("alert_not_evaluated", alert_id=str(rule.alert_id), org_id=context.org_id)
        return INTERNAL_ERROR

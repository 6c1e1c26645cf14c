"""Records an evaluation in one transaction: the progress of the rule, and its incident."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.foundation.core.clock import format_ts
from shared.foundation.core.text import storable
from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts.evaluation import cadence, claims, windows
from shared.watch.alerts.evaluation.breaches import History
from shared.watch.alerts.evaluation.claims import ClaimedRule, RuleBatch
from shared.watch.alerts.evaluation.following import Following, HeldRule
from shared.watch.alerts.evaluation.group_histories import Remembered
from shared.watch.alerts.evaluation.triggers.interface import NotEvaluated, Outcome

# Shown for faults of ours; the log has the details.
INTERNAL_ERROR = NotEvaluated("internal error")
_MAX_ERROR_CHARS = 2000

# Every transaction with a rule and its alert locks the rule's state first. A change or disabling of
# the rule has removed the lease.
_HELD = text("""
SELECT state.alert_id, state.recent, state.clean, clock_timestamp() AS now
FROM alert_states AS state
JOIN alerts ON alerts.id = state.alert_id
JOIN unnest(CAST(:alert_ids AS uuid[]), CAST(:revisions AS int[])) AS claimed (alert_id, revision)
    ON claimed.alert_id = state.alert_id AND claimed.revision = alerts.revision
WHERE state.org_id = :org_id AND state.lease_token = :token
ORDER BY state.alert_id
FOR UPDATE OF state
""")

_UPDATE = text("""
UPDATE alert_states AS state
SET last_due_at = state.due_at,
    last_attempted_at = done.attempted_at,
    last_error = done.error,
    due_at = done.due_at,
    recent = CAST(done.recent AS boolean[]),
    clean = done.clean,
    groups = CAST(done.groups AS jsonb),
    held_until = CASE WHEN done.evaluated_to IS NULL THEN state.held_until END,
    -- Null after a failed evaluation, so that the next one covers its events as well.
    evaluated_to = greatest(state.evaluated_to, done.evaluated_to),
    lease_token = NULL,
    lease_expires_at = NULL
FROM unnest(
    CAST(:alert_ids AS uuid[]), CAST(:attempted_ats AS timestamptz[]),
    CAST(:due_ats AS timestamptz[]), CAST(:errors AS text[]), CAST(:recents AS text[]),
    CAST(:cleans AS int[]), CAST(:groups AS text[]), CAST(:evaluated_tos AS timestamptz[])
) AS done (alert_id, attempted_at, due_at, error, recent, clean, groups, evaluated_to)
WHERE state.alert_id = done.alert_id AND state.org_id = :org_id
""")


@dataclass(frozen=True)
class _RuleResult:
    """The result of an evaluation; if it counts, `error` is null, else `evaluated_to` is."""

    alert_id: uuid.UUID
    attempted_at: datetime
    due_at: datetime
    error: str | None
    history: History
    groups: Remembered
    evaluated_to: datetime | None


def record(
    session: Session,
    runtime: Runtime,
    batch: RuleBatch,
    outcomes: Mapping[uuid.UUID, Outcome],
    *,
    again_after_secs: float = 0.0,
) -> int:
    """Records the outcomes of a batch's rules and frees the batch; returns how many were recorded.

    The same transaction applies breaches and clean evaluations to the incidents of the rules. A
    rule that was changed, disabled or deleted since it was claimed, or that another worker holds
    now, stays unchanged. A rule without an outcome stays due; other workers may take it in
    `again_after_secs`.
    """
    held = _held(session, batch, outcomes)
    incidents = Following(session, runtime, batch, held)
    done = [_conclude(one, incidents, batch) for one in held]
    _update(session, batch, done)
    claims.give_back(session, batch, after_secs=again_after_secs)
    return len(done)


def _held(
    session: Session, batch: RuleBatch, outcomes: Mapping[uuid.UUID, Outcome]
) -> Sequence[HeldRule]:
    rules = {rule.alert_id: rule for rule in batch.rules if rule.alert_id in outcomes}
    claimed = {
        "alert_ids": list(rules),
        "revisions": [rule.revision for rule in rules.values()],
        "org_id": batch.org_id,
        "token": batch.lease.token,
    }
    return [
        HeldRule(
            rules[row.alert_id],
            History(tuple(row.recent), row.clean),
            outcomes[row.alert_id],
            row.now,
        )
        for row in session.execute(_HELD, claimed)
    ]


def _conclude(held: HeldRule, incidents: Following, batch: RuleBatch) -> _RuleResult:
    rule, outcome = held.rule, held.outcome
    history, remembered = held.before, rule.groups
    if incidents.must_wait(held):
        outcome = NotEvaluated(_still_breaching(rule))
    if not isinstance(outcome, NotEvaluated):
        followed = incidents.follow(held, outcome)
        if followed is None:
            outcome = INTERNAL_ERROR
        else:
            history, remembered = followed
    error, evaluated_to, is_behind = None, None, False
    if isinstance(outcome, NotEvaluated):
        error = storable(outcome.reason, _MAX_ERROR_CHARS)
    else:
        evaluated_to = windows.end_of(rule, batch.until)
        is_behind = evaluated_to < batch.until
    due_at = cadence.next_due(batch.org_id, rule.eval_interval_secs, held.now, is_behind=is_behind)
    return _RuleResult(rule.alert_id, held.now, due_at, error, history, remembered, evaluated_to)


def _update(session: Session, batch: RuleBatch, done: Sequence[_RuleResult]) -> None:
    columns = {
        "alert_ids": [one.alert_id for one in done],
        "attempted_ats": [one.attempted_at for one in done],
        "due_ats": [one.due_at for one in done],
        "errors": [one.error for one in done],
        # As text, because PostgreSQL's arrays of arrays must have equal lengths.
        "recents": [_array(one.history.recent) for one in done],
        "cleans": [one.history.clean for one in done],
        "groups": [json.dumps(one.groups) for one in done],
        "evaluated_tos": [one.evaluated_to for one in done],
    }
    session.execute(_UPDATE, {**columns, "org_id": batch.org_id})


def _still_breaching(rule: ClaimedRule) -> str:
    until = "" if rule.held_until is None else f", or from {format_ts(rule.held_until)}"
    return (
        "it has breached ever since its incident was resolved: the next one opens after an"
        f" evaluation without a breach{until}"
    )


def _array(flags: Sequence[bool]) -> str:
    return "{" + ",".join("t" if flag else "f" for flag in flags) + "}"

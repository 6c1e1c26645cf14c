"""Claims of an organization's due rules under leases: the selection, and the limit of claims.

One worker at a time evaluates rules of an organization, for each sort: rules with SQL statements of
people (`is_sql`) are claimed separately from the others. A batch of those runs its statements one
after the other, so the number of live leases is the number of running statements in the whole
deployment. A worker renews its lease; the rules of a killed worker are due again when it expires.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import and_, text
from sqlalchemy.orm import Session

from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import leases, lock_until_commit
from shared.foundation.postgres.leases import RowLease
from shared.foundation.queue.waiting import stored_until_each
from shared.watch.alerts.evaluation.cadence import MOVED_ON
from shared.watch.alerts.models import AlertState

# The most rules of a batch, by `is_sql`; a batch is recorded in one transaction.
MOST_RULES = {False: 500, True: 50}
LEASE_SECS = 20.0
# The number of organizations per page.
_PAGE = 500


@dataclass(frozen=True)
class ClaimedRule:
    """A due rule as it was when it was claimed.

    `evaluated_to` is the end of the last evaluated window, null before the first evaluation.
    `has_failed` shows whether the last evaluation failed. No window begins before `begins_at`.
    Before `held_until` a breach opens no incident. `groups` are those of the rule's state.
    """

    alert_id: uuid.UUID
    revision: int
    trigger_kind: str
    trigger_spec: Mapping[str, Any]
    min_breaches: int
    eval_window: int
    eval_interval_secs: int
    evaluated_to: datetime | None
    has_failed: bool
    begins_at: datetime | None = None
    held_until: datetime | None = None
    groups: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class RuleBatch:
    """Due rules of one organization, oldest first, and the end of its stored events."""

    lease: RowLease
    org_id: uuid.UUID
    until: datetime
    is_sql: bool
    rules: Sequence[ClaimedRule]


# The organizations with due rules, the one with the oldest turn first: an organization with many
# rules, or slow ones, waits for the others after each batch.
_DUE = text("""
SELECT organizations.id
FROM organizations
CROSS JOIN LATERAL (
    SELECT 1 FROM alert_states
    WHERE is_sql = :is_sql AND org_id = organizations.id AND due_at <= statement_timestamp()
    LIMIT 1
) AS due
CROSS JOIN LATERAL (
    SELECT max(last_attempted_at) AS turn_at FROM alert_states
    WHERE is_sql = :is_sql AND org_id = organizations.id AND due_at IS NOT NULL
) AS turn
WHERE organizations.deleted_at IS NULL
ORDER BY turn.turn_at NULLS FIRST, organizations.id
LIMIT :page OFFSET :skipped
""")

_FREE_PLACES = text("""
SELECT :bound - count(DISTINCT lease_token) FROM alert_states
WHERE is_sql AND due_at IS NOT NULL
    AND lease_token IS NOT NULL AND lease_expires_at > statement_timestamp()
""")

# A window that has not moved since the last evaluation would count twice, unless Redis's clock was
# set back.
_TAKEABLE = f"""
    state.is_sql = :is_sql
    AND state.due_at <= statement_timestamp()
    AND {leases.FREE}
    AND (state.evaluated_to IS NULL OR mark.until < state.evaluated_to OR mark.until >=
        state.evaluated_to + make_interval(secs => alerts.eval_interval_secs * {MOVED_ON}))
"""

_NEXT_RULES = text(f"""
WITH mark AS (
    SELECT candidate.org_id, candidate.until
    FROM unnest(CAST(:org_ids AS uuid[]), CAST(:untils AS timestamptz[]))
        WITH ORDINALITY AS candidate (org_id, until, place)
    WHERE NOT EXISTS (
        SELECT FROM alert_states AS held
        WHERE held.is_sql = :is_sql AND held.org_id = candidate.org_id AND held.due_at IS NOT NULL
            AND held.lease_token IS NOT NULL AND held.lease_expires_at > statement_timestamp()
    ) AND EXISTS (
        SELECT FROM (SELECT candidate.until) AS mark
        JOIN alert_states AS state ON state.org_id = candidate.org_id
        JOIN alerts ON alerts.id = state.alert_id
        WHERE {_TAKEABLE}
    )
    ORDER BY candidate.place
    LIMIT 1
)
SELECT state.org_id, mark.until, alerts.id, alerts.revision, alerts.trigger_kind,
    alerts.trigger_spec, alerts.min_breaches, alerts.eval_window, alerts.eval_interval_secs,
    state.evaluated_to, state.last_error IS NOT NULL AS has_failed, state.begins_at,
    state.held_until, state.groups
FROM mark
JOIN alert_states AS state ON state.org_id = mark.org_id
JOIN alerts ON alerts.id = state.alert_id
WHERE {_TAKEABLE}
ORDER BY state.due_at, state.alert_id
LIMIT :most
FOR UPDATE OF state SKIP LOCKED
""")


def claim(runtime: Runtime, *, is_sql: bool) -> RuleBatch | None:
    """Takes due rules of the organization whose turn was longest ago.

    Returns None if nothing is due, or if the limit of running statements is reached. Skips rules of
    an organization without newly stored events since their last evaluation, so a backlog delays
    alerts and never counts a window twice. Raises `Unavailable`.
    """
    for org_ids in _due(runtime, is_sql):
        marks = stored_until_each(runtime.redis, [str(org_id) for org_id in org_ids])
        with runtime.postgres.transaction() as session:
            batch = _take(session, runtime.settings.alert_query_concurrency, is_sql, org_ids, marks)
        if batch is not None:
            return batch
    return None


def give_back(session: Session, batch: RuleBatch, *, after_secs: float) -> None:
    """Frees the rest of a batch: it stays due, and is taken again in `after_secs`."""
    batch.lease.end(session, lease_expires_at=leases.in_secs(after_secs))


def _due(runtime: Runtime, is_sql: bool) -> Iterator[Sequence[uuid.UUID]]:
    """Yields pages of organizations with due rules; concurrent claims may shift the pages."""
    skipped = 0
    while True:
        page = {"is_sql": is_sql, "page": _PAGE, "skipped": skipped}
        with runtime.postgres.transaction() as session:
            org_ids = session.scalars(_DUE, page).all()
        if org_ids:
            yield org_ids
        if len(org_ids) < _PAGE:
            return
        skipped += _PAGE


def _take(
    session: Session,
    bound: int,
    is_sql: bool,
    org_ids: Sequence[uuid.UUID],
    marks: Sequence[datetime],
) -> RuleBatch | None:
    # One worker at a time counts the places and looks for rules without a lease.
    lock_until_commit(session, f"claims of alerts, SQL {is_sql}")
    if is_sql and session.execute(_FREE_PLACES, {"bound": bound}).scalar_one() <= 0:
        return None
    wanted = {"org_ids": list(org_ids), "untils": list(marks), "is_sql": is_sql}
    rows = session.execute(_NEXT_RULES, {**wanted, "most": MOST_RULES[is_sql]}).all()
    if not rows:
        return None
    org_id, until = rows[0][:2]
    rules = [ClaimedRule(*row[2:]) for row in rows]
    of_batch = and_(
        # The condition of the index: rules under a lease are due.
        AlertState.is_sql == is_sql,
        AlertState.org_id == org_id,
        AlertState.due_at.is_not(None),
        AlertState.alert_id.in_([rule.alert_id for rule in rules]),
    )
    lease, _ = leases.take(session, AlertState, of_batch, LEASE_SECS, (AlertState.alert_id,))
    return RuleBatch(lease, org_id, until, is_sql, rules)

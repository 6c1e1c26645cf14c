"""Decides whether a trigger makes a run of an evaluator. Pure but for the condition."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, NamedTuple
from uuid import UUID

from shared.evaluation.evaluation_jobs.watching import IDLE_ONLY_TIMEOUT_SECS
from shared.evaluation.evaluators.sampling import is_sampled

Trigger = Literal["agent_end", "inactivity"]


class ActiveEvaluator(NamedTuple):
    """An evaluator that is on, with its active version; the fields are those of the tables."""

    id: UUID
    org_id: UUID
    version_id: UUID
    condition: dict[str, Any] | None
    enabled_since: datetime
    sample: Decimal
    sample_seed: str
    idle_secs: int | None
    rescore: str
    rescore_max: int
    budget: dict[str, Any] | None

    def idle_after(self, *, idle_only: bool) -> int | None:
        """Returns the seconds without events after which a session is over; None: it never is."""
        return self.idle_secs or (IDLE_ONLY_TIMEOUT_SECS if idle_only else None)


class RunHistory(NamedTuple):
    """The earlier runs of an evaluator over a session; `revision` is the highest one."""

    automatic: int = 0
    revision: int = 0
    is_live: bool = False


class SessionPause(NamedTuple):
    """A session when it was looked at: `ended_at` is when its end settled, None without one."""

    last_arrival_at: datetime
    ended_at: datetime | None
    idle_only: bool


def trigger_of(evaluator: ActiveEvaluator, pause: SessionPause, now: datetime) -> Trigger | None:
    """Returns the trigger for an evaluator; None if the session is not over for it.

    It has to be over since the evaluator is on: earlier sessions are for backfills.
    """
    if pause.ended_at is not None and pause.ended_at >= evaluator.enabled_since:
        return "agent_end"
    secs = evaluator.idle_after(idle_only=pause.idle_only)
    if secs is None:
        return None
    idle_at = pause.last_arrival_at + timedelta(seconds=secs)
    return "inactivity" if evaluator.enabled_since <= idle_at <= now else None


def may_rescore(
    evaluator: ActiveEvaluator, trigger: Trigger, history: RunHistory, revision: int
) -> bool:
    """Returns whether a trigger may make a run after the earlier ones."""
    if not history.automatic:
        return True
    again = {"each_end": "agent_end", "each_idle": "inactivity"}.get(evaluator.rescore)
    return (
        trigger == again
        and revision > history.revision
        and history.automatic < evaluator.rescore_max
    )


def is_in_sample(evaluator: ActiveEvaluator, session_id: str) -> bool:
    """Returns whether a session is in the evaluator's sample."""
    return is_sampled(evaluator.sample_seed, session_id, evaluator.sample)


def next_idle_at(
    evaluators: list[ActiveEvaluator], pause: SessionPause, now: datetime
) -> datetime | None:
    """Returns the next moment at which the session is over for some evaluator."""
    moments = [
        pause.last_arrival_at + timedelta(seconds=secs)
        for one in evaluators
        if (secs := one.idle_after(idle_only=pause.idle_only)) is not None
    ]
    return min((one for one in moments if one > now), default=None)

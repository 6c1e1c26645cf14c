"""Decides about the state of a session for one evaluator, and says it in a sentence. Pure."""

from datetime import datetime, timedelta
from typing import Literal, NamedTuple, get_args

from shared.evaluation.evaluation_jobs.breaker import Breaker
from shared.evaluation.evaluation_jobs.listing import LiveJob
from shared.evaluation.evaluation_jobs.state.decision import quoted
from shared.evaluation.evaluators.conditions.nodes import Leaf
from shared.evaluation.evaluators.conditions.wording import in_words
from shared.evaluation.runs.budgets import MonthlyUse, runs_left
from shared.evaluation.runs.deciding import ActiveEvaluator, SessionPause, is_in_sample
from shared.foundation.core.clock import format_ts, from_us
from shared.reading.evaluations.records import Evaluation

RunCode = Literal[
    "scored",
    "error",
    "timeout",
    "queued",
    "calling",
    "polling",
    "not_ended",
    "settling",
    "waiting",
    "paused",
    "no_version",
    "before_evaluator",
    "not_applicable",
    "not_sampled",
    "budget_exhausted",
    "breaker_open",
]
RUN_CODES: tuple[RunCode, ...] = get_args(RunCode)


class ReasonSince(NamedTuple):
    """The state since a moment, None if that is unknown; `detail` is what decided."""

    code: RunCode
    sentence: str
    detail: str | None = None
    since: datetime | None = None


class RunInCall(NamedTuple):
    """The live run; `in_call`: a worker holds it at this moment. `started_at`: its delivery."""

    job: LiveJob
    in_call: bool
    started_at: datetime | None


class SessionForEvaluator(NamedTuple):
    """The facts about a session and an evaluator at `now`, which is PostgreSQL's time.

    `active` is None without an active version, and `enabled` tells whether it is on. `pause` is
    None if no event came while the organization had evaluators. `against` is the part of the
    condition that the session does not meet.
    """

    now: datetime
    enabled: bool
    active: ActiveEvaluator | None
    session_id: str
    run: RunInCall | None
    latest: Evaluation | None
    pause: SessionPause | None
    has_ended: bool
    against: Leaf | None
    used: MonthlyUse
    breaker: Breaker


def decide(found: SessionForEvaluator) -> ReasonSince:
    """Returns the state.

    A live run counts more than an earlier result, and a result more than everything else.
    """
    if found.run is not None:
        return _live(found, found.run)
    if found.latest is not None:
        return _result(found.latest)
    if found.active is None:
        return ReasonSince(
            "no_version", "The evaluator has no active version. Publish one, or activate one."
        )
    if not found.enabled:
        return ReasonSince("paused", "The evaluator is off, so nothing starts. Enable it.")
    return _not_run(found, found.active)


def _live(found: SessionForEvaluator, run: RunInCall) -> ReasonSince:
    job = run.job
    if not found.enabled and not run.in_call:
        return ReasonSince(
            "paused",
            "An evaluation is queued, and waits until the evaluator is enabled.",
            since=job.enqueued_at,
        )
    if found.breaker.retry_at is not None and not run.in_call:
        reason = quoted(found.breaker.last_error or "it gave no reason")
        until = format_ts(found.breaker.retry_at)
        return ReasonSince(
            "breaker_open",
            f"The evaluator has failed: {reason} Mend the cause. It is called again at {until}.",
            until,
            found.breaker.since,
        )
    if job.status == "polling":
        return ReasonSince(
            "polling",
            "The evaluator is working on the session and is asked for its result.",
            since=run.started_at,
        )
    if run.in_call:
        sentence = f"The evaluator was called (attempt {max(job.attempt_count, 1)})."
        return ReasonSince("calling", f"{sentence} Wait for its answer.", since=run.started_at)
    if job.last_error is not None:
        return ReasonSince(
            "queued",
            f"Attempt {job.attempt_count} failed: {quoted(job.last_error)}"
            f" The next attempt is at {format_ts(job.next_attempt_at)}.",
            since=job.enqueued_at,
        )
    return ReasonSince(
        "queued",
        "An evaluation is queued. If it stays so, check that a worker for evaluations runs.",
        since=job.enqueued_at,
    )


def _result(latest: Evaluation) -> ReasonSince:
    since = from_us(latest.completed_at)
    if latest.status == "done":
        return ReasonSince("scored", "The evaluator scored the session.", since=since)
    failed = "did not answer in time" if latest.status == "timeout" else "failed"
    reason = quoted(latest.error or "it gave no reason")
    return ReasonSince(
        latest.status, f"The evaluator {failed}: {reason} Mend the cause.", since=since
    )


def _not_run(found: SessionForEvaluator, active: ActiveEvaluator) -> ReasonSince:
    pause = found.pause
    if pause is None:
        return _before()
    idle_secs = active.idle_after(idle_only=pause.idle_only)
    idle_at = None if idle_secs is None else pause.last_arrival_at + timedelta(seconds=idle_secs)
    is_idle = idle_at is not None and idle_at <= found.now
    if found.has_ended and not pause.idle_only:
        over_at: datetime | None = pause.ended_at or pause.last_arrival_at
        if pause.ended_at is not None and pause.ended_at > found.now:
            return ReasonSince(
                "settling",
                "The session ended, and is evaluated as soon as nothing more arrives for 2 s.",
                since=pause.last_arrival_at,
            )
    elif is_idle:
        over_at = idle_at
    else:
        return _open(pause, idle_secs)
    if over_at is not None and over_at < active.enabled_since:
        return _before()
    return _left_out(found, active) or ReasonSince(
        "waiting",
        "The session is due for evaluation."
        " If it stays so, check that a worker for evaluations runs.",
        since=over_at,
    )


def _left_out(found: SessionForEvaluator, active: ActiveEvaluator) -> ReasonSince | None:
    if found.against is not None:
        told = in_words(found.against)
        return ReasonSince(
            "not_applicable",
            f"The evaluator is not for this session; what decided: {told}."
            " Change the condition in a new version to include it.",
            told,
        )
    if not is_in_sample(active, found.session_id):
        return ReasonSince(
            "not_sampled",
            f"The session is outside of the sample of {active.sample:g} %. Enlarge the sample.",
        )
    if active.budget is not None and runs_left(active.budget, found.used) == 0:
        until = _next_month(found.now)
        return ReasonSince(
            "budget_exhausted",
            f"The budget of the month is used up until {format_ts(until)}. Raise it.",
            format_ts(until),
        )
    return None


def _before() -> ReasonSince:
    return ReasonSince(
        "before_evaluator",
        "The session was over before the evaluator was enabled, so it was not called.",
    )


def _open(pause: SessionPause, idle_secs: int | None) -> ReasonSince:
    sentence = "The session goes on. It is evaluated when its root agent ends."
    if pause.idle_only:
        sentence = f"The session is evaluated once nothing arrived for {idle_secs} s."
    elif idle_secs is not None:
        sentence = (
            "The session goes on. It is evaluated when its root agent ends, or when nothing has"
            f" arrived for {idle_secs} s."
        )
    return ReasonSince("not_ended", sentence, since=pause.last_arrival_at)


def _next_month(now: datetime) -> datetime:
    first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first + timedelta(days=32)).replace(day=1)

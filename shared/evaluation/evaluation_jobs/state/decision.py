"""Decides about the state of a session's evaluation, and says it in a sentence. Pure."""

from datetime import datetime, timedelta
from typing import Literal, NamedTuple, get_args

from shared.evaluation.evaluation_jobs.breaker import Breaker
from shared.evaluation.evaluation_jobs.listing import LiveJob
from shared.evaluation.evaluation_jobs.state.situation import SessionWatch, Situation
from shared.evaluation.evaluation_jobs.watching import IDLE_ONLY_TIMEOUT_SECS, quiet_secs
from shared.foundation.core.clock import format_ts, from_us
from shared.foundation.core.config import Settings
from shared.reading.evaluations.records import Evaluation
from shared.reading.sessions.facts import SessionFacts

Code = Literal[
    "scored",
    "error",
    "timeout",
    "queued",
    "calling",
    "polling",
    "not_ended",
    "settling",
    "disabled",
    "not_for_organization",
    "before_evaluator",
    "waiting",
]
CODES: tuple[Code, ...] = get_args(Code)

_QUOTED_CHARACTERS = 300


class StateSince(NamedTuple):
    """The state since a moment, None if that is unknown; `job` is the live job."""

    code: Code
    sentence: str
    job: LiveJob | None = None
    since: datetime | None = None


def decide(
    facts: SessionFacts,
    latest: Evaluation | None,
    found: Situation,
    settings: Settings,
    org_slug: str,
) -> StateSince:
    """Returns the state of the session; `found` was read before `latest`.

    A live job counts more than an earlier result, and a result more than everything else.
    """
    has_evaluator = settings.evaluator_endpoint is not None
    if found.job is not None and not (latest and latest.evaluation_id == str(found.job.id)):
        return _live(found.job, found, is_called=settings.may_evaluate(org_slug))
    if latest is not None:
        return _result(latest)
    if not has_evaluator:
        return StateSince(
            "disabled",
            f"No evaluator is configured. Set EVALUATOR_ENDPOINT. {_how_to_ask(facts, found)}",
        )
    if not settings.may_evaluate(org_slug):
        return StateSince(
            "not_for_organization",
            "This organization may not use the evaluator. Add it to EVALUATOR_ORGS."
            f" {_how_to_ask(facts, found)}",
        )
    if found.watching is None:
        return StateSince(
            "before_evaluator",
            "The session arrived while there was no evaluator for it, so none was called."
            f" {_how_to_ask(facts, found)}",
            since=from_us(facts.last_arrival_ms * 1000),
        )
    return _watched(facts, found.watching, found)


def _how_to_ask(facts: SessionFacts, found: Situation) -> str:
    """Returns the sentence about a request by hand, as `requests.re_evaluate` accepts it."""
    if facts.ended_at is not None:
        return "Evaluate it again to get a score."
    secs = quiet_secs(found.timeout_secs)
    return f"Evaluate it again once nothing has arrived for {secs:g} s."


def _live(job: LiveJob, found: Situation, *, is_called: bool) -> StateSince:
    is_polled = job.status == "polling" and is_called
    if found.breaker.is_open and is_called and not found.in_call:
        code: Code = "polling" if is_polled else "queued"
        return StateSince(code, _behind(found.breaker), job, found.breaker.since)
    if is_polled:
        sentence = "The evaluator is working on the session and is asked for its result."
        if job.poll_deadline_at is not None:
            sentence += f" It has time until {format_ts(job.poll_deadline_at)}."
        return StateSince("polling", sentence, job, found.started_at)
    if found.in_call:
        return StateSince(
            "calling",
            f"The evaluator was called (attempt {max(job.attempt_count, 1)}). Wait for its answer.",
            job,
            found.started_at,
        )
    if not is_called:
        sentence = (
            "An evaluation is queued, but there is no evaluator for this organization."
            " Set EVALUATOR_ENDPOINT, and name the organization if EVALUATOR_ORGS is set."
        )
    elif job.last_error is not None:
        sentence = (
            f"Attempt {job.attempt_count} failed: {quoted(job.last_error)}"
            f" The next attempt is at {format_ts(job.next_attempt_at)}."
        )
    else:
        sentence = (
            "An evaluation is queued. If it stays so, check that a worker for evaluations runs."
        )
    return StateSince("queued", sentence, job, job.enqueued_at)


def _behind(breaker: Breaker) -> str:
    since = "" if breaker.since is None else f" since {format_ts(breaker.since)}"
    again = "" if breaker.retry_at is None else f" at {format_ts(breaker.retry_at)}"
    return (
        f"The evaluator has failed{since}: {quoted(breaker.last_error or 'it gave no reason')}"
        f" Mend the cause. The evaluation waits, and the evaluator is called again{again}."
    )


def _result(latest: Evaluation) -> StateSince:
    since = from_us(latest.completed_at)
    if latest.status == "done":
        return StateSince("scored", "The evaluator scored the session.", since=since)
    reason = quoted(latest.error or "it gave no reason")
    failed = "did not answer in time" if latest.status == "timeout" else "failed"
    return StateSince(
        latest.status,
        f"The evaluator {failed}: {reason} Mend the cause, and evaluate the session again.",
        since=since,
    )


def _watched(facts: SessionFacts, watching: SessionWatch, found: Situation) -> StateSince:
    if watching.evaluated:
        return StateSince(
            "waiting",
            "The session was evaluated, but its result is not stored any more."
            " Evaluate it again to get a score.",
        )
    timeout = found.timeout_secs or (IDLE_ONLY_TIMEOUT_SECS if watching.idle_only else None)
    if timeout is not None:
        idle_at = watching.last_arrival_at + timedelta(seconds=timeout)
        if idle_at <= found.now:
            return _due(idle_at)
    if facts.ended_at is None:
        return StateSince(
            "not_ended",
            _until_the_end(facts.agent_id, timeout, idle_only=watching.idle_only),
            since=watching.last_arrival_at,
        )
    ended_at = from_us(facts.ended_at)
    if watching.idle_only:
        return StateSince(
            "settling",
            f"The session ended, and is evaluated once nothing arrived for {timeout:g} s.",
            since=ended_at,
        )
    if watching.check_at is not None and watching.check_at > found.now:
        return StateSince(
            "settling",
            "The session ended, and is evaluated as soon as nothing more arrives for 2 s.",
            since=ended_at,
        )
    return _due(watching.check_at)


def _due(since: datetime | None) -> StateSince:
    return StateSince(
        "waiting",
        "The session is due for evaluation."
        " If it stays so, check that a worker for evaluations runs.",
        since=since,
    )


def _until_the_end(root: str, timeout: float | None, *, idle_only: bool) -> str:
    if idle_only:
        return f"The session is evaluated once nothing arrived for {timeout:g} s."
    if timeout is not None:
        return (
            f"The session goes on. It is evaluated when its root agent {root} ends, or when nothing"
            f" has arrived for {timeout:g} s."
        )
    return (
        f"The session goes on. It is evaluated when its root agent {root} ends: send its agent_end,"
        " or let the evaluator name an inactivity_timeout_secs."
    )


def quoted(reason: str) -> str:
    """Returns the beginning of a reason as a sentence."""
    text = " ".join(reason.split())
    if len(text) > _QUOTED_CHARACTERS:
        text = f"{text[:_QUOTED_CHARACTERS]}…"
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."

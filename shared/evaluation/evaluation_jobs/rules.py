"""Pure decisions about an answer: store it, ask again, or give up (docs/use/evaluator.md)."""

from dataclasses import dataclass

from shared.evaluation.evaluation_jobs.answers import AttemptFailure, Pending, Reading, Refusal
from shared.evaluation.evaluation_jobs.breaker import LONGEST_OUTAGE_SECS
from shared.evaluation.evaluation_jobs.result import JobResult, error_text
from shared.evaluation.evaluation_jobs.scope import CallLimits
from shared.foundation.core.attempts import backoff

MIN_POLL_SECS = 1.0
MAX_POLL_SECS = 3600.0

BACKOFF_BASE_SECS = 2.0
BACKOFF_CAP_SECS = 30 * 60.0


@dataclass(frozen=True)
class Call:
    """The call that was made.

    `attempt_count` includes this call if it was a delivery. `poll_secs_left` is the time until the
    polling limit, None if nothing was pending before. `age_secs` is the time since the job exists.
    """

    attempt_count: int
    evaluator_job_id: str | None
    poll_secs_left: float | None
    age_secs: float = 0.0


@dataclass(frozen=True)
class Finish:
    """The job is finished with this result."""

    result: JobResult


@dataclass(frozen=True)
class Poll:
    """Asks for the result of `evaluator_job_id` in `after_secs`; `error` is the last poll's."""

    evaluator_job_id: str
    after_secs: float
    error: str | None = None


@dataclass(frozen=True)
class Deliver:
    """Sends the request again in `after_secs`; a failure that does not count uses no attempt."""

    after_secs: float
    error: str
    counts: bool = True


Step = Finish | Poll | Deliver


def next_step(
    call: Call,
    reading: Reading,
    limits: CallLimits,
    *,
    jitter: float,
    is_away: bool = False,
) -> Step:
    """Returns the step after `call`; `jitter` is a random number from 0 to 1.

    `is_away`: the breaker is open, so the job waits behind it.
    """
    if isinstance(reading, JobResult):
        return Finish(reading)
    if isinstance(reading, Refusal) and not (is_away and reading.is_everyones):
        return failure(reading.error)
    if isinstance(reading, Pending):
        interval = poll_interval(reading.next_poll_secs, limits)
        return _after_pending(call, reading, interval, limits)
    if call.evaluator_job_id is not None:
        interval = poll_interval(None, limits)
        wait = max(interval, getattr(reading, "retry_after_secs", None) or 0.0)
        if is_away:
            # Not even past the limit: the evaluator may have the result once it is back.
            return Poll(call.evaluator_job_id, wait, error_text(reading.error))
        return _poll_before_cap(call, call.evaluator_job_id, wait, limits, reading.error)
    if is_away or isinstance(reading, Refusal):
        return Deliver(0.0, error_text(reading.error), counts=False)
    return _after_failed_delivery(call, reading, limits, jitter)


def failure(error: str, *, timed_out: bool = False) -> Finish:
    """Returns the end of a job without scores."""
    return Finish(JobResult(status="timeout" if timed_out else "error", error=error_text(error)))


def poll_interval(named: float | None, limits: CallLimits) -> float:
    """Returns the seconds until the next poll: the answer's, else the evaluator's; clamped."""
    seconds = limits.poll_secs if named is None else named
    return min(max(seconds, MIN_POLL_SECS), MAX_POLL_SECS)


def _after_pending(call: Call, pending: Pending, interval: float, limits: CallLimits) -> Step:
    job_id = pending.job_id or call.evaluator_job_id
    if job_id is None:
        return failure("the evaluator answered pending without a job_id")
    return _poll_before_cap(call, job_id, interval, limits, None)


def _poll_before_cap(
    call: Call, job_id: str, wait: float, limits: CallLimits, error: str | None
) -> Step:
    """Polls again, for the last time when the limit is reached, so that no late result is lost."""
    left = call.poll_secs_left
    if left is None:
        left = limits.max_poll_secs
    elif left <= 0:
        cap = limits.max_poll_secs
        reason = f": {error}" if error else ""
        return failure(f"no result within {cap:g} s of polling{reason}", timed_out=True)
    return Poll(job_id, min(wait, max(left, MIN_POLL_SECS)), error and error_text(error))


def _after_failed_delivery(
    call: Call, failed: AttemptFailure, limits: CallLimits, jitter: float
) -> Finish | Deliver:
    counts = failed.counts or call.age_secs >= LONGEST_OUTAGE_SECS
    if counts and call.attempt_count >= limits.max_attempts:
        return failure(failed.error, timed_out=failed.timed_out)
    wait = failed.retry_after_secs or backoff(
        call.attempt_count, jitter, base_secs=BACKOFF_BASE_SECS, cap_secs=BACKOFF_CAP_SECS
    )
    return Deliver(wait, error_text(failed.error), counts=counts)

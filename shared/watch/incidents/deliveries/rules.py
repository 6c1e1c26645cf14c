"""The decision after an attempt over HTTP: sent, try again, or give up. Pure."""

from dataclasses import dataclass

from shared.foundation.core.attempts import LATER, Again, Failed, Sent, backoff

BACKOFF_BASE_SECS = 10.0
BACKOFF_CAP_SECS = 30 * 60.0

# A longer wait that a receiver asks for is cut to this, so that none delays a delivery for days.
MAX_RETRY_AFTER_SECS = 3600.0


@dataclass(frozen=True)
class ReceiverAnswer:
    """The receiver answered; the rest of the answer is ignored."""

    status: int
    retry_after_secs: float | None = None


@dataclass(frozen=True)
class NoReceiverAnswer:
    """There was no answer; `is_final` means that another attempt would change nothing."""

    error: str
    is_final: bool = False


@dataclass(frozen=True)
class Attempt:
    """The number of the attempt, from 1, and the time for which others may still begin after it."""

    event: str
    number: int
    secs_left: float


Step = Sent | Again | Failed


def next_step(
    result: ReceiverAnswer | NoReceiverAnswer, attempt: Attempt, *, jitter: float
) -> Step:
    """Returns the step after `attempt`; `jitter` is a random number from 0 to 1."""
    if isinstance(result, NoReceiverAnswer):
        return Failed(result.error) if result.is_final else _again(attempt, result.error, 0, jitter)
    status = result.status
    error = f"the receiver answered {status}"
    if 200 <= status < 300:
        return Sent()
    if 300 <= status < 400:
        return Failed(f"{error}, and redirects are not followed")
    if 400 <= status < 500 and status not in LATER:
        return Failed(error)
    wait = min(result.retry_after_secs or 0.0, MAX_RETRY_AFTER_SECS)
    return _again(attempt, error, wait, jitter)


def _again(attempt: Attempt, error: str, named_secs: float, jitter: float) -> Step:
    if attempt.event == "alert.test":
        # A person waits for the result of a test.
        return Failed(error)
    wait = backoff(attempt.number, jitter, base_secs=BACKOFF_BASE_SECS, cap_secs=BACKOFF_CAP_SECS)
    wait = max(wait, named_secs)
    if wait >= attempt.secs_left:
        return Failed(f"{error}, and there is no time for another attempt")
    return Again(error, wait)

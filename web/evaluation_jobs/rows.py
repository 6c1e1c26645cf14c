"""Jobs as JSON."""

from shared.evaluation.evaluation_jobs.breaker import Breaker
from shared.evaluation.evaluation_jobs.listing import LiveJob
from shared.foundation.core.clock import format_optional_ts, format_ts


def health_row(found: Breaker) -> dict[str, object]:
    """Returns the health of the evaluator."""
    return {
        "state": found.state,
        "since": format_optional_ts(found.since),
        "failures": found.failures,
        "last_error": found.last_error,
        "retry_at": format_optional_ts(found.retry_at),
    }


def job_row(job: LiveJob) -> dict[str, object]:
    """Returns the row of one job, also within a session."""
    return {
        **job._asdict(),
        "id": str(job.id),
        "enqueued_at": format_ts(job.enqueued_at),
        "next_attempt_at": format_ts(job.next_attempt_at),
        "poll_deadline_at": format_optional_ts(job.poll_deadline_at),
    }

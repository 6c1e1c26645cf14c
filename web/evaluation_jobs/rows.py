"""Jobs as JSON."""

from shared.core.clock import format_optional_ts, format_ts
from shared.evaluation_jobs.listing import LiveJob


def job_row(job: LiveJob) -> dict[str, object]:
    """Returns the row of one job, also within a session."""
    return {
        **job._asdict(),
        "id": str(job.id),
        "enqueued_at": format_ts(job.enqueued_at),
        "next_attempt_at": format_ts(job.next_attempt_at),
        "poll_deadline_at": format_optional_ts(job.poll_deadline_at),
    }

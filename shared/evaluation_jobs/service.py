"""What the rest of the service asks of evaluation jobs."""

from shared.evaluation_jobs.listing import LiveJob, LiveStatus, live_jobs, oldest_due_secs
from shared.evaluation_jobs.requests import re_evaluate
from shared.evaluation_jobs.watching import StoredSession, watch

__all__ = [
    "LiveJob",
    "LiveStatus",
    "StoredSession",
    "live_jobs",
    "oldest_due_secs",
    "re_evaluate",
    "watch",
]

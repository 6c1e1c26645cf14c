"""The operations of evaluation jobs that other packages use."""

from shared.evaluation_jobs.listing import (
    LiveJob,
    LiveStatus,
    live_jobs,
    oldest_due_secs,
    oldest_result_waiting,
)
from shared.evaluation_jobs.requests import re_evaluate
from shared.evaluation_jobs.watching import StoredSession, watch

__all__ = [
    "LiveJob",
    "LiveStatus",
    "StoredSession",
    "live_jobs",
    "oldest_due_secs",
    "oldest_result_waiting",
    "re_evaluate",
    "watch",
]

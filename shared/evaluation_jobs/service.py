"""What the rest of the service asks of evaluation jobs."""

from shared.evaluation_jobs.watching import StoredSession, watch

__all__ = ["StoredSession", "watch"]

"""The message of retention, which only tells a worker to look."""

from shared.queue import Task

APPLY_RETENTION = Task(actor="apply_retention", queue="background")

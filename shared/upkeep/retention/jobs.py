"""The message of retention; it only says "look"."""

from shared.queue import Task

APPLY_RETENTION = Task(actor="apply_retention", queue="background")

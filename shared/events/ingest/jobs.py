"""The messages of the ingest path; all of them only say "look"."""

from shared.queue import Task

PERSIST_EVENTS = Task(actor="persist_events", queue="ingest")
TIDY_STREAMS = Task(actor="tidy_streams", queue="background")

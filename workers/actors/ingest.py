"""Actors of the ingest path; the work is in `shared.intake.ingest`."""

import os
import socket
import threading

import dramatiq

from shared.foundation.core.errors import Unavailable
from shared.foundation.core.ids import new_request_id
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.foundation.queue.jobs import PERSIST_EVENTS, TIDY_STREAMS
from shared.foundation.queue.waiting import orgs_with_events
from shared.intake.ingest import stream
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from workers.context import once, runtime

_AGAIN_SECS = 1.0
_DEAD_AFTER_MS = 10 * 60 * 1000


@once
def _process() -> str:
    # A process that is restarted under its old pid must not inherit the entries of another one.
    return f"{socket.gethostname()}-{os.getpid()}-{new_request_id()[:8]}"


@once
def _rules_of() -> IngestRulesCache:
    return IngestRulesCache(runtime())


@dramatiq.actor(
    actor_name=PERSIST_EVENTS.actor,
    queue_name=PERSIST_EVENTS.queue,
    max_retries=0,
    max_age=60_000,
    throws=Unavailable,
)
def persist_events() -> None:
    """Drains the ingest streams, and looks again soon if anything is left in them.

    The rest is in the hands of another drain, or of one that was killed, or a store is down.
    """
    consumer = f"{_process()}-{threading.get_ident()}"
    try:
        Drain(runtime(), consumer, _rules_of()).run()
    finally:
        with unavailable_when_redis_is_gone():
            is_left = bool(orgs_with_events(runtime().redis))
        if is_left:
            runtime().queue.nudge_in(PERSIST_EVENTS, _AGAIN_SECS)


@dramatiq.actor(
    actor_name=TIDY_STREAMS.actor, queue_name=TIDY_STREAMS.queue, max_retries=0, max_age=60_000
)
def tidy_streams() -> None:
    """Deletes the consumers of processes that are gone."""
    runtime().queue.nudged(TIDY_STREAMS)
    stream.forget_dead_consumers(runtime().redis, _DEAD_AFTER_MS)

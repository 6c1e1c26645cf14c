"""Actors of deliveries; the work is in `workers.deliveries` and `shared.incidents.deliveries`."""

import functools
import threading

from shared.incidents.deliveries import claims, jobs
from workers.context import runtime
from workers.deliveries.client import DeliveryClient
from workers.deliveries.dispatcher import DeliveryDispatcher
from workers.nudged import nudged_actor, stopping

_dispatcher_lock = threading.Lock()


@functools.cache
def _only_dispatcher() -> DeliveryDispatcher:
    client = DeliveryClient(allow_private=runtime().settings.webhook_allow_private)
    return DeliveryDispatcher(runtime(), client, stopping)


def _dispatcher() -> DeliveryDispatcher:
    with _dispatcher_lock:
        return _only_dispatcher()


@nudged_actor(jobs.SEND_NOTIFICATIONS)
def send_notifications() -> None:
    """Makes the deliveries over HTTP that are due."""
    dispatcher = _dispatcher()
    runtime().queue.nudged(jobs.SEND_NOTIFICATIONS)
    dispatcher.run()


@nudged_actor(jobs.TIDY_NOTIFICATIONS)
def tidy_notifications() -> None:
    """Deletes what tests of alerts left."""
    runtime().queue.nudged(jobs.TIDY_NOTIFICATIONS)
    with runtime().postgres.transaction() as session:
        claims.tidy(session)

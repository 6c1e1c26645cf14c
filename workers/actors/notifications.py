"""Actors of notifications; what they do is `workers.notifications`' and `shared.notifications`'."""

import functools
import threading

from shared.notifications import claims, jobs
from workers.context import runtime
from workers.notifications.client import DeliveryClient
from workers.notifications.dispatcher import Dispatcher
from workers.nudged import nudged_actor, stopping

_client_lock = threading.Lock()


@functools.cache
def _only_client() -> DeliveryClient:
    return DeliveryClient(allow_private=runtime().settings.webhook_allow_private)


def _client() -> DeliveryClient:
    with _client_lock:
        return _only_client()


@nudged_actor(jobs.SEND_NOTIFICATIONS)
def send_notifications() -> None:
    """Makes the deliveries over HTTP that are due."""
    client = _client()
    runtime().queue.nudged(jobs.SEND_NOTIFICATIONS)
    Dispatcher(runtime(), client, stopping).run()


@nudged_actor(jobs.TIDY_NOTIFICATIONS)
def tidy_notifications() -> None:
    """Deletes what tests of alerts left."""
    runtime().queue.nudged(jobs.TIDY_NOTIFICATIONS)
    with runtime().postgres.transaction() as session:
        claims.tidy(session)

"""Actors of deliveries; the work is in `workers.deliveries` and `incidents.deliveries`."""

from shared.foundation.queue import jobs
from shared.watch.incidents.deliveries import claims, due
from workers.context import once, runtime
from workers.deliveries.client import DeliveryClient
from workers.deliveries.dispatcher import DeliveryDispatcher
from workers.nudged import nudged_actor, stopping


@once
def _dispatcher() -> DeliveryDispatcher:
    client = DeliveryClient(allow_private=runtime().settings.webhook_allow_private)
    return DeliveryDispatcher(runtime(), client, stopping)


@nudged_actor(jobs.SEND_NOTIFICATIONS, next_due=due.of_deliveries)
def send_notifications() -> None:
    """Sends the deliveries over HTTP that are due."""
    _dispatcher().run()


@nudged_actor(jobs.TIDY_NOTIFICATIONS)
def tidy_notifications() -> None:
    """Deletes the notifications of old alert tests."""
    with runtime().postgres.transaction() as session:
        claims.tidy(session)

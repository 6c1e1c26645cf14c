"""Works through due deliveries, many at once: claim, send, record, claim again.

No transaction is open during a request. Requests run on the client's event loop; this thread only
starts them and records the outcome of each, so a request that hangs only occupies one place.
"""

import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, wait

from shared.foundation.core.attempts import Again, Failed, jitter
from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger, request_context
from shared.foundation.core.metrics.catalogue import DELIVERIES, DELIVERY_SECS
from shared.foundation.core.tracing import spans
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.jobs import SEND_NOTIFICATIONS
from shared.foundation.queue.work_loop import TURN_SECS
from shared.watch.incidents.deliveries import claims, webhook
from shared.watch.incidents.deliveries.claims import ClaimedDelivery
from shared.watch.incidents.deliveries.rules import (
    NoReceiverAnswer,
    ReceiverAnswer,
    Step,
    next_step,
)
from shared.watch.incidents.deliveries.targets import is_empty
from workers.deliveries.client import DeliveryClient

log = get_logger(__name__)

# The most requests of a turn in flight; each uses a socket.
PLACES = 100

# While requests are in flight, new due deliveries wait no longer than this.
LOOK_SECS = 0.25

# A lease outlasts the longest request by this much: the time to record the outcome.
LEASE_SLACK_SECS = 20.0


# The requests in flight, each with the monotonic time of its start.
_Flights = dict[Future[ReceiverAnswer | NoReceiverAnswer], tuple[ClaimedDelivery, float]]


class DeliveryDispatcher:
    """The dispatcher of a process; one thread at a time claims deliveries, others await their last.

    `stopping` ends a turn after the requests in flight.
    """

    def __init__(self, runtime: Runtime, client: DeliveryClient, stopping: threading.Event) -> None:
        self._runtime = runtime
        self._client = client
        self._stopping = stopping
        self._turn = threading.Lock()
        self._asked = threading.Event()

    def run(self) -> int:
        """Sends until nothing is due or in flight; returns the number of attempts.

        Returns at once if another thread has the turn, because that thread looks again.
        """
        self._asked.set()
        if not self._turn.acquire(blocking=False):
            return 0
        flights: _Flights = {}
        try:
            try:
                attempts = self._take_turn(flights)
            finally:
                self._turn.release()
            if flights or self._asked.is_set():
                # Another thread looks for more, while this one waits for its last requests.
                self._runtime.queue.nudge_soon(SEND_NOTIFICATIONS)
        finally:
            while flights:
                self._land(flights, None)
        return attempts

    def _take_turn(self, flights: _Flights) -> int:
        with self._runtime.postgres.transaction() as session:
            for delivery_id in claims.expire(session):
                log.info("notification_expired", delivery_id=str(delivery_id))
        ends = time.monotonic() + TURN_SECS
        attempts = 0
        while not self._stopping.is_set() and time.monotonic() < ends:
            self._asked.clear()
            attempts += self._start_due(flights)
            if flights:
                self._land(flights, LOOK_SECS)
            elif not self._asked.is_set():
                break
        return attempts

    def _start_due(self, flights: _Flights) -> int:
        most = PLACES - len(flights)
        if most == 0:
            return 0
        lease_secs = self._client.deadline_secs + LEASE_SLACK_SECS
        with self._runtime.postgres.transaction() as session:
            taken = claims.claim(session, self._runtime.settings, most=most, lease_secs=lease_secs)
        for delivery in taken:
            began = time.monotonic()
            if delivery.url:
                org = {spans.ORGANIZATION: str(delivery.row.org_id)}
                with spans.work(SEND_NOTIFICATIONS.actor, attributes=org):
                    flights[self._start(delivery)] = delivery, began
            else:
                step = Failed(is_empty(delivery.url_setting_key))
                self._record(delivery, began, step, status=None)
        return len(taken)

    def _start(self, delivery: ClaimedDelivery) -> Future[ReceiverAnswer | NoReceiverAnswer]:
        body = webhook.body_of(delivery.row.content)
        headers = {"Content-Type": "application/json"}
        if delivery.row.channel == "webhook":
            headers |= webhook.headers_of(
                delivery.row.event,
                delivery.row.id,
                body,
                secret=delivery.secret,
                timestamp=int(time.time()),
            )
        return self._client.start(delivery.url, headers, body)

    def _land(self, flights: _Flights, timeout: float | None) -> None:
        """Records finished requests; waits for the first one up to `timeout`."""
        done, _ = wait(flights, timeout=timeout, return_when=FIRST_COMPLETED)
        for future in done:
            delivery, began = flights.pop(future)
            result = _result_of(future)
            step = next_step(result, delivery.attempt, jitter=jitter())
            status = result.status if isinstance(result, ReceiverAnswer) else None
            self._record(delivery, began, step, status=status)

    def _record(
        self, delivery: ClaimedDelivery, began: float, step: Step, *, status: int | None
    ) -> None:
        secs = time.monotonic() - began
        DELIVERIES.add(1, delivery.row.channel, type(step).__name__.lower())
        DELIVERY_SECS.observe(secs, delivery.row.channel)
        with request_context(delivery.row.request_id, delivery_id=str(delivery.row.id)):
            log.info(
                "notification_attempt",
                channel=delivery.row.channel,
                event_name=delivery.row.event,
                attempt=delivery.attempt.number,
                step=type(step).__name__.lower(),
                status=status,
                duration_ms=round(secs * 1000),
                error=step.error if isinstance(step, Again | Failed) else None,
            )
            try:
                with self._runtime.postgres.transaction() as session:
                    claims.record(session, delivery, step)
            except Unavailable:
                # The attempt is not recorded, so it is repeated after the lease.
                log.warning("notification_attempt_not_recorded")


def _result_of(
    future: Future[ReceiverAnswer | NoReceiverAnswer],
) -> ReceiverAnswer | NoReceiverAnswer:
    defect = future.exception()
    if defect is None:
        return future.result()
    log.error("notification_attempt_broke", exc_info=defect)
    return NoReceiverAnswer("the delivery could not be made")

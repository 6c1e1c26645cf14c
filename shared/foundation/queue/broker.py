"""The Dramatiq broker, set up the same way for senders and workers."""

from typing import Any

import dramatiq
import structlog
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import (
    AgeLimit,
    Callbacks,
    Middleware,
    Retries,
    ShutdownNotifications,
    TimeLimit,
)

from shared.foundation.core.ids import new_request_id
from shared.foundation.core.logs import current_request_id
from shared.foundation.queue.connection import connect_redis
from shared.foundation.queue.consumer import WaitingConsumer


class RequestContext(Middleware):
    """A middleware that carries the request id of a message's sender to the worker's logs."""

    def before_enqueue(
        self, _broker: dramatiq.Broker, message: dramatiq.Message[Any], _delay: int | None
    ) -> None:
        message.options.setdefault("request_id", current_request_id() or new_request_id())

    def before_process_message(
        self, _broker: dramatiq.Broker, message: dramatiq.MessageProxy
    ) -> None:
        structlog.contextvars.bind_contextvars(
            request_id=message.options.get("request_id"), actor=message.actor_name
        )

    def after_process_message(
        self,
        _broker: dramatiq.Broker,
        _message: dramatiq.MessageProxy,
        *,
        result: object = None,  # noqa: ARG002 the name is Dramatiq's
        exception: BaseException | None = None,  # noqa: ARG002 the name is Dramatiq's
    ) -> None:
        structlog.contextvars.clear_contextvars()

    def after_skip_message(self, _broker: dramatiq.Broker, _message: dramatiq.MessageProxy) -> None:
        structlog.contextvars.clear_contextvars()


class Broker(RedisBroker):
    """Dramatiq's broker with consumers that wait; its process may be forked before it connects."""

    @property
    def consumer_class(self) -> type[WaitingConsumer]:
        """The class of the consumers."""
        return WaitingConsumer

    def declare_queue(self, queue_name: str) -> None:
        """Declares a queue without Dramatiq's queue of delayed messages; see `Wakeups`."""
        if queue_name not in self.queues:
            self.emit_before("declare_queue", queue_name)
            self.queues.add(queue_name)
            self.emit_after("declare_queue", queue_name)

    def take_own_id(self) -> None:
        """Renews the id under which Redis knows the messages in the hands of this process."""
        self.broker_id = new_request_id()


def make_broker(redis_url: str) -> Broker:
    """Creates a broker with the middleware of this project; connects on first use."""
    return Broker(
        client=connect_redis(redis_url),
        middleware=[
            RequestContext(),
            AgeLimit(),
            TimeLimit(),
            ShutdownNotifications(),
            Callbacks(),
            Retries(),
        ],
    )

"""A receiver of webhooks on a loopback port that takes everything, or behaves as told.

    with running_receiver() as receiver:
        …                                  # a setting of the organization names `receiver.url`
        delivery = receiver.wait_for("alert.firing")
        assert delivery.json["breach"]["value"] == 0.25

The next deliveries are answered by one of `receiver.script` each, then by `receiver.default`; the
answers are those of `tests.support.evaluator`, from `reply(500)` to `hang`. Workers reach it with
WEBHOOK_ALLOW_PRIVATE only.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.support.evaluator import Answer, Evaluator, Received, reply, running_evaluator
from tests.support.processes import wait_until


@dataclass(frozen=True)
class Delivery:
    """A delivery as it came in; names of headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)

    @property
    def event(self) -> str | None:
        """What a webhook was told; None at Slack's."""
        return self.headers.get("x-service-event")

    @property
    def id(self) -> str | None:
        """The delivery's id; None at Slack's."""
        return self.headers.get("x-service-delivery")


@dataclass
class Receiver:
    """What came in so far, and how the next are answered."""

    server: Evaluator

    @property
    def url(self) -> str:
        """Where it is; the query is what no log and no row may show."""
        return f"{self.server.url}/in?token=geheim"

    @property
    def script(self) -> list[Answer]:
        """How the next deliveries are answered, one each."""
        return self.server.script

    @property
    def default(self) -> Answer:
        """How all others are."""
        return self.server.default

    @default.setter
    def default(self, answer: Answer) -> None:
        self.server.default = answer

    @property
    def deliveries(self) -> list[Delivery]:
        """In the order they came in."""
        return [_delivery(request) for request in list(self.server.requests)]

    def wait_for(self, event: str, secs: float = 40) -> Delivery:
        """The first delivery of an event, once it is there."""
        wait_until(lambda: any(one.event == event for one in self.deliveries), secs)
        return next(one for one in self.deliveries if one.event == event)


def _delivery(request: Received) -> Delivery:
    return Delivery(request.path, request.headers, request.body)


@contextmanager
def running_receiver() -> Iterator[Receiver]:
    """A receiver that answers 200 until it is told otherwise."""
    with running_evaluator() as server:
        server.default = reply(200, b"ok")
        yield Receiver(server)

"""A receiver of webhooks on a loopback port with configurable answers.

    with running_receiver() as receiver:
        …                                  # a setting of the organization names `receiver.url`
        delivery = receiver.wait_for("alert.firing")
        assert delivery.json["breach"]["value"] == 0.25

The next deliveries get one answer of `receiver.script` each, and later ones `receiver.default`. The
answers are those of `tests.support.evaluator`, from `reply(500)` to `hang`. Workers reach the
receiver only with WEBHOOK_ALLOW_PRIVATE.
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
    """A delivery as it came in. Names of headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)

    @property
    def event(self) -> str | None:
        """The event of a webhook, or None for Slack."""
        return self.headers.get("x-service-event")

    @property
    def id(self) -> str | None:
        """The delivery's id, or None for Slack."""
        return self.headers.get("x-service-delivery")


@dataclass
class Receiver:
    """The deliveries so far, and the next answers."""

    server: Evaluator

    @property
    def url(self) -> str:
        """The URL. No log and no row may show its query."""
        return f"{self.server.url}/in?token=geheim"

    @property
    def script(self) -> list[Answer]:
        """The next answers, one for each delivery."""
        return self.server.script

    @property
    def default(self) -> Answer:
        """The answer to all other deliveries."""
        return self.server.default

    @default.setter
    def default(self, answer: Answer) -> None:
        self.server.default = answer

    @property
    def deliveries(self) -> list[Delivery]:
        """The deliveries in the order of arrival."""
        return [_delivery(request) for request in list(self.server.requests)]

    def wait_for(self, event: str, secs: float = 40) -> Delivery:
        """Waits for the first delivery of an event and returns it."""
        wait_until(lambda: any(one.event == event for one in self.deliveries), secs)
        return next(one for one in self.deliveries if one.event == event)


def _delivery(request: Received) -> Delivery:
    return Delivery(request.path, request.headers, request.body)


@contextmanager
def running_receiver() -> Iterator[Receiver]:
    """Runs a receiver that answers 200 by default."""
    with running_evaluator() as server:
        server.default = reply(200, b"ok")
        yield Receiver(server)

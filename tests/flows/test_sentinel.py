"""Failovers of Redis by sentinels, while a recording is posted: nothing accepted is lost."""

import gzip
import threading
import time
from collections.abc import Iterator, Sequence

import pytest

from devstack.up.deployment import Deployment
from tests.flows.api import Api, batches
from tests.flows.checks import (
    require_every_event_once,
    require_every_session_evaluated_once,
    require_every_session_once,
    wait_for_results,
)
from tests.support.airline import Airline
from tests.support.deployment import running_deployment
from tests.support.evaluator import Evaluator
from tests.support.sentinels import REPLICAS, SentinelServers, running_sentinels

pytestmark = [pytest.mark.flow, pytest.mark.timeout(300)]

SENDERS = 3
# So many batches of each sender come after the last failover.
AFTERWARDS = 10


@pytest.fixture
def servers() -> Iterator[SentinelServers]:
    """A primary with replicas, and their sentinels."""
    with running_sentinels() as running:
        yield running


@pytest.fixture
def deployment(evaluator: Evaluator, servers: SentinelServers) -> Iterator[Deployment]:
    """A deployment that asks the sentinels, and waits for all replicas."""
    given = {"REDIS_URL": servers.url, "REDIS_REPLICAS": str(REPLICAS)}
    with running_deployment(evaluator, **given, INGEST_CLAIM_IDLE_SECS="5") as running:
        yield running


class Sender(threading.Thread):
    """Sends each batch until it is accepted; the last ones, when `failed_over` is set.

    `statuses` are those of all answers.
    """

    def __init__(
        self, api: Api, todo: Sequence[Sequence[bytes]], failed_over: threading.Event
    ) -> None:
        super().__init__()
        self._api, self._todo, self._failed_over = api, todo, failed_over
        self.statuses: list[int] = []

    def run(self) -> None:
        for left in range(len(self._todo), 0, -1):
            self._failed_over.wait(0.12 if left > AFTERWARDS else None)
            while not self._accepts(self._todo[-left]):
                time.sleep(0.1)

    def _accepts(self, batch: Sequence[bytes]) -> bool:
        headers = {"Content_Type": "application/x-ndjson", "Content_Encoding": "gzip"}
        status, _ = self._api.request(
            "POST", "/events", gzip.compress(b"\n".join(batch)), **headers
        )
        self.statuses.append(status)
        return status == 202


def errors_of(deployment: Deployment) -> list[str]:
    """Returns the errors in the log of `web`."""
    log = (deployment.stack.directory / "logs" / "web.log").read_text()
    return [line for line in log.splitlines() if '"level": "error"' in line]


def test_failovers_lose_and_double_nothing(
    deployment: Deployment, api: Api, servers: SentinelServers, airline: Airline
) -> None:
    lines = airline.recent().lines
    todo, failed_over = batches(lines, 25), threading.Event()
    senders = [Sender(api, todo[place::SENDERS], failed_over) for place in range(SENDERS)]
    for sender in senders:
        sender.start()
    try:
        for hang in (False, True, False):
            # So that batches are on their way again.
            time.sleep(1)
            servers.fail_over(hang=hang)
    finally:
        failed_over.set()
        for sender in senders:
            sender.join(timeout=60)
    assert not any(sender.is_alive() for sender in senders), "something was never accepted"
    # A refusal is always one that is worth a retry.
    for sender in senders:
        assert set(sender.statuses) == {202, 503}, errors_of(deployment)

    wait_for_results(api, 60)
    require_every_event_once(api, lines)
    require_every_session_once(api, lines)
    require_every_session_evaluated_once(api)

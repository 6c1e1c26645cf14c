"""The main job while each of its dependencies fails in turn, at random moments."""

import random
import threading
import time
from collections.abc import Callable, Iterator

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
from tests.support.evaluator import Answer, Evaluator, close_at_once, close_midway, hang, reply

pytestmark = [pytest.mark.flow, pytest.mark.timeout(900)]

SEED = random.randrange(10**6)
BAD_JSON = reply(200, b"{not json")


@pytest.fixture
def deployment(evaluator: Evaluator) -> Iterator[Deployment]:
    """A deployment whose parts get killed. It soon retries work that hangs or was abandoned."""
    with running_deployment(
        evaluator,
        EVALUATOR_REQUEST_TIMEOUT_MS="2000",
        EVALUATOR_MAX_ATTEMPTS="50",
        INGEST_CLAIM_IDLE_SECS="5",
    ) as running:
        yield running


def test_nothing_is_lost_or_doubled_whatever_fails(
    deployment: Deployment, api: Api, evaluator: Evaluator, airline: Airline
) -> None:
    print(f"seed {SEED}")  # noqa: T201 shown with a failed test
    dice = random.Random(SEED)
    recent = airline.recent()
    shuffled = list(recent.lines)
    dice.shuffle(shuffled)
    todo = [*batches(recent.lines, 250), *batches(shuffled, 250)]
    sender = threading.Thread(target=_deliver_all, args=(api, todo))
    sender.start()
    for disturb in _disturbances(deployment, evaluator, dice):
        # A failure comes at any moment.
        time.sleep(dice.uniform(0.5, 2.0))
        disturb()
    sender.join(timeout=240)
    assert not sender.is_alive(), "the collector never got everything acknowledged"

    wait_for_results(api, 120)

    require_every_event_once(api, recent.lines)
    require_every_session_once(api, recent.lines)
    # Invalid JSON is a final answer. Every other fault is retried until it is over.
    require_every_session_evaluated_once(api, may_end_in="not JSON")


def _deliver_all(api: Api, todo: list[list[bytes]]) -> None:
    for batch in todo:
        api.deliver(batch)
        # Slow enough that every failure happens during a stream of events.
        time.sleep(0.15)


def _disturbances(
    deployment: Deployment, evaluator: Evaluator, dice: random.Random
) -> list[Callable[[], None]]:
    """Causes failures in random order. The deployment's watcher restarts killed programs."""
    usual = evaluator.default

    def answers(answer: Answer) -> Callable[[], None]:
        def disturb() -> None:
            evaluator.default = answer

        return disturb

    stack = deployment.stack
    disturbances: list[Callable[[], None]] = [
        lambda: deployment.kill("worker"),
        lambda: deployment.kill("web"),
        lambda: deployment.kill("clock"),
        lambda: deployment.kill("worker"),
        stack.redis.kill,
        stack.clickhouse.kill,
        stack.postgres.kill,
        answers(reply(500)),
        answers(hang),
        answers(close_at_once),
        answers(close_midway),
        answers(BAD_JSON),
    ]
    dice.shuffle(disturbances)
    return [*disturbances, answers(usual)]

"""A whole deployment as in the Procfile, with an evaluator that a test can disturb."""

from collections.abc import Iterator

import pytest

from devstack.up.deployment import Deployment
from tests.flows.api import Api
from tests.support.deployment import running_deployment
from tests.support.evaluator import Evaluator, reply, running_evaluator

INACTIVITY_SECS = 8


@pytest.fixture
def evaluator() -> Iterator[Evaluator]:
    """An evaluator that scores at once and wants sessions that are idle for 8 s."""
    with running_evaluator() as running:
        running.config = reply(200, {"inactivity_timeout_secs": INACTIVITY_SECS})
        yield running


@pytest.fixture
def deployment(evaluator: Evaluator) -> Iterator[Deployment]:
    """A deployment for a single test."""
    with running_deployment(evaluator) as running:
        yield running


@pytest.fixture
def api(deployment: Deployment) -> Api:
    """A client with the admin key."""
    return Api(int(deployment.environ["PORT"]), deployment.admin_key)

"""A whole deployment as in the Procfile, with an evaluator that a test can disturb."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from devstack.ports import free_port
from devstack.up.deployment import Deployment
from tests.flows.api import Api
from tests.support.evaluator import Evaluator, reply, running_evaluator
from tests.support.stack import stack_directory

INACTIVITY_SECS = 8


@pytest.fixture
def evaluator() -> Iterator[Evaluator]:
    """An evaluator that scores at once and wants sessions that are idle for 8 s."""
    with running_evaluator() as running:
        running.config = reply(200, {"inactivity_timeout_secs": INACTIVITY_SECS})
        yield running


@contextmanager
def running_deployment(evaluator: Evaluator, **given: str) -> Iterator[Deployment]:
    """Runs the service on free ports in a new directory. `given` are further variables."""
    variables = {
        "PATH": os.environ["PATH"],
        "PORT": str(free_port()),
        "EVALUATOR_ENDPOINT": evaluator.url,
        **given,
    }
    said: list[str] = []
    try:
        with (
            stack_directory() as directory,
            Deployment(directory, variables, said.append) as running,
        ):
            yield running
    finally:
        print("\n".join(said))  # noqa: T201 shown with a failed test


@pytest.fixture
def deployment(evaluator: Evaluator) -> Iterator[Deployment]:
    """A deployment for a single test."""
    with running_deployment(evaluator) as running:
        yield running


@pytest.fixture
def api(deployment: Deployment) -> Api:
    """A client with the admin key."""
    return Api(int(deployment.environ["PORT"]), deployment.admin_key)

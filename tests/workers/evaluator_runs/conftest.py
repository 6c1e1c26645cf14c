"""Fixtures of tests with own evaluators."""

from collections.abc import Iterator

import pytest

from shared.foundation.deployment.runtime import Runtime
from tests.support.evaluator import Evaluator, running_evaluator
from tests.support.runs import RunBench
from tests.support.runtime import Org


@pytest.fixture
def server() -> Iterator[Evaluator]:
    """A server that answers every request with a score by default."""
    with running_evaluator() as running:
        yield running


@pytest.fixture
def bench(runtime: Runtime, org: Org, server: Evaluator) -> Iterator[RunBench]:
    """An organization whose evaluators call the server, and a worker that runs on demand."""
    made = RunBench(runtime, org, server)
    yield made
    made.clean_up()

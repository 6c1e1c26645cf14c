"""Fixtures of tests that call an evaluator."""

from collections.abc import Iterator

import pytest

from shared.foundation.deployment.runtime import Runtime
from tests.support.evaluator import Evaluator, running_evaluator
from tests.support.jobs import Bench
from tests.support.runtime import Org


@pytest.fixture
def evaluator() -> Iterator[Evaluator]:
    """An evaluator that answers every request with a score by default."""
    with running_evaluator() as running:
        yield running


@pytest.fixture
def bench(runtime: Runtime, org: Org, evaluator: Evaluator) -> Iterator[Bench]:
    """An organization that may use the evaluator, and a worker that runs on demand."""
    made = Bench(runtime, org, evaluator)
    yield made
    made.clean_up()

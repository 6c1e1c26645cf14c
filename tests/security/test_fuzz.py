"""Requests that nobody wrote down, for every operation and for sequences of them.

No request causes an internal error, every answer is as the OpenAPI document says, and none shows
anything of another organization. `WATCHPOST_FUZZ_SEED` chooses the requests; `bin/test --fuzz`
tries one seed after another.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import seed as seeded
from hypothesis.errors import Flaky
from schemathesis.core.transport import Response
from schemathesis.generation.stateful import run_state_machine_as_test
from schemathesis.generation.stateful.state_machine import APIStateMachine, StepInput, StepOutput

from shared.foundation.deployment.runtime import Runtime
from tests.security.fuzzing import (
    SECONDS,
    SEED,
    Case,
    Target,
    bounded,
    parameters_of,
    requests_of,
    seed_of,
)
from tests.security.world import World
from tests.support.document import Document
from tests.support.server import Server

# Requests for an operation, and sequences, with each seed.
EXAMPLES = 8
SEQUENCES, STEPS = 40, 10


@pytest.fixture(scope="module")
def target(
    runtime: Runtime,
    servers: list[Server],
    document: Document,
    new_world: Callable[[], World],
    theirs: World,
) -> Target:
    """A real server, and an organization for each of the tests below."""
    return Target(runtime, servers[0], document, new_world(), theirs)


def seeds() -> Iterator[int]:
    """Yields the seed of the run, and in a long run further ones until the time is over."""
    end = time.monotonic() + SECONDS / 2
    seed = SEED
    while True:
        print(f"WATCHPOST_FUZZ_SEED={seed}")  # noqa: T201 shown with a failed test
        yield seed
        seed += 1
        if time.monotonic() >= end:
            return


@pytest.mark.timeout(300 + SECONDS)
def test_every_operation(target: Target) -> None:
    before = target.theirs.snapshot()
    for number, seed in enumerate(seeds()):
        if number:
            target.start_over()
        for method, template in in_order(target):
            assert try_operation(target, method, template, seed) >= EXAMPLES / 2, template
        target.require_no_failure(seed)
    assert target.theirs.snapshot() == before


def in_order(target: Target) -> list[tuple[str, str]]:
    """Returns (method, path) of every operation, those that remove something last."""
    every = [(method, template) for method, template, _ in target.ours.document.operations()]
    return sorted(every, key=lambda one: one[0] == "DELETE")


def try_operation(target: Target, method: str, template: str, seed: int) -> int:
    """Sends some requests for one operation, and returns how many."""
    target.renew()
    operation = target.schema[template][method]
    paths = [*target.ours.paths(template)][:5] + sorted(target.theirs.own_paths(template))[:1]
    sent = 0

    @seeded(seed_of(operation.label, seed))
    @bounded(EXAMPLES)
    @given(requests_of(target, operation, paths if "{" in template else []))
    def send(case: Case) -> None:
        nonlocal sent
        callers = target.callers(template)
        target.check(case, target.send(case, callers[sent % len(callers)]))
        sent += 1

    send()
    return sent


@pytest.mark.timeout(300 + SECONDS)
def test_sequences(target: Target) -> None:
    """The next requests, and outsiders, use the ids that one answer names."""
    reached: set[str] = set()
    for seed in seeds():
        for number in range(SEQUENCES // 5):
            machine = seeded(seed_of(f"sequences {number}", seed))(machine_of(target, reached))
            # Hypothesis notices that the service does not start afresh with each sequence.
            with suppress(Flaky):
                run_state_machine_as_test(machine, settings=bounded(5, STEPS))
        target.require_no_failure(seed)
    assert len(reached) > 10, sorted(reached)


def machine_of(target: Target, reached: set[str]) -> type[APIStateMachine]:
    """Returns schemathesis's sequences, on this target; `reached` gets what succeeded on a path."""

    class Machine(target.schema.as_state_machine()):  # type: ignore[misc] # made at run time
        def step(self, step: StepInput) -> StepOutput:
            if not step.is_applied:
                name_something(target, step.case)
            made: StepOutput = super().step(step)
            return made

        def before_call(self, case: Case) -> None:
            accepted = target.ours.body(case.operation.definition.raw)
            if isinstance(accepted, dict) and isinstance(case.body, dict):
                case.body = {**case.body, **accepted}

        def call(self, case: Case, **_options: Any) -> Response:
            return target.send(case, target.callers(case.path)[0])

        def validate_response(self, response: Response, case: Case, **_options: Any) -> None:
            target.check(case, response)
            if response.status_code < 300 and "{" in case.path:
                reached.add(case.operation.label)
                if case.method.upper() == "GET":
                    target.check_nothing_for_outsiders(case)

        def teardown(self) -> None:
            target.renew()

    return Machine


def name_something(target: Target, case: Case) -> None:
    """Mostly gives a request that begins a sequence the id of something that exists."""
    paths = list(target.ours.paths(case.path)) if "{" in case.path else []
    if paths and random.random() < 0.8:
        case.path_parameters = parameters_of(case.path, random.choice(paths))

"""Clock and workers as the Procfile starts them. One is killed in the middle of a call."""

from contextlib import ExitStack

import pytest

from tests.support import evaluator as behave
from tests.support.jobs import Bench
from tests.support.processes import running, wait_until

SESSIONS = [f"s/{number}" for number in range(8)]

pytestmark = pytest.mark.flow


def test_two_worker_processes_keep_the_bound_and_outlive_a_kill(bench: Bench) -> None:
    bench.configure(
        evaluator_workers=2,
        evaluator_claim_batch=1,
        evaluator_request_timeout_ms=3000,
        evaluator_config_refresh_secs=1,
    )
    bench.evaluator.default = behave.scored(after=0.4)
    bench.evaluator.config = behave.reply(200, {})
    settings = bench.runtime.settings
    with ExitStack() as processes:
        evaluators = [
            processes.enter_context(running("workers.main", "evaluator", settings=settings))
            for _ in range(2)
        ]
        processes.enter_context(running("workers.main", "background", settings=settings))
        processes.enter_context(running("workers.clock", settings=settings))
        for name in SESSIONS[:-1]:
            bench.store(name, "agent_start", "agent_end")
        wait_until(lambda: len(bench.evaluator.requests) >= 3)
        evaluators[0].kill()
        # Until the ended sessions have their jobs, none of them may look inactive as well.
        wait_until(lambda: len(bench.jobs()) == len(SESSIONS) - 1)
        bench.evaluator.config = behave.reply(200, {"inactivity_timeout_secs": 4})
        bench.store(SESSIONS[-1], "agent_start", "tool_use")
        wait_until(lambda: len(bench.results()) == len(SESSIONS))
    assert sorted(result.session_id for result in bench.results()) == SESSIONS
    assert {result.status for result in bench.results()} == {"done"}
    assert bench.evaluator.most_in_flight == 2
    triggers = {job["session_id"]: job["trigger"] for job in bench.jobs()}
    assert triggers[SESSIONS[-1]] == "inactivity"
    assert list(triggers.values()).count("agent_end") == len(SESSIONS) - 1

"""Actors of runs of organizations' own evaluators."""

from shared.evaluation.evaluators.addresses import allowed_addresses
from shared.evaluation.runs import due, triggers
from shared.foundation.postgres import single_flight
from shared.foundation.queue import jobs
from workers.call_loop import CallLoop
from workers.context import once, runtime
from workers.evaluation_jobs.dispatcher import EvaluationDispatcher
from workers.evaluator_runs.called import CalledRuns
from workers.evaluator_runs.push import PushCalls
from workers.nudged import nudged_actor, stopping


@once
def _dispatcher() -> EvaluationDispatcher:
    loop = CallLoop("own-evaluators")
    allowed = allowed_addresses(runtime().settings.evaluator_allow_private)
    kinds = {"push": PushCalls(loop, allowed)}
    return EvaluationDispatcher(runtime(), CalledRuns(runtime(), kinds), stopping)


# While sessions end all the time, few looks at many of them cost less than many at a few.
@nudged_actor(jobs.TRIGGER_RUNS, next_due=due.of_triggers, shortest=0.5)
def trigger_runs() -> None:
    """Makes the runs of sessions that ended or are idle."""
    with single_flight(runtime().postgres, jobs.TRIGGER_RUNS.actor) as alone:
        made = alone and triggers.trigger_runs(runtime().postgres, runtime().clickhouse)
    if made:
        runtime().queue.nudge_soon(jobs.CALL_EVALUATORS)


@nudged_actor(jobs.CALL_EVALUATORS, next_due=due.of_calls)
def call_evaluators() -> None:
    """Calls evaluators for runs that are due."""
    _dispatcher().run()

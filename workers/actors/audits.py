"""Actors of audits; the work is in `shared.watch.audits.runs`."""

from shared.foundation.queue import jobs
from shared.watch.audits.runs import due
from shared.watch.audits.runs.runner import AuditRunner
from shared.watch.audits.runs.scheduling import schedule
from workers.audits.llm import LanguageModel
from workers.context import once, runtime
from workers.nudged import nudged_actor, stopping


@once
def _model() -> LanguageModel | None:
    settings = runtime().settings
    return None if settings.audit_llm_base_url is None else LanguageModel(settings)


@nudged_actor(jobs.SCHEDULE_AUDITS, next_due=due.of_audits)
def schedule_audits() -> None:
    """Queues the runs that are due."""
    schedule(runtime().postgres, runtime().queue)


@nudged_actor(jobs.RUN_AUDITS, next_due=due.of_runs)
def run_audits() -> None:
    """Executes waiting runs."""
    AuditRunner(runtime(), stopping, ask=_model()).run()

"""Actors of audits; what they do is `shared.audits.runs`'s."""

import functools
import threading

from shared.audits import jobs
from shared.audits.runs.runner import AuditRunner
from shared.audits.runs.scheduling import schedule
from workers.audits.llm import LanguageModel
from workers.context import runtime
from workers.nudged import nudged_actor, stopping

_model_lock = threading.Lock()


@functools.cache
def _only_model() -> LanguageModel | None:
    settings = runtime().settings
    return None if settings.audit_llm_base_url is None else LanguageModel(settings)


def _model() -> LanguageModel | None:
    with _model_lock:
        return _only_model()


@nudged_actor(jobs.SCHEDULE_AUDITS)
def schedule_audits() -> None:
    """Queues the runs that are due."""
    runtime().queue.nudged(jobs.SCHEDULE_AUDITS)
    schedule(runtime().postgres, runtime().queue)


@nudged_actor(jobs.RUN_AUDITS)
def run_audits() -> None:
    """Carries out runs that wait."""
    runtime().queue.nudged(jobs.RUN_AUDITS)
    AuditRunner(runtime(), stopping, ask=_model()).run()

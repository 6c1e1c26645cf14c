"""Readiness of a deployment: its stores answer, events are stored, no work waits for too long."""

from collections.abc import Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from shared.evaluation.evaluation_jobs.listing import oldest_due_secs
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import Unavailable
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.deployment.stores import STORES
from shared.foundation.queue import is_consumed, unavailable_when_redis_is_gone
from shared.foundation.queue.jobs import PERSIST_EVENTS
from shared.intake.canary import passages
from shared.intake.ingest.backlog import lag_secs
from web.evaluator_health import EvaluatorHealthProbe
from web.probe import Probe

# Longer than any healthy store takes, and shorter than a load balancer waits.
TIMEOUT_SECS = 2.0

T = TypeVar("T")


@dataclass(frozen=True)
class Canary:
    """The state of the canaries; the rest is None unless one is `ok` or `down`.

    `state`: ok, down, unknown (no worker has sent any, or Redis is down) or disabled. `late`: the
    groups of ingest processes whose canaries do not come through.
    """

    state: str
    age_secs: float | None = None
    begins: str | None = None
    part: str | None = None
    late: int | None = None


@dataclass(frozen=True)
class ReadinessReport:
    """The state of each store. An age in seconds is None when its store did not answer.

    `ingest` shows whether a worker runs that stores events.

    `broken` is the first part of the pipeline that does not work, None if events get through it.

    `evaluator` is a state of `EvaluatorHealthProbe`, and has no effect on `ready`: events are
    stored and read without an evaluator.
    """

    stores: Mapping[str, bool]
    ingest: bool
    evaluator: str
    ingest_lag_secs: float | None
    oldest_job_secs: float | None
    canary: Canary
    broken: str | None
    ready: bool


class Readiness:
    """Runs all checks at once and waits at most 2 s, however many stores hang."""

    def __init__(self, runtime: Runtime) -> None:
        self._settings = runtime.settings
        self._probes = {name: Probe(partial(_ping, runtime, name)) for name in STORES}
        self._ingest = Probe(partial(_require_ingest, runtime))
        self._lag = Probe(partial(_ingest_lag, runtime))
        self._canary = Probe(partial(_canary, runtime))
        self._oldest_job = Probe(partial(_oldest_job, runtime))
        self._evaluator = EvaluatorHealthProbe(runtime.settings.evaluator_endpoint)

    def report(self) -> ReadinessReport:
        """Returns the current state."""
        pings = {name: probe.start() for name, probe in self._probes.items()}
        lag, oldest_job = self._lag.start(), self._oldest_job.start()
        ingest, canary = self._ingest.start(), self._canary.start()
        evaluator = self._evaluator.start()
        first = [] if evaluator is None else [evaluator]
        asked: list[Future[Any]] = [*pings.values(), ingest, lag, oldest_job, canary, *first]
        wait(asked, timeout=TIMEOUT_SECS)
        stores = {name: _answer(ping) is not None for name, ping in pings.items()}
        lag_now = _answer(lag) if stores["redis"] else None
        oldest_now = _answer(oldest_job) if stores["postgres"] else None
        consumes = _answer(ingest) is not None
        flown = _answer(canary) or _without(self._settings)
        return ReadinessReport(
            stores=stores,
            ingest=consumes,
            evaluator=self._evaluator.state(),
            ingest_lag_secs=lag_now,
            oldest_job_secs=oldest_now,
            canary=flown,
            broken=_broken(stores, consumes, flown),
            ready=all(stores.values())
            and consumes
            and flown.state != "down"
            and _within(lag_now, self._settings.ready_max_ingest_lag_secs)
            and _within(oldest_now, self._settings.ready_max_job_age_secs),
        )


def _answer(future: Future[T]) -> T | None:
    return future.result() if future.done() and future.exception() is None else None


def _within(age_secs: float | None, bound_secs: float) -> bool:
    return age_secs is not None and age_secs <= bound_secs


def _ping(runtime: Runtime, name: str) -> float:
    STORES[name](runtime)
    return 0.0


def _require_ingest(runtime: Runtime) -> float:
    with unavailable_when_redis_is_gone():
        if not is_consumed(runtime.redis, PERSIST_EVENTS.queue):
            raise Unavailable("no worker stores events")
    return 0.0


def _ingest_lag(runtime: Runtime) -> float:
    with unavailable_when_redis_is_gone():
        return lag_secs(runtime.redis)


def _oldest_job(runtime: Runtime) -> float:
    with runtime.postgres.transaction() as session:
        return oldest_due_secs(session, runtime.settings)


def _canary(runtime: Runtime) -> Canary:
    if runtime.settings.canary_interval_secs == 0:
        return Canary("disabled")
    with unavailable_when_redis_is_gone():
        found = passages.state(runtime.redis, runtime.settings.ready_max_ingest_lag_secs)
    if found is None:
        return Canary("unknown")
    state = "down" if found.is_late else "ok"
    return Canary(state, found.age_secs, found.begins, found.part, found.late)


def _without(settings: Settings) -> Canary:
    """Returns the state while Redis does not answer."""
    return Canary("disabled" if settings.canary_interval_secs == 0 else "unknown")


def _broken(stores: Mapping[str, bool], consumes: bool, canary: Canary) -> str | None:
    """Returns the part that does not work: what can be seen from here, else what canaries meet."""
    checks = {"redis": stores["redis"], "ingest": consumes or not stores["redis"], **stores}
    for part in passages.PARTS:
        if not checks.get(part, True):
            return part
    return (canary.part or "ingest") if canary.state == "down" else None

"""Readiness of a deployment: its stores answer and no work waits for too long."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial

from shared.core.errors import Unavailable
from shared.core.logs import get_logger
from shared.deployment.runtime import Runtime
from shared.deployment.stores import STORES
from shared.evaluation_jobs.service import oldest_due_secs
from shared.events.ingest.backlog import lag_secs
from shared.queue import unavailable_when_redis_is_gone

log = get_logger(__name__)

# Longer than any healthy store takes, and shorter than a load balancer waits.
TIMEOUT_SECS = 2.0


class Probe:
    """A check that may hang. It runs in a thread, and never twice at the same time."""

    def __init__(self, ask: Callable[[], float]) -> None:
        self._ask = ask
        self._lock = threading.Lock()
        self._answer: Future[float] | None = None

    def start(self) -> Future[float]:
        """Starts the check and returns its future. A check in progress is reused."""
        with self._lock:
            if self._answer is None or self._answer.done():
                self._answer = Future()
                threading.Thread(target=self._run, args=(self._answer,), daemon=True).start()
            return self._answer

    def _run(self, answer: Future[float]) -> None:
        try:
            answer.set_result(self._ask())
        except Exception as error:
            if not isinstance(error, Unavailable):
                log.exception("readiness_probe_failed")
            answer.set_exception(error)


@dataclass(frozen=True)
class Report:
    """The state of each store. An age in seconds is None when its store did not answer."""

    stores: Mapping[str, bool]
    ingest_lag_secs: float | None
    oldest_job_secs: float | None
    ready: bool


class Readiness:
    """Runs all checks at once and waits at most 2 s, however many stores hang."""

    def __init__(self, runtime: Runtime) -> None:
        self._settings = runtime.settings
        self._probes = {name: Probe(partial(_ping, runtime, name)) for name in STORES}
        self._lag = Probe(partial(_ingest_lag, runtime))
        self._oldest_job = Probe(partial(_oldest_job, runtime))

    def report(self) -> Report:
        """Returns the current state."""
        pings = {name: probe.start() for name, probe in self._probes.items()}
        lag, oldest_job = self._lag.start(), self._oldest_job.start()
        wait([*pings.values(), lag, oldest_job], timeout=TIMEOUT_SECS)
        stores = {name: _answer(ping) is not None for name, ping in pings.items()}
        lag_now = _answer(lag) if stores["redis"] else None
        oldest_now = _answer(oldest_job) if stores["postgres"] else None
        return Report(
            stores=stores,
            ingest_lag_secs=lag_now,
            oldest_job_secs=oldest_now,
            ready=all(stores.values())
            and _within(lag_now, self._settings.ready_max_ingest_lag_secs)
            and _within(oldest_now, self._settings.ready_max_job_age_secs),
        )


def _answer(future: Future[float]) -> float | None:
    return future.result() if future.done() and future.exception() is None else None


def _within(age_secs: float | None, bound_secs: float) -> bool:
    return age_secs is not None and age_secs <= bound_secs


def _ping(runtime: Runtime, name: str) -> float:
    STORES[name](runtime)
    return 0.0


def _ingest_lag(runtime: Runtime) -> float:
    with unavailable_when_redis_is_gone():
        return lag_secs(runtime.redis)


def _oldest_job(runtime: Runtime) -> float:
    with runtime.postgres.transaction() as session:
        return oldest_due_secs(session, runtime.settings)

"""Runs groups of queues in this process until it is stopped: `python -m workers.main ingest`.

The broker is created first, then the actor modules of the groups are imported: actors bind to the
broker that exists when they are declared.
"""

import gc
import importlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click
import dramatiq
from sqlalchemy.orm import configure_mappers

from shared.access.permissions.custom_sets import service as custom_sets
from shared.foundation.core.config import Settings, load_settings
from shared.foundation.core.errors import ConfigurationError, WatchpostError
from shared.foundation.core.ids import new_request_id
from shared.foundation.core.logs import configure_logging, get_logger
from shared.foundation.core.metrics.exporter import Exporter, Read
from shared.foundation.core.tracing.exporter import Tracing
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.deployment.schema import require_current
from shared.reading.prices.builtin import builtin_prices
from workers import context
from workers.groups import CANARIES_IN, GAUGES_IN, GROUPS, name_of, type_of

STOP_TIMEOUT_MS = 25_000
# A canary that waits for a store may be left in the air.
_LEAVE_SECS = 2.0

log = get_logger(__name__)


def prepare(settings: Settings, groups: Sequence[str]) -> Runtime:
    """Declares the actors of these groups on a new runtime.

    Opens no connection and starts no thread, so the process may be forked afterwards. Raises
    `ConfigurationError` for a table of prices that cannot be read.
    """
    builtin_prices(settings.model_prices_file)
    runtime = Runtime.connect(settings)
    context.use_runtime(runtime)
    dramatiq.set_broker(runtime.broker)
    for module in sorted({module for group in groups for module in GROUPS[group].actors}):
        importlib.import_module(f"workers.actors.{module}")
    return runtime


def rehearse(runtime: Runtime) -> None:
    """Does what every process of `runtime` does first, so that they share the memory of it.

    Afterwards no connection is open. If a store does not answer, each process will report it.
    """
    configure_mappers()
    with suppress(Exception):
        _require_schema(runtime)
    runtime.close()


def _require_schema(runtime: Runtime) -> None:
    """Raises `ConfigurationError` or `Unavailable` if this release cannot run on the stores."""
    require_current(runtime.postgres, runtime.clickhouse)
    with runtime.postgres.transaction() as session:
        custom_sets.require_default(session, runtime.settings)


def work(
    runtime: Runtime,
    groups: Sequence[str],
    stop: threading.Event,
    metrics: Exporter,
    tracing: Tracing,
    *,
    answers: bool = True,
    is_first: bool = True,
) -> None:
    """Works on the queues of these groups until `stop` is set.

    It answers for the `metrics` of its process type only if it `answers`. The process that
    `is_first` of its group sends the group's canaries. Raises `ConfigurationError` or `Unavailable`
    if this release cannot run on the stores.
    """
    settings = runtime.settings
    configure_logging(settings, f"worker-{name_of(groups)}")
    with suppress(OSError):  # Shows in `ps -o comm`; only Linux has this file.
        Path("/proc/self/comm").write_text(f"wp-{name_of(groups)}")
    runtime.broker.take_own_id()
    _require_schema(runtime)
    os.nice(min(GROUPS[group].niceness for group in groups))
    _collect_rarely()
    tracing.start(name_of(groups))
    workers = [worker for group in groups for worker in _start(runtime, group)]
    metrics.start(name_of(groups), answers=answers, more=_gauges(runtime, groups))
    canaries = _canaries(runtime, stop) if is_first and CANARIES_IN in groups else None
    log.info("worker_started", groups=groups)
    stop.wait()
    _stop(workers)
    if canaries is not None:
        canaries.join(_LEAVE_SECS)
    tracing.stop()
    runtime.close()
    log.info("worker_stopped")


def _gauges(runtime: Runtime, groups: Sequence[str]) -> Read | None:
    """Returns the gauges of the deployment for the one group that answers for them."""
    if runtime.settings.metrics_port is None or GAUGES_IN not in groups:
        return None
    from shared.upkeep.gauges import Gauges

    return Gauges(runtime).readings


def _canaries(runtime: Runtime, stop: threading.Event) -> threading.Thread | None:
    """Sends canaries in a thread until `stop` is set; returns it, None if none are wanted."""
    if runtime.settings.canary_interval_secs == 0:
        return None
    from shared.intake.canary.flight import Flight

    group = f"{socket.gethostname()}-{os.getpid()}-{new_request_id()[:8]}"
    flight = Flight(runtime, group, stop)
    sending = threading.Thread(target=flight.run, daemon=True, name="canary")
    sending.start()
    return sending


def _start(runtime: Runtime, name: str) -> list[dramatiq.Worker]:
    """Starts the threads of a group. They are its own, even where groups share a process."""
    group = GROUPS[name]
    threads = group.threads(runtime.settings)
    together = [{queue} for queue in group.queues] if group.apart else [set(group.queues)]
    workers = [
        dramatiq.Worker(runtime.broker, queues=queues, worker_threads=threads)
        for queues in together
    ]
    for worker in workers:
        # No message waits in a busy process while another one is idle.
        worker.queue_prefetch = threads
        worker.start()
    return workers


def _stop(workers: Sequence[dramatiq.Worker]) -> None:
    """Stops all at once, so that they share the time that is left."""
    threads = [threading.Thread(target=worker.stop, args=(STOP_TIMEOUT_MS,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _collect_rarely() -> None:
    """Keeps the cycle collector from walking a block's million values again and again.

    They contain no cycles. Python's default of a walk every 700 new containers took a quarter of
    the drain's time (7.7 µs an event, 5.9 without).
    """
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def stop_on_signals() -> threading.Event:
    """Returns an event that SIGTERM and SIGINT set."""
    stop = threading.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: stop.set())
    return stop


@click.command()
@click.argument("groups", nargs=-1, required=True, type=click.Choice(sorted(GROUPS)))
def main(groups: tuple[str, ...]) -> None:
    """Work on GROUPS of queues."""
    stop = stop_on_signals()
    try:
        settings = load_settings()
        configure_logging(settings, f"worker-{name_of(groups)}")
        metrics = Exporter(settings, type_of(groups))
        tracing = Tracing(settings)
        work(prepare(settings, groups), groups, stop, metrics, tracing)
    except (ConfigurationError, WatchpostError) as error:
        log.error("worker_refused_to_start", reason=str(error))  # noqa: TRY400 one sentence says it
        sys.exit(1)


if __name__ == "__main__":
    main()

"""Runs one group of queues until it is stopped: `python -m workers.main ingest`.

The broker is created first, then every actor module is imported: actors bind to the broker that
exists when they are declared.
"""

import gc
import importlib
import os
import signal
import sys
import threading

import click
import dramatiq

from shared.core.config import load_settings
from shared.core.errors import ConfigurationError, WatchpostError
from shared.core.logs import configure_logging, get_logger
from shared.deployment.runtime import Runtime
from shared.deployment.schema import require_current
from shared.permissions.custom_sets import service as custom_sets
from workers import context
from workers.groups import GROUPS

ACTOR_MODULES = (
    "workers.actors.alerts",
    "workers.actors.ingest",
    "workers.actors.evaluation_jobs",
    "workers.actors.audits",
    "workers.actors.mail",
    "workers.actors.deliveries",
    "workers.actors.upkeep",
)

STOP_TIMEOUT_MS = 25_000

log = get_logger(__name__)


def load_actors(runtime: Runtime) -> None:
    """Declares every actor on the runtime's broker."""
    context.use_runtime(runtime)
    dramatiq.set_broker(runtime.broker)
    for module in ACTOR_MODULES:
        importlib.import_module(module)


def run(group_name: str) -> None:
    """Works on the queues of a group.

    Returns after SIGTERM, SIGINT or the end of the supervisor.
    """
    settings = load_settings()
    configure_logging(settings, f"worker-{group_name}")
    runtime = Runtime.connect(settings)
    require_current(runtime.postgres, runtime.clickhouse)
    with runtime.postgres.transaction() as session:
        custom_sets.require_default(session, settings)
    load_actors(runtime)
    group = GROUPS[group_name]
    os.nice(group.niceness)
    _collect_rarely()
    stop = threading.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: stop.set())
    if "WATCHPOST_SUPERVISED" in os.environ:
        threading.Thread(target=_stop_with_supervisor, args=(stop,), daemon=True).start()
    worker = dramatiq.Worker(
        runtime.broker,
        queues=set(group.queues),
        worker_threads=group.threads(settings),
        worker_timeout=group.idle_wait_ms,
    )
    # No message waits in a busy process while another one is idle.
    worker.queue_prefetch = group.threads(settings)
    worker.start()
    log.info("worker_started", queues=group.queues, threads=group.threads(settings))
    stop.wait()
    worker.stop(timeout=STOP_TIMEOUT_MS)
    runtime.close()
    log.info("worker_stopped")


def _collect_rarely() -> None:
    """Keeps the cycle collector from walking a block's million values again and again.

    They contain no cycles. Python's default of a walk every 700 new containers took a quarter of
    the drain's time (7.7 µs an event, 5.9 without).
    """
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def _stop_with_supervisor(stop: threading.Event) -> None:
    """Stops when stdin closes: the supervisor holds its other end, and even kill -9 closes it.

    This does not use `sys.stdin`, because a thread that never returns would hold its lock and crash
    an orderly exit.
    """
    os.read(sys.stdin.fileno(), 1)
    stop.set()


@click.command()
@click.argument("group", type=click.Choice(sorted(GROUPS)))
def main(group: str) -> None:
    """Work on one group of queues."""
    try:
        run(group)
    except (ConfigurationError, WatchpostError) as error:
        log.error("worker_refused_to_start", reason=str(error))  # noqa: TRY400 one sentence says it
        sys.exit(1)


if __name__ == "__main__":
    main()

"""Switches metrics on in the processes of a process type; one of them answers for all.

Each process type has a port of its own: METRICS_PORT plus its place in `PROCESS_TYPES`, because
several of them may run on one machine. The processes wait for a lock; the one that has it listens,
and when it ends, the next one does.
"""

import importlib
import threading
from collections.abc import Callable, Iterable
from functools import partial

from shared.foundation.core.config import Settings
from shared.foundation.core.metrics.kinds import MetricReading
from shared.foundation.core.metrics.slots import ProcessSlots

# The order decides the ports, so a new type is appended.
PROCESS_TYPES = (
    "web",
    "otlp-grpc",
    "worker",
    "ingest",
    "evaluator",
    "background",
    "mail",
    "alerts",
    "notifications",
    "assistant",
    "audits",
    "clock",
)
_SERVING = "shared.foundation.core.metrics.serving"

Read = Callable[[], Iterable[MetricReading]]


def port_of(settings: Settings, process_type: str) -> int | None:
    """Returns the port on which a process type answers; None while metrics are off."""
    if settings.metrics_port is None:
        return None
    return settings.metrics_port + PROCESS_TYPES.index(process_type)


class Exporter:
    """The metrics of one process type, made before its processes are forked."""

    def __init__(self, settings: Settings, process_type: str) -> None:
        """Makes the place where the processes count; imports nothing while metrics are off.

        Raises `ConfigurationError` if the place cannot be used.
        """
        self._bind = settings.metrics_bind
        self._port = port_of(settings, process_type)
        self._slots: ProcessSlots | None = None
        if self._port is not None:
            self._slots = ProcessSlots.of_port(self._port)
            # Imported here, so that the processes share the memory of it.
            importlib.import_module(_SERVING)

    def start(self, name: str, *, answers: bool = True, more: Read | None = None) -> None:
        """Counts in this process from now on; does nothing while metrics are off.

        `name` is the name of the process. It listens only if it `answers`, and no other process of
        its type does. `more` are the readings that it can add.
        """
        if self._slots is None or self._port is None:
            return
        from shared.foundation.core.metrics import serving

        serving.count_in(self._slots, self._slots.take(name))
        if answers:
            listen = partial(serving.answer, self._slots, (self._bind, self._port), more)
            threading.Thread(target=listen, daemon=True, name="metrics").start()

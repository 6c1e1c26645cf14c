"""Switches traces of Watchpost itself on in a process; nothing is imported while they are off."""

from typing import TYPE_CHECKING

from shared.foundation.core.config import Settings
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.core.tracing import spans

if TYPE_CHECKING:
    from shared.foundation.core.tracing.live import LiveTracer


class Tracing:
    """The traces of one process type, made before its processes are forked."""

    def __init__(self, settings: Settings) -> None:
        """Imports what spans need, so that the processes share the memory of it.

        Raises `ConfigurationError` if traces are wanted and the extra `tracing` is not installed.
        """
        self._url = settings.traces_url
        self._tracer: LiveTracer | None = None
        if self._url is not None:
            try:
                from shared.foundation.core.tracing import live  # noqa: F401 it needs the extra
            except ModuleNotFoundError as error:
                raise ConfigurationError(
                    f"OTEL_EXPORTER_OTLP_ENDPOINT is set, and the package of {error.name} is not"
                    " installed: run `pip install .[tracing]`, or unset the variable"
                ) from error

    def start(self, process: str) -> None:
        """Makes spans in this process from now on; does nothing while traces are off.

        `process` is the name of the process. Call it after the last fork: it starts a thread.
        """
        if self._url is None:
            return
        from shared.foundation.core.tracing.live import LiveTracer

        self._tracer = LiveTracer(self._url, process)
        spans.use(self._tracer)

    def stop(self) -> None:
        """Sends the last spans, or gives them up after 2 s."""
        tracer, self._tracer = self._tracer, None
        if tracer is not None:
            spans.use(None)
            tracer.close()

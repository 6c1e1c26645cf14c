"""The runtime of this worker process, set once by `workers.main` before any actor runs."""

from shared.deployment.runtime import Runtime

_current: list[Runtime] = []


def use_runtime(runtime: Runtime) -> None:
    """Makes `runtime` the one that actors work with."""
    _current[:] = [runtime]


def runtime() -> Runtime:
    """The runtime of this process; an actor asks for it when it runs, never when imported."""
    return _current[0]

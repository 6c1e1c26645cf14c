"""What `bin/test --fast` promises: no process, no port, no test that computes for long.

Each test is fast that has none of the run's servers among its fixtures and no mark `flow`. The rest
is enforced here while such a test runs, so that a wrong mark is noticed by the test that has it.
"""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext

import pytest

# Of processor time. The list of the slowest tests shows what takes a second; beside other work the
# processor time of the same test has tripled.
LIMIT_SECS = 3.0

_STARTS = frozenset(
    {"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.system", "socket.bind"}
)


class FastTests:
    """A plugin: marks fast tests, keeps them from starting anything, and fails a slow one."""

    def __init__(self) -> None:
        self._running = False
        sys.addaudithook(self._refuse)

    def _refuse(self, event: str, _arguments: object) -> None:
        """Python calls this before it starts a process or listens, whichever library asks."""
        if self._running and event in _STARTS:
            pytest.fail(
                f"a fast test called {event}: ask for a server's fixture, or mark it `flow`"
            )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Watches fixtures too, which may start something as well."""
        self._running = is_fast(item)
        try:
            return (yield)
        finally:
            self._running = False

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Iterator[None]:
        """Measures the test alone: the first test that asks for it pays for a shared fixture."""
        with computes_briefly() if is_fast(pyfuncitem) else nullcontext():
            return (yield)


@contextmanager
def computes_briefly(limit_secs: float = LIMIT_SECS) -> Iterator[None]:
    """Fails a block that takes more than this of processor time."""
    began = time.process_time()
    yield
    took = time.process_time() - began
    if took > limit_secs:
        pytest.fail(f"{took:.1f} s of processor time: make the test smaller, or mark it `flow`")


def mark_fast(items: Iterable[pytest.Item]) -> None:
    """Marks as `fast` each test that uses neither the run's servers nor something of its own."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "run_servers" not in fixtures and item.get_closest_marker("flow") is None:
            item.add_marker("fast")


def is_fast(item: pytest.Item) -> bool:
    return item.get_closest_marker("fast") is not None

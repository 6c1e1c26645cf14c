"""The servers of a test run."""

import os
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from devstack import DevStack, Ports
from devstack.stack import ALL_SERVERS
from devstack.state import State, StateFile
from tests.support.kept import kept_stack
from tests.support.sparing import spare_processor


def servers_of(tests: Iterable[pytest.Item]) -> frozenset[str]:
    """Returns the servers whose URL a test uses, directly or through other fixtures."""
    asked = {fixture for test in tests for fixture in getattr(test, "fixturenames", ())}
    return frozenset(name for name in ALL_SERVERS if f"{name}_url" in asked)


@contextmanager
def running_stack(servers: Collection[str] = ALL_SERVERS) -> Iterator[DevStack]:
    """Runs a stack on free ports in a directory that is removed afterwards.

    It does not use pytest's directory: each start of another pytest sets that to 0700. PostgreSQL
    does not run as root and would then lose access to its data at a restart.
    """
    with stack_directory() as directory, DevStack(directory, servers=servers) as stack:
        yield stack


@contextmanager
def stack_of_the_run(servers: Collection[str]) -> Iterator[DevStack]:
    """Yields the servers of an earlier run, in the directory that WATCHPOST_TEST_STACK names.

    Without the variable, or while another run uses those servers, it starts new ones that end with
    this run.
    """
    with kept_servers("") as stack, ExitStack() as ended:
        if stack is None:
            directory = ended.enter_context(stack_directory())
            spare_processor(directory)
            stack = ended.enter_context(DevStack(directory, servers=servers))
        yield stack


@contextmanager
def kept_servers(purpose: str) -> Iterator[DevStack | None]:
    """Yields the servers of an earlier run for this purpose, with empty databases, or None.

    They are kept in the directory that WATCHPOST_TEST_STACK names, for each process of the run.
    """
    kept = os.environ.get("WATCHPOST_TEST_STACK")
    if not kept:
        yield None
        return
    directory = Path(kept) / (os.environ.get("PYTEST_XDIST_WORKER", "main") + purpose)
    if not purpose:
        spare_processor(directory)
    with kept_stack(directory) as stack:
        yield stack


@contextmanager
def stack_directory() -> Iterator[Path]:
    """Makes a directory for one stack, with free ports noted as if an earlier stack had used them.

    Otherwise two stacks that start at the same moment would begin with the same ports.
    """
    directory = Path(tempfile.mkdtemp(prefix="watchpost-tests-"))
    try:
        StateFile(directory).write(State(ports=Ports.free()))
        yield directory
    finally:
        shutil.rmtree(directory)

"""The servers of a test run."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devstack import DevStack, Ports
from devstack.state import State, StateFile


@contextmanager
def running_stack() -> Iterator[DevStack]:
    """A stack on free ports in a directory that is removed afterwards.

    The directory is not pytest's: that one is 0700 again at every start of another pytest, and
    PostgreSQL, which does not run as root, would lose its way to the data at a restart.
    """
    with stack_directory() as directory, DevStack(directory) as stack:
        yield stack


@contextmanager
def stack_directory() -> Iterator[Path]:
    """A directory for one stack, with free ports noted in it as if an earlier stack used them.

    Two stacks that start at the same moment would else begin with the same ports.
    """
    directory = Path(tempfile.mkdtemp(prefix="watchpost-tests-"))
    try:
        StateFile(directory).write(State(ports=Ports.free()))
        yield directory
    finally:
        shutil.rmtree(directory)

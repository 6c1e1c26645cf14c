"""The servers of a test run."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shared.devstack import DevStack, Ports


@contextmanager
def running_stack() -> Iterator[DevStack]:
    """A stack on free ports in a directory that is removed afterwards.

    The directory is not pytest's: that one is 0700 again at every start of another pytest, and
    PostgreSQL, which does not run as root, would lose its way to the data at a restart.
    """
    directory = Path(tempfile.mkdtemp(prefix="watchpost-tests-"))
    try:
        with DevStack(directory, Ports.free()) as stack:
            yield stack
    finally:
        shutil.rmtree(directory)

"""Stores with the schema of this release, which each process of a run makes once and copies."""

import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from devstack import DevStack
from tests.support.runtime import migrated, settings_for
from tests.support.stack import stack_directory

_STORES = ("postgres", "clickhouse")


def put_migrated_stores(directory: Path) -> None:
    """Puts the data of both stores into the directory of a stack that was never started.

    To initialise and to migrate them would take a third of the processor time in which a deployment
    starts and stops. The release command of the deployment finds nothing to migrate.
    """
    _copy(Path(_original().name), directory)


@cache
def _original() -> TemporaryDirectory[str]:
    """Makes the stores. Their directory is removed when this process ends."""
    original = TemporaryDirectory(prefix="watchpost-tests-")
    with stack_directory() as directory:
        with DevStack(directory, servers=_STORES) as stack:
            migrated(settings_for(stack.urls))
        _copy(directory, Path(original.name))
    return original


def _copy(source: Path, target: Path) -> None:
    """Copies with owners and rights: PostgreSQL does not run as root, and refuses other rights."""
    folders = [source / store for store in _STORES]
    subprocess.run(["cp", "-a", *folders, target], check=True)

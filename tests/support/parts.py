"""Runs the fast tests in one pytest for each processor, each with a part of the files.

Processes of xdist would each collect every file, and report every step of every test to another
process: twice the processor time of the tests. The command is `bin/test --fast`.
"""

import gc
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile
from zlib import crc32

import pytest

MOST = 4
_VARIABLE = "WATCHPOST_TEST_PART"
# No test of such a file is fast, so it need not be imported.
_ALL_FLOWS = re.compile(r"^pytestmark\b.*\.flow\b", re.MULTILINE)

# Most objects of a collection stay until the end, so looking for garbage among them is in vain.
_GARBAGE_AFTER = 100_000


def is_of_part(path: Path) -> bool:
    """Returns whether this process runs the tests of a file; without parts it runs all."""
    part, _, count = os.environ.get(_VARIABLE, "0/1").partition("/")
    return crc32(path.name.encode() + path.parent.name.encode()) % int(count) == int(part)


def pytest_configure() -> None:
    """Looks for garbage less often, which saves a tenth of the collection."""
    gc.set_threshold(_GARBAGE_AFTER)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leaves out the files of other parts, and those without a fast test."""
    if collection_path.is_dir() or not collection_path.name.startswith("test_"):
        return None
    if not is_of_part(collection_path) or _ALL_FLOWS.search(collection_path.read_text()):
        return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Does the same for a file that the command names, which is never ignored."""
    items[:] = [item for item in items if is_of_part(item.path)]


def run(arguments: list[str], count: int) -> int:
    """Runs all parts and returns the worst exit code. Shows one part after the other."""
    command = [sys.executable, "-m", "pytest", "-p", __spec__.name, "-m", "fast", *arguments]
    with TemporaryFile() as said:
        environs = [{**os.environ, _VARIABLE: f"{part}/{count}"} for part in range(count)]
        others = [subprocess.Popen(command, env=one, stdout=said) for one in environs[1:]]
        codes = {subprocess.run(command, env=environs[0], check=False).returncode}
        codes |= {other.wait() for other in others}
        said.seek(0)
        sys.stdout.buffer.write(said.read())
    nothing = int(pytest.ExitCode.NO_TESTS_COLLECTED)
    return max(codes - {nothing}, default=nothing)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], min(MOST, len(os.sched_getaffinity(0)))))

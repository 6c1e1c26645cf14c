"""The priority of web, in a process of its own."""

import subprocess
import sys

import pytest

from tests.support.machine import AUTOGROUP, may_go_first

pytestmark = pytest.mark.flow

GO = """
import os
from pathlib import Path
from web.priority import go_first
go_first()
print(os.nice(0))
print(Path("/proc/self/autogroup").read_text().rpartition(" ")[2], end="")
"""

needs_root = pytest.mark.skipif(
    not may_go_first(), reason="only root may, and only Linux has sessions"
)


def _after_going_first(*, own_session: bool) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", GO],
        check=True,
        capture_output=True,
        text=True,
        start_new_session=own_session,
    )
    return done.stdout.split()


@needs_root
def test_the_process_and_its_session_go_first() -> None:
    assert _after_going_first(own_session=True) == ["-10", "-10"]


@needs_root
def test_the_session_of_another_process_stays_as_it_is() -> None:
    # The file is empty for a session that the first process of the machine started.
    before = AUTOGROUP.read_text().split()[-1:]
    assert _after_going_first(own_session=False) == ["-10", *before]

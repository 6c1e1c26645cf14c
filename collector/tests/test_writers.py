"""Whether a process still writes a file: from the kernel, or by the time of the last change."""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import time
from pathlib import Path

import pytest

from watchpost_collect.writers import QUIET_SECS, has_writer


def file_of_age(folder: Path, seconds: float) -> Path:
    path = folder / "a.jsonl"
    path.touch()
    os.utime(path, (time.time() - seconds,) * 2)
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who writes a file")
@pytest.mark.parametrize("age", [0, 3600])
def test_linux_tells(tmp_path: Path, age: float) -> None:
    path = file_of_age(tmp_path, age)
    with path.open("rb") as file:
        assert not has_writer(file)
    with path.open("ab"), path.open("rb") as file:
        assert has_writer(file)


@pytest.mark.parametrize(("age", "expected"), [(0, True), (QUIET_SECS + 1, False)])
def test_elsewhere_the_time_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: float, expected: bool
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with file_of_age(tmp_path, age).open("rb") as file:
        assert has_writer(file) is expected


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who writes a file")
@pytest.mark.parametrize(("age", "expected"), [(0, True), (QUIET_SECS + 1, False)])
def test_the_time_tells_where_a_disk_has_no_leases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: float, expected: bool
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EINVAL, "no leases here")

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    with file_of_age(tmp_path, age).open("rb") as file:
        assert has_writer(file) is expected

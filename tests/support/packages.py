"""Packages of others that a test installs from the registries, and skips where none answers."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.markdown import PROJECT

# Newer packages are left out, so that a test does not change by itself.
AS_OF = "2026-11-25"
UV = PROJECT / ".venv" / "bin" / "uv"

_UNREACHABLE = re.compile(
    r"Failed to fetch|Could not connect|error sending request|dns error"
    r"|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH"
)


@dataclass(frozen=True)
class Installed:
    """Packages in a folder of their own. `absent` says why they are not there."""

    folder: Path
    absent: str | None

    def need(self) -> Path:
        """Returns the folder, or skips the test."""
        if self.absent:
            pytest.skip(self.absent)
        return self.folder


def python_packages(folder: Path, *names: str) -> Installed:
    """Installs all in one environment."""
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    return _installed(folder, names, [UV, "pip", "install", "--quiet", "--exclude-newer", AS_OF])


def npm_packages(folder: Path, *names: str) -> Installed:
    """Installs all in one folder of modules."""
    if shutil.which("npm") is None:
        return Installed(folder, f"npm is absent, which installs {', '.join(names)}")
    folder.mkdir()
    (folder / "package.json").write_text("{}")
    command = ["npm", "install", "--no-audit", "--no-fund", "--before", AS_OF]
    return _installed(folder, names, command)


def _installed(folder: Path, names: tuple[str, ...], command: Sequence[str | Path]) -> Installed:
    """Runs the installer. It fails only if a registry answered."""
    done = subprocess.run(
        [*command, *names],
        cwd=folder,
        env={**os.environ, "VIRTUAL_ENV": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return Installed(folder, None)
    assert _UNREACHABLE.search(done.stderr), done.stderr
    return Installed(folder, f"no registry answers for {', '.join(names)}")

"""The Python interpreters on this machine that the kit supports."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


@cache
def interpreter(version: str) -> str | None:
    """Returns the path of this Python, from pyenv or `PATH`, or None."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    installed = sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"))
    # The one on `PATH` may be a shim of pyenv, which takes half a second to start.
    for candidate in (*map(str, installed), f"python{version}"):
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        try:
            said = subprocess.run([candidate, "-c", code], capture_output=True, text=True)
        except OSError:
            continue
        # A shim of pyenv exists even where the version does not.
        if said.returncode == 0 and said.stdout.strip() == version:
            return candidate
    return None

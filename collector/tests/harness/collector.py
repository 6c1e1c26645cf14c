"""The collector as a process, with a home folder of its own."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from harness.watchpost import KEY

SOURCES = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Collector:
    """Runs commands with one interpreter. Nothing of this machine's home is seen."""

    python: str
    home: Path
    url: str
    compiled: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def spool(self) -> Path:
        """The folder of event files that is watched without options."""
        return self.home / ".watchpost" / "spool" / "events"

    @property
    def state(self) -> Path:
        return self.home / ".watchpost" / "collect"

    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SOURCES),
            "PYTHONPYCACHEPREFIX": str(self.compiled),
            "WATCHPOST_URL": self.url,
            "WATCHPOST_KEY": KEY,
            **self.variables,
        }

    def command(self, *arguments: object) -> list[str]:
        strict = ("-X", "dev", "-W", "error")
        return [self.python, *strict, "-m", "watchpost_collect", *map(str, arguments)]

    def run(self, *arguments: object, given: bytes = b"") -> subprocess.CompletedProcess[str]:
        """Returns what a command said when it ended."""
        done = subprocess.run(
            self.command(*arguments),
            input=given,
            capture_output=True,
            env=self.environment(),
            timeout=60,
        )
        said, warned = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in warned, warned
        return subprocess.CompletedProcess(done.args, done.returncode, said, warned)

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        """Starts a command; the caller ends it."""
        return subprocess.Popen(
            self.command(*arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(),
            text=True,
        )

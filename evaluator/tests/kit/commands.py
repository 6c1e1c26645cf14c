"""The kit as a process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kit.sessions import PROJECT


@dataclass(frozen=True)
class Kit:
    """Runs commands with one interpreter in a folder of their own."""

    python: str
    folder: Path
    compiled: Path
    variables: dict[str, str] = field(default_factory=dict)

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        """Starts a command; the caller ends it."""
        strict = ("-X", "dev", "-W", "error")
        return subprocess.Popen(
            [self.python, *strict, "-m", "watchpost_evaluator", *map(str, arguments)],
            cwd=self.folder,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(PROJECT / "evaluator"),
                "PYTHONPYCACHEPREFIX": str(self.compiled),
                **self.variables,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Returns what a command said when it ended."""
        with self.running(*arguments) as process:
            said, warned = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, said, warned)

    @contextmanager
    def running(self, *arguments: object) -> Iterator[subprocess.Popen[str]]:
        """Runs a command, and ends it if it did not end."""
        process = self.start(*arguments)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()

"""The output of a run: a line for each request, its troubles, and a summary."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from watchpost_collect.errors import OK, TROUBLE


@dataclass
class Report:
    """The lines and sums of one run. `accepted` and `skipped` count events, spans and records."""

    command: str
    as_json: bool
    files: int = 0
    accepted: int = 0
    skipped: int = 0
    has_trouble: bool = False
    _left: dict[Path, str] = field(default_factory=dict)

    def sent(self, path: Path, to: str, status: int, accepted: int, skipped: int) -> None:
        """Writes the line of a request that was answered, and adds to the sums."""
        self.accepted += accepted
        self.skipped += skipped
        counts = {"accepted": accepted, "skipped": skipped}
        self.say(
            {"file": str(path), "to": to, "status": status, **counts},
            f"{path}: {status} {to}, {accepted} accepted, {skipped} skipped",
        )

    def moved(self, path: Path, to: str, reason: str) -> None:
        """Writes that a file went to another folder because Watchpost refuses it."""
        self.has_trouble = True
        self.say(
            {"file": str(path), "moved_to": to, "reason": reason},
            f"{path}: moved to {to}/: {reason}",
        )

    def refused(self, path: Path, reason: str) -> None:
        """Writes that a file cannot be sent; it stays where it is."""
        self.has_trouble = True
        self.say({"file": str(path), "error": reason}, f"{path}: {reason}")

    def done(self, path: Path) -> None:
        """Counts a file that needs nothing more."""
        self.files += 1
        self._left.pop(path, None)

    def left(self, path: Path, reason: str) -> None:
        """Notes that a file has to wait. Writes the reason unless it is the same as before."""
        if self._left.get(path) != reason:
            self._left[path] = reason
            self.warn(f"{path}: left: {reason}")

    def gone(self, path: Path) -> None:
        """Forgets a file that somebody took away."""
        self._left.pop(path, None)

    def warn(self, text: str) -> None:
        """Writes a sentence for people to standard error."""
        _write(sys.stderr, text)

    def say(self, facts: dict[str, object], text: str) -> None:
        """Writes the facts as JSON, or the text."""
        _write(sys.stdout, json.dumps(facts) if self.as_json else text)

    def summary(self, left: int) -> int:
        """Writes the last line, and returns the exit status."""
        sums = {"files": self.files, "accepted": self.accepted, "skipped": self.skipped}
        self.say(
            {self.command: {**sums, "left": left}},
            f"{self.command}: {self.files} files, {self.accepted} accepted,"
            f" {self.skipped} skipped, {left} left",
        )
        return TROUBLE if self.has_trouble or self.skipped or left else OK


def _write(stream: TextIO, line: str) -> None:
    """Writes a line. Files are sent even where their lines cannot be read any more."""
    with suppress(OSError):
        stream.write(f"{line}\n")
        stream.flush()

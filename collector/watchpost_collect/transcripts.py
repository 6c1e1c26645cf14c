"""Transcripts of Claude Code and Codex: imported as a whole whenever they grew, never removed."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from watchpost_collect import imports
from watchpost_collect.client import Client, Declined
from watchpost_collect.folder import open_below, opened
from watchpost_collect.report import Report
from watchpost_collect.state import State
from watchpost_collect.turns import Turns

# A session that goes on is imported once a minute, one that pauses after so long.
QUIET_SECS, EVERY_SECS = 5.0, 60.0
# After so long with transcripts, other folders have their turn. The search may take long, too.
_TURN_SECS, _SEARCH_EVERY_SECS = 1.0, 2.0


@dataclass
class Transcripts:
    """The transcripts below one folder. `at_once`: do not wait until a session pauses.

    Links below the folder are not followed. Files of other users are sent only with `any_owner`.
    """

    folder: Path
    wishes: imports.Wishes
    client: Client
    state: State
    report: Report
    turns: Turns
    at_once: bool
    any_owner: bool = False
    # When each file that is not imported was first seen to have changed.
    _changed_at: dict[Path, float] = field(default_factory=dict)
    _search_at: float = 0.0

    def waiting(self) -> list[Path]:
        """Returns the files that changed since their import."""
        return [path for _, path in self._changed()]

    def look(self) -> None:
        """Imports what is due. Unless all has to be sent at once, it ends after a second."""
        started = time.monotonic()
        if started < self._search_at and not self.at_once:
            return
        for modified, path in sorted(self._changed()):
            changed_at = self._changed_at.setdefault(path, time.monotonic())
            is_quiet = time.time() - modified >= QUIET_SECS
            is_ready = self.at_once or is_quiet or time.monotonic() - changed_at >= EVERY_SECS
            if is_ready and self.turns.is_due(path):
                with self.turns.of(path):
                    self._import(path)
                self._changed_at.pop(path, None)
                if not self.at_once and time.monotonic() - started > _TURN_SECS:
                    return
        self._search_at = time.monotonic() + _SEARCH_EVERY_SECS

    def _changed(self) -> Iterator[tuple[float, Path]]:
        """Yields the time of the last change, and the path, of each file to import."""
        for folder, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                if name.endswith(".jsonl") and not name.startswith("."):
                    path = os.path.join(folder, name)  # noqa: PTH118 Path takes twice the time
                    try:
                        status = os.lstat(path)
                    except OSError:  # taken away meanwhile
                        continue
                    if self.state.get(path).get("status") != _status(status):
                        yield status.st_mtime, Path(path)

    def _import(self, path: Path) -> None:
        with self._open(path) as file:
            status = _status(os.fstat(file.fileno()))
            data = file.read()
        digest = hashlib.sha256(data).hexdigest()
        refused = None
        if self.state.get(path).get("sha256") != digest:
            try:
                imports.send(self.client, self.report, path, data, self.wishes)
            except Declined as declined:
                refused = str(declined)
                self.report.refused(path, f"refused: {refused}")
            self.report.done(path)
        self.state.note(path, status=status, sha256=digest, refused=refused)

    def _open(self, path: Path) -> BinaryIO:
        with opened(self.folder) as folder:
            parts = path.relative_to(self.folder).parts
            return open_below(folder, parts, any_owner=self.any_owner)


def _status(status: os.stat_result) -> list[int]:
    """Returns what differs after a change: inode, size in bytes, time of the change in ns."""
    return [status.st_ino, status.st_size, status.st_mtime_ns]

"""A folder whose files are removed once they are sent."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

SENT, REJECTED, POISON = "sent", "rejected", "poison"
REASON_SUFFIX = ".reason"


@dataclass(frozen=True)
class BadLine:
    """A line that Watchpost did not take. `number` counts from 1 in its file."""

    number: int
    reason: str
    text: bytes


@dataclass(frozen=True)
class Spool:
    """The folder. Files that need a person's eyes go to folders inside of it."""

    folder: Path
    keep: bool = False

    def files(self) -> list[Path]:
        """Returns the files to send, oldest first. Empty if the folder does not exist."""
        return [path for _, path in sorted(_listed(self.folder))]

    def finish(self, path: Path) -> None:
        """Removes a file that was sent, or keeps it in `sent/`."""
        if self.keep:
            self._move(path, SENT)
        else:
            path.unlink()

    def poison(self, path: Path, reason: str) -> None:
        """Moves a file that Watchpost refuses as a whole to `poison/`, with the reason beside."""
        self._explain(path, POISON, reason)
        self._move(path, POISON)

    def put_aside(self, path: Path, reason: str) -> None:
        """Moves a file to `rejected/` of which Watchpost refused a part, with the reason beside."""
        self._explain(path, REJECTED, reason)
        self._move(path, REJECTED)

    def reject(self, path: Path, lines: Sequence[BadLine]) -> None:
        """Appends lines as they are to a file in `rejected/`, and their reasons to one beside it.

        Returns when they are on disk, because the file that they are from is then removed.
        """
        self._explain(path, REJECTED, *(f"line {line.number}: {line.reason}" for line in lines))
        _append(
            self._folder(REJECTED) / path.name, (line.text.rstrip(b"\n") + b"\n" for line in lines)
        )

    def _explain(self, path: Path, folder: str, *reasons: str) -> None:
        reason_file = self._folder(folder) / f"{path.name}{REASON_SUFFIX}"
        _append(reason_file, (f"{reason}\n".encode() for reason in reasons))

    def _folder(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return folder

    def _move(self, path: Path, name: str) -> None:
        target = self._folder(name) / path.name
        copies = 0
        while target.exists():
            copies += 1
            target = target.with_name(f"{path.name}.{copies}")
        path.rename(target)


def _append(path: Path, chunks: Iterable[bytes]) -> None:
    with path.open("ab") as file:
        file.writelines(chunks)
        file.flush()
        os.fsync(file.fileno())


def _listed(folder: Path) -> list[tuple[int, Path]]:
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = []
    for entry in entries:
        if entry.name.startswith(".") or not entry.name.endswith(".jsonl"):
            continue
        try:
            if entry.is_file():
                found.append((entry.stat().st_mtime_ns, Path(entry.path)))
        except FileNotFoundError:  # removed meanwhile
            continue
    return found


def is_unchanged(path: Path, file: BinaryIO, size: int) -> bool:
    """Returns whether the path still leads to this open file, and the file has this size."""
    opened = os.fstat(file.fileno())
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    return opened.st_size == size and os.path.samestat(opened, named)

"""A folder whose files are removed once they are sent."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from watchpost_collect.folder import claim, made_below, open_file, open_to_append, opened

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
    """The folder. Files that need a person's eyes go to folders inside of it.

    Others may write into it, so links are not followed. Files of other users are sent only with
    `any_owner`.
    """

    folder: Path
    keep: bool = False
    any_owner: bool = False

    def files(self) -> list[Path]:
        """Returns the files to send, oldest first. Empty if the folder does not exist.

        Links are among them, and cannot be opened.
        """
        return [path for _, path in sorted(_listed(self.folder))]

    def open(self, path: Path) -> BinaryIO:
        """Opens one of the files. Raises `folder.Unsafe` if it must not be sent."""
        with opened(self.folder) as folder:
            return open_file(folder, path.name, any_owner=self.any_owner)

    def is_unchanged(self, path: Path, file: BinaryIO, size: int) -> bool:
        """Returns whether the path still leads to this open file, and the file has this size."""
        status = os.fstat(file.fileno())
        try:
            named = path.lstat()
        except FileNotFoundError:
            return False
        return status.st_size == size and os.path.samestat(status, named)

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
        self._append(REJECTED, path.name, (line.text.rstrip(b"\n") + b"\n" for line in lines))

    def _explain(self, path: Path, name: str, *reasons: str) -> None:
        lines = (f"{reason}\n".encode() for reason in reasons)
        self._append(name, f"{path.name}{REASON_SUFFIX}", lines)

    def _append(self, name: str, file_name: str, chunks: Iterable[bytes]) -> None:
        with (
            opened(self.folder) as folder,
            made_below(folder, name) as below,
            open_to_append(below, file_name) as file,
        ):
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())

    def _move(self, path: Path, name: str) -> None:
        with opened(self.folder) as folder, made_below(folder, name) as below:
            free = claim(below, path.name)
            os.rename(path.name, free, src_dir_fd=folder, dst_dir_fd=below)


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
            if entry.is_file(follow_symlinks=False) or entry.is_symlink():
                changed_ns = entry.stat(follow_symlinks=False).st_mtime_ns
                found.append((changed_ns, Path(entry.path)))
        except FileNotFoundError:  # removed meanwhile
            continue
    return found

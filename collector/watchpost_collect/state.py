"""The collector's own folder: its lock, the id of the machine, and how far each file was sent."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
import uuid
from pathlib import Path
from typing import Any, BinaryIO

from watchpost_collect.errors import CollectorError, Locked

_SAVE_EVERY_SECS = 1.0
# A file continues one that was seen before if this many bytes before the place are the same.
_TAIL_BYTES = 64 * 1024


class State:
    """Facts about files, by path. Everything in it can be lost: files are then sent twice."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "files.json"
        self._files: dict[str, dict[str, Any]] = _read(self._path)
        self._changed = False
        self._saved_at = time.monotonic()

    def get(self, path: Path | str) -> dict[str, Any]:
        """Returns what was noted about a file; empty if nothing was."""
        return self._files.get(str(path), {})

    def note(self, path: Path, **facts: object) -> None:
        """Replaces what is known about a file. It is on disk a second later, or after `save`."""
        self._files[str(path)] = facts
        self._changed = True
        if time.monotonic() - self._saved_at > _SAVE_EVERY_SECS:
            self.save()

    def forget(self, path: Path) -> None:
        """Drops what is known about a file that was removed."""
        if self._files.pop(str(path), None) is not None:
            self._changed = True

    def drop_missing(self) -> None:
        """Drops what is known about files that are gone."""
        for name in [name for name in self._files if not os.path.exists(name)]:  # noqa: PTH110
            self.forget(Path(name))

    def save(self) -> None:
        """Writes the changes to disk. Raises `CollectorError` if that fails."""
        if not self._changed:
            return
        temporary = self._path.with_suffix(".tmp")
        try:
            temporary.write_text(json.dumps(self._files, indent=0))
            temporary.replace(self._path)
        except OSError as error:
            raise CollectorError(f"cannot write the state: {error}. Choose --state DIR.") from error
        self._changed = False
        self._saved_at = time.monotonic()


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        read = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(read, dict) or not all(isinstance(facts, dict) for facts in read.values()):
        return {}
    return read


def tail_digest(file: BinaryIO, end: int) -> str:
    """Returns a hash of the last bytes before `end`, which tells a file from its successor."""
    file.seek(max(0, end - _TAIL_BYTES))
    return hashlib.sha256(file.read(min(end, _TAIL_BYTES))).hexdigest()


def make_folder(folder: Path) -> None:
    """Creates the folder for this user alone. Raises `CollectorError` if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise CollectorError(f"cannot create the folder {folder}: {error}") from error


def machine_id(folder: Path) -> str:
    """Returns the UUID of this machine, which the first call makes."""
    make_folder(folder)
    path = folder / "machine-id"
    try:
        # Two processes may start at once. The file of the first one stays.
        made = folder / f".machine-id-{os.getpid()}"
        if not path.exists():
            made.write_text(str(uuid.uuid4()))
            try:
                os.link(made, path)
            except FileExistsError:
                pass
            finally:
                made.unlink()
        return str(uuid.UUID(path.read_text().strip()))
    except ValueError as error:
        raise CollectorError(f"{path} holds no UUID: remove it, and run this again") from error
    except OSError as error:
        raise CollectorError(f"cannot use {path}: {error}. Choose --state DIR.") from error


def lock(folder: Path) -> int:
    """Returns the descriptor that holds the folder's lock until the process ends.

    Raises `CollectorError` if another process has it.
    """
    make_folder(folder)
    path = folder / "lock"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise CollectorError(f"cannot open {path}: {error}. Choose --state DIR.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.read(descriptor, 20).decode(errors="replace").strip()
        os.close(descriptor)
        raise Locked(
            f"another watchpost-collect{f' (process {holder})' if holder else ''} works with"
            f" {folder}. End it, or give this one its own folder: --state DIR."
        ) from error
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    return descriptor

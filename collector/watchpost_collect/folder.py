"""Files in a folder into which others may write: no link is followed, whatever its name.

Everything is opened relative to the folder's descriptor, so a name that is replaced by a link at
the wrong moment leads nowhere. The folder itself was named by the user, and may be a link.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
# Opening a pipe would wait for its writer.
_READ = os.O_RDONLY | os.O_NONBLOCK
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK


class Unsafe(OSError):
    """A name in a folder leads elsewhere, or belongs to another user. The text says which."""


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """Yields the descriptor of a folder that the user named."""
    descriptor = os.open(path, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def made_below(folder: int, name: str) -> Iterator[int]:
    """Yields the descriptor of a folder below, which is made for this user alone if it is missing.

    Raises `Unsafe` if it is a link or another user's.
    """
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=folder)
    descriptor = _open(name, _FOLDER, folder)
    try:
        _require_own(descriptor, f"{name}/")
        yield descriptor
    finally:
        os.close(descriptor)


def open_file(folder: int, name: str, *, any_owner: bool = False) -> BinaryIO:
    """Opens a regular file of this user, or with `any_owner` of anybody, for reading.

    Raises `Unsafe` if it is none.
    """
    return _checked(_open(name, _READ, folder), "rb", any_owner=any_owner)


def open_below(folder: int, parts: Sequence[str], *, any_owner: bool = False) -> BinaryIO:
    """Opens a file as `open_file` does, in a folder below the folder; no part may be a link."""
    with ExitStack() as stack:
        for part in parts[:-1]:
            folder = _open(part, _FOLDER, folder)
            stack.callback(os.close, folder)
        return open_file(folder, parts[-1], any_owner=any_owner)


def open_to_append(folder: int, name: str) -> BinaryIO:
    """Opens a regular file of this user for appending, which is made if it is missing."""
    try:
        descriptor = _open(name, _APPEND | os.O_CREAT | os.O_EXCL, folder)
    except FileExistsError:
        descriptor = _open(name, _APPEND, folder)
    return _checked(descriptor, "ab")


def claim(folder: int, name: str) -> str:
    """Makes an empty file of this name, or of the first free one after it, and returns its name."""
    free, copies = name, 0
    while not _made(folder, free):
        copies += 1
        free = f"{name}.{copies}"
    return free


def _made(folder: int, name: str) -> bool:
    try:
        os.close(_open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, folder))
    except FileExistsError:
        return False
    return True


def _open(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW, 0o600, dir_fd=folder)
    except FileExistsError:
        raise
    except OSError:
        # Systems differ in the error of a link.
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise Unsafe(f"{name} is a link, and links are not followed") from None
        raise


def _checked(descriptor: int, mode: str, *, any_owner: bool = False) -> BinaryIO:
    try:
        _require_regular(descriptor)
        if not any_owner:
            _require_own(descriptor, "the file", "; --any-owner sends it")
        return os.fdopen(descriptor, mode)  # type: ignore[return-value] # of binary modes
    except BaseException:
        os.close(descriptor)
        raise


def _require_regular(descriptor: int) -> None:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise Unsafe("it is no regular file")
    # Some systems let people link to a file that they cannot read.
    if status.st_nlink > 1:
        raise Unsafe("it has a second name (a hard link), which may lead elsewhere")


def _require_own(descriptor: int, what: str, hint: str = "") -> None:
    owner = os.fstat(descriptor).st_uid
    if owner != os.geteuid():
        raise Unsafe(f"{what} belongs to another user (uid {owner}){hint}")

"""A folder as a place for files."""

import fcntl
import glob
import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shared.foundation.core.errors import NotFound, Unavailable
from shared.foundation.objects.store import PIECE_BYTES, StoredFile, require_relative

# The ending of files that are being written. A killed process leaves them behind, until the file is
# written again.
_UNFINISHED = ".unfinished"


class Folder:
    """Files below a folder, which is created with the first of them.

    A file is on disk when `put` returns. Only the account that wrote it may read it, because
    backups and exports contain people's data.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self.url = str(self._path)

    def put(self, name: str, pieces: Iterable[bytes]) -> int:
        """Writes a file; see `Objects`."""
        path = self._at(name)
        unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex}{_UNFINISHED}")
        with _in_a_sentence(self.url):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                size = _write(unfinished, pieces)
                unfinished.replace(path)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
            _sync(path.parent)
            _remove_unfinished(path)
        return size

    def get(self, name: str) -> Iterator[bytes]:
        """Yields the content of a file; see `Objects`."""
        with _in_a_sentence(self.url), self._at(name).open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                yield piece

    def read(self, name: str) -> bytes:
        """Returns the content of a small file."""
        return b"".join(self.get(name))

    def size(self, name: str) -> int | None:
        """Returns the size of a file, or None."""
        path = self._at(name)
        with _in_a_sentence(self.url):
            return path.stat().st_size if path.is_file() else None

    def exists(self, name: str) -> bool:
        """Returns whether there is such a file."""
        return self.size(name) is not None

    def list(self, folder: str = "") -> Iterator[StoredFile]:
        """Yields the files below a folder; see `Objects`."""
        top = self._at(folder) if folder else self._path
        with _in_a_sentence(self.url):
            for path in top.rglob("*"):
                if path.is_file() and path.suffix != _UNFINISHED:
                    yield StoredFile(path.relative_to(self._path).as_posix(), path.stat().st_size)

    def delete(self, name: str) -> None:
        """Removes a file."""
        with _in_a_sentence(self.url):
            self._at(name).unlink(missing_ok=True)

    def _at(self, name: str) -> Path:
        return self._path / require_relative(name)


def _write(path: Path, pieces: Iterable[bytes]) -> int:
    size = 0
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        # Tells that this process is alive, on file systems that have locks.
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        for piece in pieces:
            file.write(piece)
            size += len(piece)
        file.flush()
        os.fsync(file.fileno())
    return size


def _remove_unfinished(path: Path) -> None:
    """Removes what killed processes left of this file."""
    for left in path.parent.glob(f"{glob.escape(path.name)}.*{_UNFINISHED}"):
        with suppress(OSError), left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def _sync(folder: Path) -> None:
    """Puts the names in a folder on disk: without this a power cut may undo a renaming."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _in_a_sentence(url: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {error.filename}") from error
    except OSError as error:
        raise Unavailable(
            f"cannot use {url}: {error.strerror}", code="target_unavailable"
        ) from error

"""The operations that every place for files has."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

# A file is read and uploaded in pieces of this size, so that memory stays bounded.
PIECE_BYTES = 8 * 1024 * 1024


class StoredFile(NamedTuple):
    """A file: its name below the target, and its size in bytes."""

    name: str
    size: int


class Objects(Protocol):
    """A target and the files below it. Names are relative, with `/` between their parts.

    Methods raise `Unavailable` if the store cannot be reached, refuses the credentials or has no
    room, and `NotFound` for a file that is missing.
    """

    url: str

    def put(self, name: str, pieces: Iterable[bytes]) -> int:
        """Writes a file and returns its size in bytes. Replaces a file of the same name.

        The file appears when it is complete. If `pieces` raises an error, it never appears.
        """
        ...

    def get(self, name: str) -> Iterator[bytes]:
        """Yields the content of a file in pieces of at most `PIECE_BYTES`."""
        ...

    def read(self, name: str) -> bytes:
        """Returns the whole content of a small file."""
        ...

    def size(self, name: str) -> int | None:
        """Returns the size of a file in bytes; None if there is no such file."""
        ...

    def exists(self, name: str) -> bool:
        """Returns whether there is a file of this name."""
        ...

    def list(self, folder: str = "") -> Iterator[StoredFile]:
        """Yields the files in a folder and in the folders below it, in no particular order."""
        ...

    def delete(self, name: str) -> None:
        """Removes a file; does nothing if it is missing."""
        ...


def require_relative(name: str) -> str:
    """Returns a name that stays below its target. Raises `ValueError` for any other."""
    parts = name.split("/")
    if not all(parts) or any(part in {".", ".."} for part in parts) or "\0" in name:
        raise ValueError(f"not a name of a file below the target: {name!r}")
    return name

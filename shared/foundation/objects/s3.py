"""A bucket of an S3-compatible store as a place for files.

Credentials, region and endpoint come from the environment variables that other S3 clients use:
AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL; without
them from the machine's role.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import chain

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from shared.foundation.core.errors import NotFound, Unavailable
from shared.foundation.objects.store import PIECE_BYTES, StoredFile, require_relative

# S3 allows 10,000 pieces of an upload, so a file has at most 80 GB.
_UPLOADS_AT_ONCE = 2
_TRIES = 5


class Bucket:
    """Files below a prefix of a bucket."""

    def __init__(self, bucket: str, prefix: str) -> None:
        self.url = "s3://" + "/".join(part for part in (bucket, prefix) if part)
        with self._in_a_sentence():
            self._store = S3Store(
                bucket,
                prefix=prefix or None,
                # A server on loopback or in one's own network often has no certificate. Only an
                # endpoint that begins with http:// is asked in clear.
                client_options={"allow_http": True, "timeout": timedelta(seconds=60)},
                retry_config={"max_retries": _TRIES, "retry_timeout": timedelta(seconds=60)},
            )

    def put(self, name: str, pieces: Iterable[bytes]) -> int:
        """Writes a file; see `Objects`."""
        counted = _CountedPieces(pieces)
        first, rest = _beginning(counted)
        with self._in_a_sentence(counted):
            if rest is None:
                obstore.put(self._store, require_relative(name), first, use_multipart=False)
            else:
                obstore.put(
                    self._store,
                    require_relative(name),
                    chain([first], rest),
                    chunk_size=PIECE_BYTES,
                    max_concurrency=_UPLOADS_AT_ONCE,
                )
        return counted.size

    def get(self, name: str) -> Iterator[bytes]:
        """Yields the content of a file; see `Objects`.

        Each piece is a request of its own, so a reader may take as long as it wants.
        """
        size = self.size(name)
        if size is None:
            raise NotFound(f"there is no file {self.url}/{name}")
        for start in range(0, size, PIECE_BYTES):
            with self._in_a_sentence():
                piece = obstore.get_range(
                    self._store, name, start=start, end=min(start + PIECE_BYTES, size)
                )
            yield bytes(piece)

    def read(self, name: str) -> bytes:
        """Returns the content of a small file."""
        return b"".join(self.get(name))

    def size(self, name: str) -> int | None:
        """Returns the size of a file, or None."""
        with self._in_a_sentence():
            try:
                return obstore.head(self._store, require_relative(name))["size"]
            except FileNotFoundError:
                return None

    def exists(self, name: str) -> bool:
        """Returns whether there is such a file."""
        return self.size(name) is not None

    def list(self, folder: str = "") -> Iterator[StoredFile]:
        """Yields the files below a folder; see `Objects`."""
        prefix = require_relative(folder) if folder else None
        with self._in_a_sentence():
            for found in obstore.list(self._store, prefix=prefix):
                for each in found:
                    yield StoredFile(each["path"], each["size"])

    def delete(self, name: str) -> None:
        """Removes a file."""
        with self._in_a_sentence():
            try:
                obstore.delete(self._store, require_relative(name))
            except FileNotFoundError:
                return

    @contextmanager
    def _in_a_sentence(self, source: "_CountedPieces | None" = None) -> Iterator[None]:
        try:
            yield
        except (BaseError, FileNotFoundError) as error:
            # An error of the source passes through the client, which wraps it.
            if source is not None and source.failure is not None:
                raise source.failure from error
            raise Unavailable(
                f"cannot use {self.url}: {_reason(error)}", code="target_unavailable"
            ) from error


class _CountedPieces:
    """Pieces, with their size so far and the error that ended them."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.size = 0
        self.failure: Exception | None = None
        self._pieces = iter(pieces)

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._pieces:
                self.size += len(piece)
                yield piece
        except Exception as error:
            self.failure = error
            raise


def _beginning(pieces: Iterable[bytes]) -> tuple[bytes, Iterator[bytes] | None]:
    """Returns up to a piece of the file, and the rest; None if nothing follows."""
    begun: list[bytes] = []
    size = 0
    rest = iter(pieces)
    for piece in rest:
        begun.append(piece)
        size += len(piece)
        if size > PIECE_BYTES:
            return b"".join(begun), rest
    return b"".join(begun), None


def _reason(error: Exception) -> str:
    """Returns the first line of the client's message, which names the server's answer."""
    return str(error).strip().partition("\n")[0]

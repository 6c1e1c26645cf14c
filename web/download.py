"""Streamed responses with a file name."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar
from urllib.parse import quote

from flask import Response

# Smaller pieces are joined: one network write each would cost more than the piece.
_CHUNK_BYTES = 64 * 1024
# About a page of events. A check asks Redis: at each chunk it would take half of the time.
_PORTION_BYTES = 4 * 1024 * 1024

Page = TypeVar("Page")

_PATH_SEPARATORS = re.compile(r"[/\\]")
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 ._~+@=,;:!()\[\]{}-]")


def streamed(pieces: Iterable[bytes], content_type: str) -> Response:
    """Returns a streamed response of `pieces`.

    The first pieces are read at once. An error there gets an error body. A later error breaks the
    connection off, so that a partial answer cannot pass for the whole. So does the end of the
    request's access, if `each_page` or `each_portion` checks it.
    """
    chunks = _gather(pieces)
    first = next(chunks, b"")
    return Response(_resume(first, chunks), content_type=content_type)


def each_page(pages: Iterable[Page], require_access: Callable[[], None]) -> Iterator[Page]:
    """Yields pages of rows, and checks the access with the request's function before each."""
    for page in pages:
        require_access()
        yield page


def each_portion(pieces: Iterable[bytes], require_access: Callable[[], None]) -> Iterator[bytes]:
    """Does the same for an answer without pages, before each 4 MiB."""
    unchecked = 0
    for piece in pieces:
        unchecked += len(piece)
        if unchecked >= _PORTION_BYTES:
            require_access()
            unchecked = 0
        yield piece


def attachment(name: str) -> str:
    """Returns the Content-Disposition of a file called `name`, with any characters (RFC 6266).

    Path separators become `_`, and so do characters that a quoted string cannot safely hold. In
    that case the name is given again in the encoding of RFC 8187, which browsers prefer.
    """
    safe = _PATH_SEPARATORS.sub("_", name)
    plain = _NOT_PLAIN.sub("_", safe)
    extended = "" if plain == safe else f"; filename*=UTF-8''{quote(safe, safe='')}"
    return f'attachment; filename="{plain}"{extended}'


def _gather(pieces: Iterable[bytes]) -> Iterator[bytes]:
    chunk = bytearray()
    for piece in pieces:
        chunk += piece
        if len(chunk) >= _CHUNK_BYTES:
            yield bytes(chunk)
            chunk.clear()
    if chunk:
        yield bytes(chunk)


def _resume(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from chunks

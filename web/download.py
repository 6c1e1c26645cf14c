"""Streamed responses with a file name."""

import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote

from flask import Response

# Smaller pieces are joined: one network write each would cost more than the piece.
_CHUNK_BYTES = 64 * 1024

_PATH_SEPARATORS = re.compile(r"[/\\]")
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 ._~+@=,;:!()\[\]{}-]")


def streamed(
    pieces: Iterable[bytes], content_type: str, require_access: Callable[[], None]
) -> Response:
    """Returns a streamed response of `pieces`; `require_access` is that of the request.

    The first pieces are read at once. An error there gets an error body. A later error breaks the
    connection off, so that a partial answer cannot pass for the whole. So does the end of the
    request's access.
    """
    chunks = _gather(pieces)
    first = next(chunks, b"")
    return Response(_resume(first, chunks, require_access), content_type=content_type)


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


def _resume(
    first: bytes, chunks: Iterator[bytes], require_access: Callable[[], None]
) -> Iterator[bytes]:
    yield first
    for chunk in chunks:
        require_access()
        yield chunk

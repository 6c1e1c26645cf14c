"""Responses that are streamed while they are read, under a name to save them as."""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from flask import Response

# A network write a piece would cost more than the piece.
_CHUNK_BYTES = 64 * 1024

_PATH_SEPARATORS = re.compile(r"[/\\]")
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 ._~+@=,;:!()\[\]{}-]")


def streamed(pieces: Iterable[bytes], content_type: str) -> Response:
    """A response of `pieces`, sent as they come.

    The first of them are read at once: what fails from the start fails as an error with a body,
    and what fails later breaks the connection off, so that no half can pass for the whole.
    """
    chunks = _gather(pieces)
    first = next(chunks, b"")
    return Response(_resume(first, chunks), content_type=content_type)


def attachment(name: str) -> str:
    """The Content-Disposition of a file called `name`, whatever characters it has (RFC 6266).

    Path separators become `_`. What a quoted string cannot safely hold does too, and then the name
    is given once more in the encoding of RFC 8187, which browsers prefer.
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

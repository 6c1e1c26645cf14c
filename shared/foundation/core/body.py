"""Unpacks request bodies within bounds: a bomb takes no more memory than the limit."""

import re
from collections.abc import Callable, Iterator

import zstandard
from isal import igzip_lib, isal_zlib

from shared.foundation.core.errors import BadRequest, TooLarge, UnsupportedMediaType

# RFC 8878 asks decoders to allow 8 MiB; with more a small body could claim much memory.
ZSTD_MAX_WINDOW_BYTES = 8 * 1024 * 1024
_GZIP_WBITS = 31
_CHUNK_BYTES = 1024 * 1024
# zstd has no limit on the unpacked size of a piece of input: a block of 4 bytes can contain 128
# KiB. Pieces of this size unpack to 32 MiB at most before the limit is checked.
ZSTD_PIECE_BYTES = 1024
# The decoder returns the data after the end of a member as a copy, so it only gets a piece of the
# body: otherwise a megabyte of empty members would be copied fifty thousand times.
_GZIP_PIECE_BYTES = 16 * 1024
_ZEROS = re.compile(rb"\0*")


def unpack(body: bytes, encoding: str, limit: int) -> bytes:
    """Returns the body as it was before `Content-Encoding`.

    Raises `UnsupportedMediaType` for an encoding other than gzip, zstd and identity, `BadRequest`
    for a body that is not of that encoding or ends too early, `TooLarge` above `limit` bytes.
    """
    try:
        unpacker = _UNPACKERS[encoding.strip().lower()]
    except KeyError:
        raise UnsupportedMediaType(
            "Content-Encoding must be gzip, zstd or none", code="unsupported_encoding"
        ) from None
    pieces: list[bytes] = []
    size = 0
    for piece in unpacker(body):
        size += len(piece)
        if size > limit:
            raise TooLarge(f"the unpacked body is larger than {limit} bytes")
        if piece:
            pieces.append(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _identity(body: bytes) -> Iterator[bytes]:
    yield body


def _gunzip(body: bytes) -> Iterator[bytes]:
    position = 0
    # A body may consist of several consecutive members, padded with zeros.
    while position < len(body):
        member = isal_zlib.decompressobj(_GZIP_WBITS)
        try:
            while not member.eof:
                packed = member.unconsumed_tail
                if not packed:
                    packed = body[position : position + _GZIP_PIECE_BYTES]
                    position += len(packed)
                piece = member.decompress(packed, _CHUNK_BYTES)
                if not (packed or piece or member.eof):
                    raise BadRequest("the gzip body ends too early", code="truncated_body")
                yield piece
        except igzip_lib.IsalError:  # type: ignore[misc] # its stub calls the class a value
            raise BadRequest("the body is not gzip", code="bad_encoding") from None
        padding = _ZEROS.match(body, position - len(member.unused_data))
        position = padding.end() if padding else position


def _unzstd(body: bytes) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor(max_window_size=ZSTD_MAX_WINDOW_BYTES)
    position = 0
    while position < len(body):
        frame = decompressor.decompressobj()
        try:
            while not frame.eof and position < len(body):
                packed = body[position : position + ZSTD_PIECE_BYTES]
                position += len(packed)
                yield frame.decompress(packed)
        except zstandard.ZstdError as error:
            if "too much memory" in str(error):
                raise TooLarge("the zstd window is larger than 8 MiB") from None
            raise BadRequest("the body is not zstd", code="bad_encoding") from None
        if not frame.eof:
            raise BadRequest("the zstd body ends too early", code="truncated_body")
        position -= len(frame.unused_data)


_UNPACKERS: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "": _identity,
    "identity": _identity,
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "zstd": _unzstd,
}

"""Packs encoded values for Redis: large ones are compressed, and a leading byte shows which."""

import zstandard

_COMPRESS_FROM_BYTES = 1024
# Far more than anything that is packed: a value of a few bytes could claim any memory.
_MAX_UNPACKED_BYTES = 256 * 1024 * 1024
_PLAIN, _COMPRESSED = b"\0", b"\1"


def pack(encoded: bytes) -> bytes:
    """Returns the bytes to store; `unpack` reverses it."""
    if len(encoded) < _COMPRESS_FROM_BYTES:
        return _PLAIN + encoded
    return _COMPRESSED + zstandard.ZstdCompressor(level=1).compress(encoded)


def unpack(data: bytes) -> bytes:
    """Returns what was packed; raises `ValueError` for bytes that do not unpack."""
    if data[:1] != _COMPRESSED:
        return data[1:]
    try:
        if zstandard.frame_content_size(data[1:]) > _MAX_UNPACKED_BYTES:
            raise ValueError("does not unpack: too large")
        return zstandard.ZstdDecompressor().decompress(data[1:])
    except zstandard.ZstdError as error:
        raise ValueError(f"does not unpack: {error}") from error

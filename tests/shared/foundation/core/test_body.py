"""Bodies are unpacked within limits, whatever they claim to be."""

import gzip
import resource
import time
import zlib

import pytest
import zstandard

from shared.foundation.core.body import unpack
from shared.foundation.core.errors import BadRequest, TooLarge, UnsupportedMediaType

LIMIT = 8 * 1024 * 1024
TEXT = b'{"a":1}\n' * 10_000


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip"])
def test_gzip(encoding: str) -> None:
    assert unpack(gzip.compress(TEXT), encoding, LIMIT) == TEXT


def test_gzip_of_several_members() -> None:
    body = gzip.compress(TEXT) + gzip.compress(TEXT) + b"\0" * 100
    assert unpack(body, "gzip", LIMIT) == TEXT * 2


def test_zstd_with_and_without_a_stated_size() -> None:
    unsized = zstandard.ZstdCompressor(write_content_size=False).compress(TEXT)
    sized = zstandard.ZstdCompressor().compress(TEXT)
    assert unpack(sized, "zstd", LIMIT) == TEXT
    assert unpack(unsized + sized, "zstd", LIMIT) == TEXT * 2


@pytest.mark.parametrize("encoding", ["", "identity"])
def test_no_encoding(encoding: str) -> None:
    assert unpack(TEXT, encoding, LIMIT) == TEXT


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip"])
def test_an_unknown_encoding_is_named_as_such(encoding: str) -> None:
    with pytest.raises(UnsupportedMediaType):
        unpack(TEXT, encoding, LIMIT)


@pytest.mark.parametrize("keep", [1, 9, 10, 15, 100, -8, -1])
def test_a_truncated_body_is_never_half_accepted(keep: int) -> None:
    packed = gzip.compress(bytes(range(256)) * 40)
    with pytest.raises(BadRequest):
        unpack(packed[:keep], "gzip", LIMIT)
    frame = zstandard.ZstdCompressor().compress(bytes(range(256)) * 40)
    with pytest.raises(BadRequest):
        unpack(frame[:-1], "zstd", LIMIT)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_garbage_is_refused(encoding: str) -> None:
    with pytest.raises(BadRequest):
        unpack(b"certainly not packed", encoding, LIMIT)


def test_a_corrupted_checksum_is_refused() -> None:
    packed = bytearray(gzip.compress(TEXT))
    packed[-6] ^= 0xFF
    with pytest.raises(BadRequest):
        unpack(bytes(packed), "gzip", LIMIT)


def gzip_bomb() -> bytes:
    """Returns 1 GiB of zeros.

    Nothing refers back after a full flush, so one packed MiB is repeated.
    """
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    first, again = (packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in "12")
    return first + again * 1023


def zstd_bomb() -> bytes:
    """Returns 10 GiB of zeros in 20 frames."""
    return zstandard.ZstdCompressor(level=1).compress(bytes(2**29)) * 20


@pytest.mark.parametrize(("encoding", "bomb"), [("gzip", gzip_bomb), ("zstd", zstd_bomb)])
def test_a_bomb_costs_no_more_memory_than_the_limit_allows(encoding: str, bomb: object) -> None:
    assert callable(bomb)
    body = bomb()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TooLarge):
        unpack(body, encoding, LIMIT)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < 10 * LIMIT


def test_a_zstd_window_over_8_mib_is_refused() -> None:
    params = zstandard.ZstdCompressionParameters(window_log=27)
    compressor = zstandard.ZstdCompressor(compression_params=params)
    frame = compressor.compressobj()
    body = frame.compress(TEXT) + frame.flush()
    with pytest.raises(TooLarge):
        unpack(body, "zstd", LIMIT)


@pytest.mark.parametrize(
    ("encoding", "member"),
    [
        ("gzip", gzip.compress(b"")),
        ("gzip", gzip.compress(b"a") + b"\0\0"),
        ("zstd", zstandard.ZstdCompressor().compress(b"")),
        ("zstd", b"\x50\x2a\x4d\x18\0\0\0\0"),
    ],
    ids=["gzip", "padded gzip", "zstd", "skippable zstd"],
)
def test_very_many_members_take_no_longer_than_their_bytes(encoding: str, member: bytes) -> None:
    """A quadratic unpacker computes for 4 s and more on these 2 MiB, ours for a quarter of one."""
    body = member * (2 * 1024 * 1024 // len(member))
    # The time of this thread only: other load on the machine does not count.
    began = time.thread_time()
    assert unpack(body, encoding, LIMIT).strip(b"a") == b""
    assert time.thread_time() - began < 2

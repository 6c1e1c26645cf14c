"""Batches in the form in which Redis stores them: packed, or as the body that brought them."""

import gzip
from collections.abc import Callable

import pytest
import zstandard

from shared.intake.ingest.batch import ENTRY_BYTES, Batch, decode_batch, encode_batch, encode_sent
from shared.intake.ingest.candidates import ndjson_lines
from shared.intake.ingest.decode import decode_events

ORG = "00000000-0000-4000-8000-000000000001"
LINES = [
    b'{"session_id":"s%d","timestamp":"2026-11-02T08:00:00.%03dZ","type":"note","text":"%s"}'
    % (n, n, b"again " * 20)
    for n in range(100)
]


def decoded(unpacked: bytes) -> Batch:
    return decode_events(ndjson_lines(unpacked), ORG, 1024 * 1024).batch


def sent(unpacked: bytes, body: bytes | None = None, encoding: str = "gzip") -> bytes | None:
    body = gzip.compress(unpacked) if body is None else body
    return encode_sent(decoded(unpacked), ORG, body, encoding, unpacked)


@pytest.mark.parametrize("ending", [b"", b"\n"])
@pytest.mark.parametrize(
    ("encoding", "packer"), [("gzip", gzip.compress), (" ZSTD", zstandard.compress)]
)
def test_a_body_as_sent_is_the_batch(
    ending: bytes, encoding: str, packer: Callable[[bytes], bytes]
) -> None:
    unpacked = b"\n".join(LINES) + ending
    batch = decoded(unpacked)
    data = encode_sent(batch, ORG, packer(unpacked), encoding, unpacked)
    assert data is not None
    assert len(data) < len(encode_batch(batch))
    assert decode_batch(data) == decode_batch(encode_batch(batch)) == batch


@pytest.mark.parametrize(
    "unpacked",
    [
        pytest.param(b"\n".join([*LINES, b"", LINES[0]]), id="a blank line"),
        pytest.param(b"\n".join([*LINES, b"{}"]), id="a bad line"),
        pytest.param(b"\r\n".join(LINES), id="other line breaks"),
        pytest.param(b"\n".join(LINES) + b"\n\n", id="a blank line at the end"),
        pytest.param(b" " + b"\n".join(LINES), id="white space"),
        pytest.param(b"\n".join(LINES * 60), id="larger than an entry"),
    ],
)
def test_a_body_with_anything_else_is_packed_again(unpacked: bytes) -> None:
    assert sent(unpacked) is None


def test_a_body_that_was_hardly_packed_is_packed_again() -> None:
    unpacked = b"\n".join(LINES)
    assert sent(unpacked, unpacked, "") is None
    assert sent(unpacked, gzip.compress(unpacked, 0)) is None


def test_a_damaged_body_is_no_batch() -> None:
    unpacked = b"\n".join(LINES)
    data = sent(unpacked)
    assert data is not None
    one_less = encode_sent(decoded(unpacked), ORG, gzip.compress(LINES[0]), "gzip", unpacked)
    no_gzip = encode_sent(decoded(unpacked), ORG, b"no gzip", "gzip", unpacked)
    bomb = encode_sent(
        decoded(unpacked), ORG, gzip.compress(b"\n" * (ENTRY_BYTES + 1)), "gzip", unpacked
    )
    for bad in (data[:1], data[:100], one_less, no_gzip, bomb):
        assert bad is not None
        with pytest.raises(ValueError, match="not a batch"):
            decode_batch(bad)


def test_columns_of_different_lengths_are_no_batch() -> None:
    batch = decoded(LINES[0])
    batch.ts.clear()
    with pytest.raises(ValueError, match="different lengths"):
        decode_batch(encode_batch(batch))


def test_a_value_that_claims_a_gigabyte_is_no_batch() -> None:
    """The size is in the header of the frame, and memory is taken before the frame is read."""
    frame = bytearray(zstandard.compress(b"\0" * 1024 * 1024 * 300)[:64])
    with pytest.raises(ValueError, match="too large"):
        decode_batch(b"\1" + bytes(frame))

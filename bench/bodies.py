"""Gzip bodies of events, and bodies that cost hardly any processor time to make again.

A stamp stands in every session id of such a body. The body stores its first mention uncompressed,
and every later mention refers back to it. The same events in other sessions therefore take a
replacement of 19 bytes and a new checksum.
"""

import gzip
import struct
import zlib
from dataclasses import dataclass

# Bytes that occur nowhere else, each once: every back reference then refers to the whole.
MARK = bytes(range(0x80, 0x80 + 19))
_GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"


@dataclass(frozen=True)
class Body:
    """The parts of a body around the stamp: plain for the checksum, and packed as sent."""

    plain_head: bytes
    plain_tail: bytes
    packed_tail: bytes

    def at(self, stamp: str) -> bytes:
        """Returns the gzip body with a stamp of 19 characters, such as `2026-11-21T10:00:00`."""
        head = self.plain_head + stamp.encode()
        tail = self.plain_tail.replace(MARK, stamp.encode())
        stored = b"\0" + struct.pack("<HH", len(head), len(head) ^ 0xFFFF) + head
        trailer = struct.pack("<II", zlib.crc32(tail, zlib.crc32(head)), len(head) + len(tail))
        return _GZIP_HEADER + stored + self.packed_tail + trailer


def stampable(plain: bytes) -> Body:
    """Packs lines that have `MARK` in place of the stamp. Raises `SystemExit` if that fails."""
    head, _, tail = plain.partition(MARK)
    packer = zlib.compressobj(6, zlib.DEFLATED, -15, zdict=head + MARK)
    body = Body(head, tail, packer.compress(tail) + packer.flush())
    stamp = "2026-11-21T11:11:11"
    if gzip.decompress(body.at(stamp)) != plain.replace(MARK, stamp.encode()):
        raise SystemExit("a body cannot be sent again with another stamp")
    return body


def in_sessions(lines: list[bytes], mark: bytes) -> list[bytes]:
    """Returns the events with `mark` in front of their session ids."""
    return [line.replace(b'"session_id":"', b'"session_id":"' + mark, 1) for line in lines]


def bodies_of(lines: list[bytes], copies: int, run: int, size: int = 500) -> list[bytes]:
    """Returns gzip bodies of `size` events. Each copy of the recording has its own sessions."""
    bodies = []
    for copy in range(copies):
        mine = in_sessions(lines, b"r%dc%d-" % (run, copy))
        bodies += [
            gzip.compress(b"\n".join(mine[start : start + size]), 6)
            for start in range(0, len(mine), size)
        ]
    return bodies

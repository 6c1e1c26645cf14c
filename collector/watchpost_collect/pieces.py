"""Cuts a file of lines into pieces that fit into a request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

PIECE_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class Piece:
    """Whole lines. `first` is the number of the first one, `end` the place after the last."""

    first: int
    data: bytes
    end: int

    @property
    def is_too_long(self) -> bool:
        """Returns whether this is a single line that no request can hold."""
        return len(self.data) > PIECE_BYTES

    @property
    def lines(self) -> list[bytes]:
        """Returns the lines without their line breaks."""
        return self.data.removesuffix(b"\n").split(b"\n")


def pieces(file: BinaryIO, start: int, first: int) -> Iterator[Piece]:
    """Yields the lines from the place `start` on; the one there has the number `first`.

    The last line may lack its line break. It is left out unless it is a whole JSON object, because
    its writer may not have finished it.
    """
    while True:
        file.seek(start)
        data = file.read(PIECE_BYTES)
        if len(data) == PIECE_BYTES:
            data = data[: data.rfind(b"\n") + 1]
            if not data:
                file.seek(start)
                data = file.readline()
        if not data.endswith(b"\n") and not _is_object(data[data.rfind(b"\n") + 1 :]):
            data = data[: data.rfind(b"\n") + 1]
        if not data:
            return
        start += len(data)
        yield Piece(first, data, start)
        first += data.count(b"\n")


def _is_object(text: bytes) -> bool:
    if not text.rstrip().endswith(b"}"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False

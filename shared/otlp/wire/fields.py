"""The wire format of protobuf: a message as tags and values, read without its schema.

A tag holds the number of a field and the form of its value. A value of another form than the
schema's has another tag, so it is ignored like an unknown field, as protobuf demands. Official
parsers reject a whole message for one string that is not UTF-8, or for values that are nested a
few dozen levels deep. With this one each record is rejected alone, and together with the work that
remains in Python both take the same time (`bench/otlp.py`).
"""

import struct
from typing import Any

from shared.core.errors import TooLarge

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5

# One request has at most this many fields. Without a limit 20 MiB of empty fields would take half a
# minute and gigabytes. A body full of numbers, the densest that exporters send, stays below it.
MAX_FIELDS = 2**22

_LARGEST = 2**64 - 1
_WINDOW_BYTES = 64 * 1024

_read_64 = struct.Struct("<Q").unpack_from
_read_32 = struct.Struct("<I").unpack_from


class Malformed(Exception):
    """The bytes are not a message of protobuf."""


def tag(number: int, form: int = LENGTH) -> int:
    """Returns the tag of a field."""
    return number << 3 | form


class Splitter:
    """Splits the messages of one request, one inside the other."""

    def __init__(self) -> None:
        self._left = MAX_FIELDS

    def split(self, data: bytes, repeated: int = -1) -> tuple[list[bytes], dict[int, Any]]:
        """Returns the values of the field with the tag `repeated`, and the others by their tags.

        A value is bytes or, by its tag, an unsigned number of up to 64 bits. Of several values of
        another field the last one counts. Raises `Malformed`, and `TooLarge`
        above `MAX_FIELDS`.
        """
        members, others = self.split_all(data, repeated)
        return members, dict(others)

    def split_all(  # noqa: C901 a call for each field would double the time
        self, data: bytes, repeated: int = -1
    ) -> tuple[list[bytes], list[tuple[int, Any]]]:
        """Returns the same, with all values of the other fields, as pairs of tag and value.

        This loop takes most of the time of a request in protobuf.
        """
        members: list[bytes] = []
        others: list[tuple[int, Any]] = []
        position, end = 0, len(data)
        try:
            while position < end:
                stop = min(end, position + _WINDOW_BYTES)
                while position < stop:
                    found = data[position]
                    # Nearly all tags and numbers are of one byte; `varint` reads the others.
                    if found < 128:
                        position += 1
                    else:
                        found, position = varint(data, position)
                    form = found & 7
                    if form == LENGTH:
                        begin = position + 1
                        size = data[position]
                        if size > 127:
                            size, begin = varint(data, position)
                        position = begin + size
                        if found == repeated:
                            members.append(data[begin:position])
                        else:
                            others.append((found, data[begin:position]))
                    elif form == FIXED64:
                        others.append((found, _read_64(data, position)[0]))
                        position += 8
                    elif form == VARINT:
                        value, position = varint(data, position)
                        others.append((found, value))
                    elif form == FIXED32:
                        others.append((found, _read_32(data, position)[0]))
                        position += 4
                    else:
                        raise Malformed
                if len(members) + len(others) > self._left:
                    raise TooLarge(f"the body has more than {MAX_FIELDS} fields")
        except (IndexError, struct.error):
            raise Malformed from None
        if position != end:
            raise Malformed
        self._left -= len(members) + len(others)
        return members, others


def varint(data: bytes, position: int) -> tuple[int, int]:
    """Returns the number of variable length at `position`, and the position behind it.

    Raises `IndexError` at the end of the data, and `Malformed` for more than ten bytes.
    """
    value = data[position]
    if value < 128:
        return value, position + 1
    # Texts of up to 16 KiB have a length of two bytes.
    byte = data[position + 1]
    if byte < 128:
        return value + (byte << 7) - 128, position + 2
    value &= 127
    for shift in range(7, 70, 7):
        position += 1
        byte = data[position]
        value |= (byte & 127) << shift
        if byte < 128:
            return value & _LARGEST, position + 1
    raise Malformed

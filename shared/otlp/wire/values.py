"""Attributes and other values of OTLP, read from protobuf."""

import math
import struct
from base64 import b64encode

from shared.otlp.records import Attributes, Value
from shared.otlp.wire.checks import MAX_DEPTH, TOO_DEEP, Rejected
from shared.otlp.wire.fields import FIXED64, VARINT, Splitter, tag, varint

_KEY, _VALUE = tag(1), tag(2)
_STRING, _BYTES = tag(1), tag(7)
_BOOL, _INT, _DOUBLE = tag(2, VARINT), tag(3, VARINT), tag(4, FIXED64)
_ARRAY, _OBJECT = tag(5), tag(6)
# Of an array and of an object.
_MEMBER = tag(1)

# Short attributes that many records of a request share are read once.
_REMEMBERED_BYTES = 64
_REMEMBERED = 4096

_as_double = struct.Struct("<d").unpack


def finite(number: float) -> float | str:
    """Returns the number, or the name of one that JSON cannot hold."""
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


class Values:
    """The reader of the values of one request.

    Its methods raise `Malformed`, `TooLarge`, `UnicodeDecodeError`, and `Rejected` for values
    that are nested too deeply.
    """

    def __init__(self, splitter: Splitter) -> None:
        self._splitter = splitter
        self._remembered: dict[bytes, tuple[str, Value]] = {}

    def attributes(self, members: list[bytes], depth: int = 0) -> Attributes:
        """Returns messages of the type `KeyValue` as an object."""
        remembered = self._remembered
        attributes: Attributes = {}
        for member in members:
            is_short = len(member) <= _REMEMBERED_BYTES
            known = remembered.get(member) if is_short else None
            if known is None:
                known = _plain_attribute(member) or self._attribute(member, depth)
                if is_short and len(remembered) < _REMEMBERED:
                    self._remember(member, known)
            attributes[known[0]] = known[1]
        return attributes

    def value(self, data: bytes, depth: int = 0) -> Value:
        """Returns the value of a message of the type `AnyValue`; None if it has none."""
        value: Value = None
        for found, content in self._splitter.split_all(data)[1]:
            if found == _STRING:
                value = str(content, "utf-8")
            elif found == _INT:
                value = _signed(content)
            elif found == _BOOL:
                value = content != 0
            elif found == _DOUBLE:
                value = finite(_as_double(content.to_bytes(8, "little"))[0])
            elif found == _BYTES:
                value = b64encode(content).decode()
            elif found in (_ARRAY, _OBJECT):
                value = self._container(found, content, depth + 1)
        return value

    def _attribute(self, data: bytes, depth: int) -> tuple[str, Value]:
        fields = self._splitter.split(data)[1]
        return str(fields.get(_KEY, b""), "utf-8"), self.value(fields.get(_VALUE, b""), depth)

    def _container(self, found: int, data: bytes, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise Rejected(TOO_DEEP)
        members, _ = self._splitter.split(data, _MEMBER)
        if found == _OBJECT:
            return self.attributes(members, depth)
        return [self.value(member, depth) for member in members]

    def _remember(self, member: bytes, known: tuple[str, Value]) -> None:
        if not isinstance(known[1], list | dict):
            self._remembered[member] = known


def _signed(number: int) -> int:
    return number if number < 2**63 else number - 2**64


def _plain_attribute(data: bytes) -> tuple[str, str | int] | None:
    """Returns the key and value of an attribute whose value is a text or an integer, as most are.

    Returns None for any other, and for one that is written in an unusual way.
    """
    try:
        # key: tag, length, bytes; value: tag, length, and in it the tag of the text or integer, and
        # this itself: length and bytes, or a number
        value_at = data[1] + 2
        if data[0] != _KEY or value_at > 129 or data[value_at] != _VALUE:
            return None
        size, content_at = data[value_at + 1], value_at + 2
        if size > 127:
            size, content_at = varint(data, value_at + 1)
        if content_at + size != len(data):
            return None
        if data[content_at] == _INT:
            number, end = varint(data, content_at + 1)
            return (str(data[2:value_at], "utf-8"), _signed(number)) if end == len(data) else None
        if data[content_at] != _STRING:
            return None
        size, begin = data[content_at + 1], content_at + 2
        if size > 127:
            size, begin = varint(data, content_at + 1)
        if begin + size != len(data):
            return None
    except IndexError:
        return None
    return str(data[2:value_at], "utf-8"), str(data[begin:], "utf-8")

"""Attributes and other values of OTLP, read from protobuf."""

import math
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from shared.foundation.core.errors import TooLarge
from shared.intake.otlp.records import Attributes, Value
from shared.intake.otlp.wire.checks import MAX_DEPTH, TOO_DEEP, Rejected
from shared.intake.otlp.wire.schema import parser

# The lists of one request have at most this many members. Without a limit 20 MiB of empty ones
# would take half a minute and gigabytes. A body full of numbers, the densest that exporters send,
# stays below it.
MAX_MEMBERS = 2**22

# Short attributes that many records of a request share are read once.
_REMEMBERED_BYTES = 64
_REMEMBERED = 4096

_parse_attribute, _parse_value = parser("KeyValue"), parser("AnyValue")
_parse_members = parser("Members")


def finite(number: float) -> float | str:
    """Returns the number, or the name of one that JSON cannot hold."""
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


class Values:
    """The reader of the values of one request.

    Its methods raise `DecodeError`, `TooLarge`, `UnicodeDecodeError`, and `Rejected` for values
    that are nested too deeply.
    """

    def __init__(self) -> None:
        self._left = MAX_MEMBERS
        self._remembered: dict[bytes, tuple[str, Value]] = {}

    def counted(self, members: Sequence[bytes]) -> Sequence[bytes]:
        """Returns the members of a list. Raises `TooLarge` above `MAX_MEMBERS` of all lists."""
        self._left -= len(members)
        if self._left < 0:
            raise TooLarge(f"the body has more than {MAX_MEMBERS} fields")
        return members

    def attributes(self, members: Sequence[bytes], depth: int = 0) -> Attributes:
        """Returns messages of the type `KeyValue` as an object."""
        remembered = self._remembered
        attributes: Attributes = {}
        for member in self.counted(members):
            is_short = len(member) <= _REMEMBERED_BYTES
            known = remembered.get(member) if is_short else None
            if known is None:
                attribute = _parse_attribute(member)
                known = attribute.key.decode(), self.value(attribute.value, depth)
                if is_short and len(remembered) < _REMEMBERED:
                    self._remember(member, known)
            attributes[known[0]] = known[1]
        return attributes

    def value(self, message: Any, depth: int = 0) -> Value:
        """Returns the value of a message of the type `AnyValue`; None if it has none."""
        # Most values are texts, and each question to a message takes its time.
        if text := message.text:
            decoded: str = text.decode()
            return decoded
        kind = message.WhichOneof("value")
        if kind == "text":
            return ""
        if kind == "int" or kind == "bool":
            number: int | bool = getattr(message, kind)
            return number
        if kind == "double":
            return finite(message.double)
        if kind == "bytes":
            return b64encode(message.bytes).decode()
        return None if kind is None else self._container(kind, getattr(message, kind), depth + 1)

    def _container(self, kind: str, data: bytes, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise Rejected(TOO_DEEP)
        members = _parse_members(data).members
        if kind == "object":
            return self.attributes(members, depth)
        return [self.value(_parse_value(member), depth) for member in self.counted(members)]

    def _remember(self, member: bytes, known: tuple[str, Value]) -> None:
        if not isinstance(known[1], list | dict):
            self._remembered[member] = known

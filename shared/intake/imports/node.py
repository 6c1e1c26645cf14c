"""Objects of JSON that others wrote: a value that is absent, null or of another type is the same.

Values are parsed when they are asked for. The others are checked and skipped over, and one that is
passed on keeps its bytes.
"""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta, Raw

from shared.foundation.core.clock import to_us
from shared.foundation.core.text import mend_surrogates
from shared.intake.ingest.envelope import EventRejected

_WRONG = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_NULL = b"null"
# Far longer than any line of a transcript with its pictures. A line of brackets takes thirty times
# its size in memory.
MAX_LINE_BYTES = 8 * 1024 * 1024
# Each may separate two values of a document, and each value takes some memory while it is read.
MAX_COMMAS = 4_000_000

_members = msgspec.json.Decoder(dict[str, Raw]).decode
_elements = msgspec.json.Decoder(list[Raw]).decode
_skip = msgspec.json.Decoder(Raw).decode
_text = msgspec.json.Decoder(str).decode
_number = msgspec.json.Decoder(int).decode
_float = msgspec.json.Decoder(float).decode
_moment = msgspec.json.Decoder(Annotated[datetime, Meta(tz=True)]).decode


class Node:
    """One object."""

    __slots__ = ("members",)

    def __init__(self, members: dict[str, Raw] | None = None) -> None:
        self.members = members or {}

    def __contains__(self, key: str) -> bool:
        return key in self.members

    def value(self, key: str) -> Raw | None:
        """Returns a value as it was written; None for null and for a missing one."""
        raw = self.members.get(key)
        return None if raw is None or bytes(raw) == _NULL else raw

    def text(self, key: str) -> str:
        """Returns a text, or ""."""
        try:
            return _text(self.members[key])
        except (KeyError, *_WRONG):
            return ""

    def number(self, key: str) -> int | None:
        """Returns a whole number, or None."""
        try:
            return _number(self.members[key])
        except (KeyError, *_WRONG):
            return None

    def amount(self, key: str) -> float | None:
        """Returns a number, or None."""
        try:
            return _float(self.members[key])
        except (KeyError, *_WRONG):
            return None

    def is_true(self, key: str) -> bool:
        """Returns whether a value is `true`."""
        raw = self.members.get(key)
        return raw is not None and bytes(raw) == b"true"

    def node(self, key: str) -> "Node":
        """Returns an object, or an empty one."""
        try:
            return Node(_members(self.members[key]))
        except (KeyError, *_WRONG):
            return Node()

    def raws(self, key: str) -> list[Raw]:
        """Returns the elements of an array."""
        try:
            return _elements(self.members[key])
        except (KeyError, *_WRONG):
            return []

    def nodes(self, key: str) -> list["Node"]:
        """Returns the elements of an array that are objects."""
        found = []
        for raw in self.raws(key):
            try:
                found.append(Node(_members(raw)))
            except _WRONG:
                continue
        return found

    def time_us(self, key: str) -> int | None:
        """Returns a moment in microseconds since the epoch, None if there is none.

        Raises `EventRejected` if the value is not a time with a zone.
        """
        raw = self.value(key)
        if raw is None:
            return None
        try:
            return to_us(_moment(raw))
        except (*_WRONG, OverflowError) as error:
            zone = " has no zone" if "timezone" in str(error) else " is not an RFC 3339 time"
            raise EventRejected(f"{key}{zone}") from None


def read_node(text: bytes) -> Node:
    """Reads the object of a line.

    Raises `EventRejected` for other texts, and for very large ones.
    """
    if len(text) > MAX_LINE_BYTES:
        raise EventRejected(f"larger than {MAX_LINE_BYTES} bytes")
    return _read(text)


def read_document(text: bytes) -> Node:
    """Reads an object of any size.

    Raises `EventRejected` for other texts, and for too many values.
    """
    if text.count(b",") > MAX_COMMAS:
        raise EventRejected("has too many values")
    return _read(text)


def _read(text: bytes) -> Node:
    try:
        if not text.isascii():
            # The parser skips over values without checking their encoding.
            str(text, "utf-8")
        return Node(_members(text))
    except UnicodeDecodeError:
        raise EventRejected("is not valid UTF-8") from None
    except msgspec.ValidationError:
        raise EventRejected("is not an object") from None
    except RecursionError:
        raise EventRejected("is nested too deeply") from None
    except msgspec.DecodeError:
        mended = mend_surrogates(text)
        if mended != text:
            return _read(mended)
        raise EventRejected("is not JSON") from None


def compact(raw: Raw) -> bytes:
    """Returns a value that was read without the blanks and line breaks between its parts."""
    try:
        return msgspec.json.format(bytes(raw), indent=-1)
    except _WRONG:
        return bytes(raw)


def is_json(text: bytes) -> bool:
    """Returns whether this is JSON of any kind, well-formed or nested too deeply to tell."""
    try:
        str(text, "utf-8")
        _skip(mend_surrogates(text))
    except RecursionError:
        return True
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def plain(text: str) -> object:
    """Returns the value of JSON text of an object or an array; any other text as it is."""
    if text[:1] not in ("{", "["):
        return text
    try:
        return msgspec.json.decode(text)
    except _WRONG:
        return text

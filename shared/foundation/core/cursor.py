"""Opaque cursors: the sort key of the last row of a page, as base64 of MessagePack."""

import base64
import binascii
from typing import Generic, NamedTuple, TypeVar

import msgspec

from shared.foundation.core.errors import Invalid

Key = TypeVar("Key")
Listed = TypeVar("Listed")


class Page(NamedTuple, Generic[Listed]):
    """Some rows of a list, and the cursor of the next ones, None on the last page."""

    rows: list[Listed]
    next_cursor: str | None


def encode_cursor(key: object) -> str:
    """Encodes a sort key (a tuple of numbers and strings) as the text of a cursor."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(key)).rstrip(b"=").decode()


def decode_cursor(
    text: str, shape: type[Key], *, parameter: str = "cursor", noun: str = "cursor"
) -> Key:
    """Decodes the sort key of a cursor, or of another opaque text of the same form.

    Raises `Invalid` naming the parameter of the request if it is not one of ours.
    """
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        return msgspec.msgpack.decode(packed, type=shape)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise Invalid.field(parameter, f"is not a {noun} of this list") from None

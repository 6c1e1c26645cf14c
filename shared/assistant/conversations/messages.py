"""The messages of a conversation, parsed from a request and stored as the JSON that was sent.

Contents are never decoded, so a number of thirty digits or a `\\u0000` is returned as it was sent.
Only the blanks between tokens are removed.
"""

from dataclasses import dataclass
from typing import Literal

import msgspec

from shared.foundation.core.errors import BadRequest, Invalid, TooLarge

MAX_MESSAGES = 500
MAX_BYTES = 1024 * 1024

Role = Literal["user", "assistant"]

_MISSING = "Missing data for required field."

_check = msgspec.json.Decoder(msgspec.Raw).decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_array = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_role = msgspec.json.Decoder(Role).decode


@dataclass(frozen=True)
class Thread:
    """A JSON array of `{"role", "content"}` as bytes, and the number of its elements."""

    messages: bytes
    count: int


class _StoredMessage(msgspec.Struct):
    role: str
    content: msgspec.Raw


EMPTY = Thread(b"[]", 0)


def read_thread(body: bytes) -> Thread:
    """Reads the messages of the JSON text `{"messages": [{"role", "content"}, …]}`.

    Ignores other members, of the messages too. Raises `BadRequest` for text that is not JSON,
    `Invalid` naming each bad field (`messages.3.role`), and `TooLarge` for a thread of more than
    `MAX_BYTES`.
    """
    _require_json(body)
    try:
        wrapped = _decode_members(body)
    except msgspec.ValidationError:
        raise Invalid.field("body", "must be an object") from None
    if "messages" not in wrapped:
        raise Invalid.field("messages", _MISSING)
    try:
        elements = _decode_array(wrapped["messages"])
    except msgspec.ValidationError:
        raise Invalid.field("messages", "must be a list") from None
    if len(elements) > MAX_MESSAGES:
        raise Invalid.field("messages", f"must have at most {MAX_MESSAGES} entries")
    encoded = msgspec.json.encode(_read_messages(elements))
    if len(encoded) > MAX_BYTES:
        raise TooLarge(f"the messages of a conversation have at most {MAX_BYTES} bytes")
    return Thread(encoded, len(elements))


def _require_json(body: bytes) -> None:
    try:
        body.decode()  # checks the encoding of contents that are not decoded
        _check(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BadRequest("the body is not JSON", code="malformed_json") from None
    except RecursionError:
        raise BadRequest("the body is nested too deeply", code="malformed_json") from None


def _read_messages(elements: list[msgspec.Raw]) -> list[_StoredMessage]:
    messages = []
    bad: dict[str, list[str]] = {}
    for index, element in enumerate(elements):
        found = _read_message(element)
        if isinstance(found, _StoredMessage):
            messages.append(found)
        else:
            path = f"messages.{index}"
            bad |= {f"{path}.{name}" if name else path: [why] for name, why in found.items()}
    if bad:
        raise Invalid("some messages are not valid", fields=bad)
    return messages


def _read_message(element: msgspec.Raw) -> _StoredMessage | dict[str, str]:
    """Returns the message, or an error for each bad member; "" stands for the message itself."""
    try:
        members = _decode_members(element)
    except msgspec.ValidationError:
        return {"": "must be an object"}
    bad = {name: _MISSING for name in ("role", "content") if name not in members}
    role = ""
    if "role" in members:
        try:
            role = _decode_role(members["role"])
        except msgspec.ValidationError:
            bad["role"] = "must be user or assistant"
    if bad:
        return bad
    compact = msgspec.json.format(bytes(members["content"]), indent=-1)
    return _StoredMessage(role, msgspec.Raw(compact))

"""Reads the promoted fields of an event: the ones that become columns."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

UInt32 = Annotated[int, Meta(ge=0, le=0xFFFFFFFF)]

_NOT_AN_ERROR = frozenset({b"null", b"false", b'""'})
_FAILURES = frozenset({"failed", "failure", "error", "timeout", "rejected", "denied", "blocked"})
_TYPES_WITH_OUTCOME = frozenset({"agent_end", "tool_result", "hook_completed"})


class Promoted(msgspec.Struct, gc=False):
    """The fields that become columns of the same name; null where the event has none."""

    tool_name: str | None = None
    tool_call_id: str | None = None
    hook_name: str | None = None
    hook_id: str | None = None
    trigger_event: str | None = None
    input_id: str | None = None
    pause_id: str | None = None
    request_id: str | None = None
    error_type: str | None = None
    model: str | None = None
    parent_id: str | None = None
    outcome: str | None = None
    duration_ms: UInt32 | None = None
    input_tokens: UInt32 | None = None
    output_tokens: UInt32 | None = None


class Fields(Promoted, gc=False):
    """The promoted fields, and those that only the derived columns are made of."""

    model_name: str | None = None
    error: Raw | UnsetType = UNSET
    goal: Raw | UnsetType = UNSET
    summary: Raw | UnsetType = UNSET
    input: Raw | UnsetType = UNSET
    output: Raw | UnsetType = UNSET
    message: Raw | UnsetType = UNSET
    prompt: Raw | UnsetType = UNSET
    response: Raw | UnsetType = UNSET
    reason: Raw | UnsetType = UNSET
    stop_reason: Raw | UnsetType = UNSET


PROMOTED = Promoted.__struct_fields__
NUMBERS = ("duration_ms", "input_tokens", "output_tokens")

_decode = msgspec.json.Decoder(Fields).decode
_decode_raw = msgspec.json.Decoder(dict[str, Raw]).decode
_TYPES = {field.name: field.type for field in msgspec.structs.fields(Fields)}


def read_fields(payload: bytes) -> Fields:
    """The fields of an accepted event; a field of the wrong JSON type is null.

    Never fails: an event that was accepted is stored, whatever its optional fields hold.
    """
    try:
        fields = _decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        fields = _read_leniently(payload)
    if fields.model is None:
        fields.model = fields.model_name
    return fields


def is_error(event_type: str, fields: Fields) -> bool:
    """Whether the event tells of a failure."""
    if event_type == "error":
        return True
    if fields.error is not UNSET and bytes(fields.error) not in _NOT_AN_ERROR:
        return True
    return fields.outcome in _FAILURES and event_type in _TYPES_WITH_OUTCOME


def _read_leniently(payload: bytes) -> Fields:
    try:
        raw = _decode_raw(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Fields()
    values: dict[str, Any] = {}
    for name in raw.keys() & _TYPES.keys():
        try:
            values[name] = msgspec.json.decode(raw[name], type=_TYPES[name])
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
    return Fields(**values)

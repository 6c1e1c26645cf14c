"""Reads the fields of an event from which columns are derived."""

from collections.abc import Set as AbstractSet
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from shared.foundation.clickhouse.event_columns import CALL_COLUMNS, PAYLOAD_COLUMNS
from shared.reading.events.families import FAMILIES

UInt32 = Annotated[int, Meta(ge=0, le=0xFFFFFFFF)]

_STARTS_OF_NUMBERS = frozenset(b"%c" % code for code in b"-0123456789")
_NOT_AN_ERROR = frozenset({b"null", b"false", b'""'})
FAILURES = frozenset({"failed", "failure", "error", "timeout", "rejected", "denied", "blocked"})
_TYPES_WITH_OUTCOME = frozenset(family.end for family in FAMILIES if family.has_outcome)


# The JSON type of a column's value, by the column's type.
_JSON_TYPES = {
    "LowCardinality(Nullable(String))": str | None,
    "Nullable(String)": str | None,
    "Nullable(UInt32)": UInt32 | None,
}


class Fields(msgspec.Struct, gc=False):
    """The fields for derived columns; null or unset if the event does not have them.

    The struct that is actually read also has a field for each column of the payload.
    """

    tool_name: str | None = None
    hook_name: str | None = None
    trigger_event: str | None = None
    error_type: str | None = None
    model: str | None = None
    model_name: str | None = None
    outcome: str | None = None
    input_tokens: UInt32 | None = None
    output_tokens: UInt32 | None = None
    cache_read_tokens: UInt32 | None = None
    cache_write_tokens: UInt32 | None = None
    cache_write_1h_tokens: UInt32 | None = None
    audio_input_tokens: UInt32 | None = None
    audio_output_tokens: UInt32 | None = None
    reasoning_tokens: UInt32 | None = None
    web_searches: UInt32 | None = None
    provider: str | None = None
    service_tier: str | None = None
    error: Raw | UnsetType = UNSET
    # Of a call: the provider's own object, and the cost that the sender knows.
    usage: Raw | UnsetType = UNSET
    cost_usd: Raw | UnsetType = UNSET
    cost_currency: Raw | UnsetType = UNSET
    # The sources of dimensions.
    user_id: Raw | UnsetType = UNSET
    agent_version: Raw | UnsetType = UNSET
    release: Raw | UnsetType = UNSET
    tags: Raw | UnsetType = UNSET
    attributes: Raw | UnsetType = UNSET
    metadata: Raw | UnsetType = UNSET
    # The sources of summaries.
    goal: Raw | UnsetType = UNSET
    summary: Raw | UnsetType = UNSET
    input: Raw | UnsetType = UNSET
    output: Raw | UnsetType = UNSET
    message: Raw | UnsetType = UNSET
    prompt: Raw | UnsetType = UNSET
    response: Raw | UnsetType = UNSET
    reason: Raw | UnsetType = UNSET
    stop_reason: Raw | UnsetType = UNSET


_AllFields: type[Fields] = msgspec.defstruct(  # type: ignore[assignment] # it says type[Struct]
    "AllFields",
    [
        (column.field, _JSON_TYPES[column.type], None)
        for column in (*PAYLOAD_COLUMNS, *CALL_COLUMNS)
    ],
    bases=(Fields,),
    gc=False,
)
# An event of which some fields had the wrong type.
_MendedFields: Any = msgspec.defstruct(
    "MendedFields", [("unusable", set[str])], bases=(_AllFields,), gc=False, kw_only=True
)
_decode = msgspec.json.Decoder(_AllFields).decode
_decode_raw = msgspec.json.Decoder(dict[str, Raw]).decode
_TYPES = {field.name: field.type for field in msgspec.structs.fields(_AllFields)}


def read_fields(payload: bytes) -> Fields:
    """Reads the fields of an accepted event; a field of the wrong JSON type is null.

    Never fails: an accepted event is stored, whatever its optional fields contain.
    """
    try:
        fields = _decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        fields = _read_leniently(payload)
    if fields.model is None:
        fields.model = fields.model_name
    return fields


def unusable_in(fields: Fields) -> AbstractSet[str]:
    """Returns the names of the fields with a number that their columns cannot have."""
    mended: Any = fields
    return mended.unusable if isinstance(fields, _MendedFields) else frozenset()


def has_error(fields: Fields) -> bool:
    """Returns whether the field `error` has a value that means an error."""
    return fields.error is not UNSET and bytes(fields.error) not in _NOT_AN_ERROR


def is_error(event_type: str, fields: Fields) -> bool:
    """Returns whether the event reports a failure."""
    if event_type == "error" or has_error(fields):
        return True
    return fields.outcome in FAILURES and event_type in _TYPES_WITH_OUTCOME


def _read_leniently(payload: bytes) -> Fields:
    try:
        raw = _decode_raw(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _AllFields()
    values: dict[str, Any] = {}
    unusable: set[str] = set()
    for name in raw.keys() & _TYPES.keys():
        try:
            values[name] = msgspec.json.decode(raw[name], type=_TYPES[name])
        except (msgspec.MsgspecError, UnicodeDecodeError):
            if bytes(raw[name])[:1] not in _STARTS_OF_NUMBERS:
                continue
            count = _whole(raw[name])
            if count is None:
                unusable.add(name)
            elif _TYPES[name] == UInt32 | None:
                values[name] = count
    mended: Fields = _MendedFields(**values, unusable=unusable)
    return mended


def _whole(raw: Raw) -> int | None:
    """Returns a count that was written with a point (`9.0`), None for another number."""
    try:
        number = msgspec.json.decode(raw, type=Annotated[float, Meta(ge=0, le=0xFFFFFFFF)])
    except msgspec.MsgspecError:
        return None
    return int(number) if number.is_integer() else None

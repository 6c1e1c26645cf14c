"""The target of a deletion: sessions by id, or all sessions with an event that names a person."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from shared.foundation.core.errors import Invalid
from shared.reading.sessions.deleted import Hashing

# The most sessions that one deletion removes.
MAX_SESSIONS = 5000
MAX_VALUE = 500
_MAX_ID = 256
_FIELD = re.compile(r"[A-Za-z0-9_$@-]+(\.[A-Za-z0-9_$@-]+){0,9}")


class DeletionTarget(NamedTuple):
    """Either `session_ids`, or a `field` of the payload and the `value` that it equals."""

    session_ids: tuple[str, ...] = ()
    field: str | None = None
    value: str | None = None


def target_of(
    session_ids: Sequence[str] | None, field: str | None, equals: str | None
) -> DeletionTarget:
    """Returns the target that a request names; raises `Invalid` naming the field at fault."""
    if session_ids is not None:
        if field is not None or equals is not None:
            raise Invalid.field("session_ids", "cannot be combined with field and equals")
        wanted = tuple(dict.fromkeys(session_ids))
        if not 1 <= len(wanted) <= MAX_SESSIONS:
            raise Invalid.field("session_ids", f"name 1 to {MAX_SESSIONS} sessions")
        if not all(1 <= len(one) <= _MAX_ID for one in wanted):
            raise Invalid.field("session_ids", f"an id has 1 to {_MAX_ID} characters")
        return DeletionTarget(session_ids=wanted)
    if field is None:
        raise Invalid.field("field", "name session_ids, or a field and what it equals")
    if len(field) > MAX_VALUE or not _FIELD.fullmatch(field):
        reason = "write up to ten keys with dots between them, such as user.email"
        raise Invalid.field("field", reason)
    if not equals or len(equals) > MAX_VALUE:
        raise Invalid.field("equals", f"write the field's value, 1 to {MAX_VALUE} characters")
    return DeletionTarget(field=field, value=equals)


def names_sql(hashing: Hashing, field: str, value_hash: str) -> str:
    """Returns the SQL condition that a payload names the value of this hash in `field`.

    `user.email` is the key `email` in the object `user`, or the one key `user.email`.
    """
    path = ", ".join(f"'{key}'" for key in field.split("."))
    places = [f"payload, {path}"] + ([f"payload, '{field}'"] if "." in field else [])
    values = [
        f"{function}({place})"
        for place in places
        for function in ("JSONExtractString", "JSONExtractRaw")
    ]
    return f"arrayExists(v -> {hashing.sql('v')} = '{value_hash}', [{', '.join(values)}])"


def names(payload: bytes, field: str, value: str) -> bool:
    """Returns whether a payload names the value in `field`, as `names_sql` decides."""
    try:
        event: Any = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    found = [event.get(field)] if isinstance(event, dict) else []
    below = event
    for key in field.split("."):
        below = below.get(key) if isinstance(below, dict) else None
    return any(_is(one, value) for one in (*found, below))


def _is(found: object, value: str) -> bool:
    if isinstance(found, str):
        return found == value
    return isinstance(found, (bool, int, float)) and msgspec.json.encode(found).decode() == value

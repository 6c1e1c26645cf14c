"""The target of a deletion: sessions by id, or all sessions of a person.

A person is the value of a field of the payload, or the user of events.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from shared.foundation.core.errors import Invalid
from shared.reading.dimensions.names import MAX_USER_CHARS
from shared.reading.sessions.deleted import Hashing
from shared.upkeep.deletions.users import is_user, names_user, user_sql

# The most sessions that one deletion removes together, and those of a user in all rounds.
MAX_SESSIONS = 5000
MAX_OF_USER = 100_000
MAX_VALUE = 500
_MAX_ID = 256
_FIELD = re.compile(r"[A-Za-z0-9_$@-]+(\.[A-Za-z0-9_$@-]+){0,9}")


class DeletionTarget(NamedTuple):
    """Either `session_ids`, or a `value`: of a `field` of the payload, else a user of events."""

    session_ids: tuple[str, ...] = ()
    field: str | None = None
    value: str | None = None


class NamedPerson(NamedTuple):
    """A person whose sessions are deleted: the `value` of a `field`, else the user of events."""

    field: str | None
    value: str

    @property
    def user(self) -> str | None:
        """Returns the user, None for the value of a field."""
        return self.value if self.field is None else None

    def is_named_in(self, event_type: str, payload: bytes) -> bool:
        """Returns whether an event names the person, as `naming_sql` decides."""
        if self.field is None:
            return names_user(event_type, payload, self.value)
        return names(payload, self.field, self.value)


def target_of(
    session_ids: Sequence[str] | None,
    field: str | None,
    equals: str | None,
    user_id: str | None = None,
) -> DeletionTarget:
    """Returns the target that a request names; raises `Invalid` naming the field at fault."""
    if user_id is not None:
        return _of_user(user_id, (session_ids, field, equals))
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
        reason = "name session_ids, a user_id, or a field and what it equals"
        raise Invalid.field("field", reason)
    if len(field) > MAX_VALUE or not _FIELD.fullmatch(field):
        reason = "write up to ten keys with dots between them, such as user.email"
        raise Invalid.field("field", reason)
    if not equals or len(equals) > MAX_VALUE:
        raise Invalid.field("equals", f"write the field's value, 1 to {MAX_VALUE} characters")
    return DeletionTarget(field=field, value=equals)


def _of_user(user_id: str, others: Sequence[object]) -> DeletionTarget:
    if any(other is not None for other in others):
        raise Invalid.field("user_id", "cannot be combined with session_ids, field or equals")
    if len(user_id) > MAX_USER_CHARS or not is_user(user_id):
        reason = f"write the user of events, 1 to {MAX_USER_CHARS} characters"
        raise Invalid.field("user_id", reason)
    return DeletionTarget(value=user_id)


def naming_sql(hashing: Hashing, field: str | None, value_hash: str) -> str:
    """Returns the SQL condition that an event names the person of this hash."""
    if field is None:
        return user_sql(hashing, value_hash)
    return names_sql(hashing, field, value_hash)


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

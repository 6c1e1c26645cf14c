"""Reads the dimensions of an event: its user, the agent's version, tags and attributes.

A value that does not fit is left out and counted; it never changes whether the event is stored.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw, UnsetType

from shared.intake.ingest.fields import Fields
from shared.reading.dimensions.names import (
    MAX_ATTRIBUTES,
    MAX_KEY_CHARS,
    MAX_TAG_CHARS,
    MAX_TAGS,
    MAX_USER_CHARS,
    MAX_VALUE_CHARS,
    MAX_VERSION_CHARS,
    NAME_AN_ACTOR,
    REDACTED,
    is_key,
)

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

_decode = msgspec.json.Decoder().decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class OmittedValues(Counter[str]):
    """The number of values that were left out, by reason, and some keys that had no place.

    `shared.reading.dimensions.left_out` has the reasons.
    """

    def __init__(self) -> None:
        super().__init__()
        self.keys_full: set[str] = set()

    def count_full(self, keys: Collection[str]) -> None:
        """Counts attributes whose keys have no place."""
        self["keys_full"] += len(keys)
        self.keys_full.update(keys)


class EventDimensions(NamedTuple):
    """The dimensions that one event has itself."""

    user_id: str | None = None
    agent_version: str | None = None
    tags: Sequence[str] = ()
    attributes: dict[str, str] = {}  # noqa: RUF012 never changed where it is the default


def _none_of(_keys: Collection[str]) -> Collection[str]:
    return ()


class DimensionRules(NamedTuple):
    """The rules of an organization.

    `redacted` are the keys, in lower case, whose values are never stored; a dimension or an
    attribute with such a name stays empty. `paths` are further places of attributes: paths in the
    payload, or names of attributes of OpenTelemetry. `refused` returns the keys of attributes that
    have no place.
    """

    redacted: Collection[str] = frozenset()
    paths: tuple[str, ...] = ()
    refused: Callable[[Collection[str]], Collection[str]] = _none_of


def drop_refused(
    found: Sequence[EventDimensions], rules: DimensionRules, left_out: OmittedValues
) -> None:
    """Removes the attributes whose keys have no place from the dimensions of some events."""
    # In their order, so that of new keys the first ones have a place.
    keys = dict.fromkeys(key for one in found for key in one.attributes)
    refused = frozenset(rules.refused(keys.keys())) if keys else frozenset()
    if not refused:
        return
    for one in found:
        for key in refused & one.attributes.keys():
            del one.attributes[key]
            left_out.count_full([key])


def places_of_dimensions(events: Sequence[Fields], rules: DimensionRules) -> list[int]:
    """Returns the places of the events that have a source of dimensions; most have none."""
    if rules.paths:
        return list(range(len(events)))
    return [
        place
        for place, event in enumerate(events)
        if event.user_id is not UNSET
        or event.metadata is not UNSET
        or event.attributes is not UNSET
        or event.tags is not UNSET
        or event.agent_version is not UNSET
        or event.release is not UNSET
    ]


def read_dimensions(
    event_type: str, fields: Fields, payload: bytes, rules: DimensionRules, left_out: OmittedValues
) -> EventDimensions:
    """Returns the dimensions of an accepted event, and counts in `left_out` what has no place."""
    redacted = rules.redacted
    user = None
    if event_type not in NAME_AN_ACTOR and "user_id" not in redacted:
        user = _user(fields.user_id, left_out)
    version = None
    if "agent_version" not in redacted:
        version = _text(fields.agent_version, MAX_VERSION_CHARS, left_out) or _text(
            fields.release, MAX_VERSION_CHARS, left_out
        )
    tags = [] if "tags" in redacted else _tags(fields.tags, left_out)
    attributes: dict[str, str] = {}
    if "attributes" not in redacted:
        members = _members(fields, payload, rules.paths)
        attributes = _attributes(members, redacted, left_out)
    return EventDimensions(user, version, tags, attributes)


def _user(raw: Raw | UnsetType, left_out: OmittedValues) -> str | None:
    if raw is UNSET:
        return None
    data = bytes(raw)
    if data[:1] != b'"' and data.lstrip(b"-").isdigit():
        return _fitting(data.decode(), MAX_USER_CHARS, left_out)
    return _text(raw, MAX_USER_CHARS, left_out)


def _text(raw: Raw | UnsetType, most: int, left_out: OmittedValues) -> str | None:
    if raw is UNSET or bytes(raw) == b"null":
        return None
    value = _decoded(raw)
    if type(value) is not str:
        left_out["not_scalar"] += 1
        return None
    return _fitting(value, most, left_out)


def _fitting(value: str, most: int, left_out: OmittedValues) -> str | None:
    """Returns a text that says something and is not too long, else None."""
    if not value or value == REDACTED or _CONTROL.search(value):
        return None
    if len(value) > most:
        left_out["too_long"] += 1
        return None
    return value


def _tags(raw: Raw | UnsetType, left_out: OmittedValues) -> list[str]:
    if raw is UNSET:
        return []
    sent = _decoded(raw)
    tags: dict[str, None] = {}
    for one in sent if isinstance(sent, list) else [sent]:
        if one is None:
            continue
        if type(one) is not str:
            left_out["not_scalar"] += 1
            continue
        tag = _fitting(one, MAX_TAG_CHARS, left_out)
        if tag is None or tag in tags:
            continue
        if len(tags) == MAX_TAGS:
            left_out["too_many"] += 1
            continue
        tags[tag] = None
    return sorted(tags)


def _attributes(
    members: Iterator[tuple[str, Raw]], redacted: Collection[str], left_out: OmittedValues
) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, raw in members:
        if key in found or key.lower() in redacted:
            continue
        if not is_key(key):
            left_out["too_long" if len(key) > MAX_KEY_CHARS else "bad_key"] += 1
            continue
        value = _scalar(raw, left_out)
        if value is None:
            continue
        if len(found) == MAX_ATTRIBUTES:
            left_out["too_many"] += 1
            continue
        found[key] = value
    return found


def _scalar(raw: Raw, left_out: OmittedValues) -> str | None:
    """Returns a text as it is, and a number or a boolean as JSON writes it."""
    data = bytes(raw)
    if data[:1] == b'"':
        value = _decoded(raw)
        return _fitting(value, MAX_VALUE_CHARS, left_out) if type(value) is str else None
    if data == b"null":
        return None
    if data[:1] in (b"{", b"["):
        left_out["not_scalar"] += 1
        return None
    return _fitting(data.decode(), MAX_VALUE_CHARS, left_out)


def _members(fields: Fields, payload: bytes, paths: tuple[str, ...]) -> Iterator[tuple[str, Raw]]:
    for raw in (fields.attributes, fields.metadata):
        if raw is not UNSET and bytes(raw)[:1] == b"{":
            yield from _object(raw).items()
    for path in paths:
        found = _at(payload, path)
        if found is not None:
            yield path, found


def _at(payload: bytes, path: str) -> Raw | None:
    """Returns the value at a path of the payload, or of the attribute of OpenTelemetry's name."""
    steps = path.split(".")
    for names in (steps, ["otel", "attributes", path], ["otel", "resource", path]):
        value: Any = payload
        for name in names:
            value = _object(value).get(name)
            if value is None:
                break
        else:
            found: Raw = value
            return found
    return None


def _object(value: Any) -> dict[str, Raw]:
    try:
        return _decode_members(value)
    except _UNREADABLE:
        return {}


def _decoded(raw: Raw) -> object:
    try:
        return _decode(raw)
    except _UNREADABLE:
        return None

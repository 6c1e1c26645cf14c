"""The dimensions of imported events: those that a file names, else those that its sender names."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec
from msgspec import Raw

from shared.reading.dimensions.names import NAME_AN_ACTOR, REDACTED

# The address of a repository that has no scheme: `git@host:owner/name`.
_WITHOUT_SCHEME = re.compile(r"[^/\\:]{2,}:([^?#]*)", re.DOTALL)
_OWNER_AND_NAME = re.compile(r"(?:.*/)?([^/@:]+/[^/@:]+?)(?:\.git)?/*", re.DOTALL)
_SEPARATORS = re.compile(r"[/\\]")

# The fields of an event as they were written.
Members = dict[str, Raw]
# The fields of an event that are dimensions.
Dimensions = dict[str, object]
_NULL = b"null"
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode
_WRONG = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class GivenDimensions(msgspec.Struct, frozen=True):
    """Dimensions that the sender of a file names, for events without their own."""

    user_id: str | None = None
    agent_version: str | None = None
    tags: tuple[str, ...] = ()
    attributes: Mapping[str, str] = {}

    def completed(self, payload: bytes, event_type: str, most: int) -> bytes:
        """Returns an event with the dimensions that it lacks.

        It stays as it is if it lacks none, or would be larger than `most` bytes with them.
        """
        if self == _NOTHING:
            return payload
        try:
            event = _decode_members(payload)
        except _WRONG:
            return payload
        lacking = self._lacking(event, event_type)
        whole = _encode({**event, **lacking}) if lacking else payload
        return whole if len(whole) <= most else payload

    def _lacking(self, event: Members, event_type: str) -> dict[str, object]:
        fields: dict[str, object] = {}
        if self.user_id and event_type not in NAME_AN_ACTOR and not _has(event, "user_id"):
            fields["user_id"] = self.user_id
        if self.agent_version and not (_has(event, "agent_version") or _has(event, "release")):
            fields["agent_version"] = self.agent_version
        if self.tags and not _has(event, "tags"):
            fields["tags"] = self.tags
        own = _members(event, "attributes")
        if own is not None:
            named = own.keys() | (_members(event, "metadata") or {}).keys()
            missing = {key: value for key, value in self.attributes.items() if key not in named}
            if missing:
                fields["attributes"] = {**own, **missing}
        return fields


_NOTHING = GivenDimensions()


def told(value: str) -> str | None:
    """Returns a text that says something; None for the mark of a redacted value."""
    return value if value and value != REDACTED else None


def dimensions_of(version: str, **attributes: str | None) -> Dimensions:
    """Returns the fields of an event for the version of its agent and for its attributes."""
    pairs = {key: value for key, value in attributes.items() if value and told(value)}
    fields: Dimensions = {"agent_version": told(version), "attributes": pairs}
    return {name: value for name, value in fields.items() if value}


def last_part(path: str) -> str:
    """Returns the name of the last folder of a path of any system, or ""."""
    parts = [part for part in _SEPARATORS.split(path) if part]
    return parts[-1] if parts else ""


def repository_of(address: str) -> str | None:
    """Returns `owner/name` of the address of a repository, and nothing else of it."""
    if "://" in address:
        try:
            path = urlsplit(address).path
        except ValueError:
            return None
    else:
        found = _WITHOUT_SCHEME.fullmatch(address.partition("?")[0])
        path = "" if found is None else found[1]
    named = _OWNER_AND_NAME.fullmatch(path)
    return None if named is None or address.startswith("file:") else named[1]


def _has(event: Members, name: str) -> bool:
    """Returns whether an event has a value that says something, of whatever type."""
    try:
        return name in event and bool(_decode(event[name]))
    except _WRONG:
        return True


def _members(event: Members, name: str) -> Members | None:
    """Returns the members of a value, {} if it is absent, None if it is something else."""
    if name not in event or bytes(event[name]) == _NULL:
        return {}
    try:
        return _decode_members(event[name])
    except _WRONG:
        return None

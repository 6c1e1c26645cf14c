"""The dimensions of events that a file names."""

import re
from urllib.parse import urlsplit

# The address of a repository that has no scheme: `git@host:owner/name`.
_WITHOUT_SCHEME = re.compile(r"[^/\\:]{2,}:([^?#]*)", re.DOTALL)
_OWNER_AND_NAME = re.compile(r"(?:.*/)?([^/@:]+/[^/@:]+?)(?:\.git)?/*", re.DOTALL)
_SEPARATORS = re.compile(r"[/\\]")
_REDACTED = "[redacted]"

# The fields of an event that are dimensions.
Dimensions = dict[str, object]


def told(value: str) -> str | None:
    """Returns a text that says something; None for the mark of a redacted value."""
    return value if value and value != _REDACTED else None


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

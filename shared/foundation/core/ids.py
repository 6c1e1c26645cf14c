"""Identifiers: UUIDs for our rows, 32 hex characters for requests."""

import re
import uuid

_REQUEST_ID = re.compile(r"[0-9a-f]{32}")


def new_id() -> uuid.UUID:
    """Returns a fresh random id for a row."""
    return uuid.uuid4()


def new_request_id() -> str:
    """Returns a fresh request id: 32 lowercase hex characters."""
    return uuid.uuid4().hex


def request_id_or_new(candidate: str | None) -> str:
    """Returns the caller's request id if it is 32 lowercase hex characters, else a fresh one."""
    if candidate is not None and _REQUEST_ID.fullmatch(candidate):
        return candidate
    return new_request_id()


def parse_uuid(text: str) -> uuid.UUID | None:
    """Parses a UUID in its canonical spelling; returns None for a malformed one."""
    try:
        parsed = uuid.UUID(text)
    except ValueError:
        return None
    return parsed if str(parsed) == text.lower() else None

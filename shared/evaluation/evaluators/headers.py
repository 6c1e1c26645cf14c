"""Headers that people add to the requests of an evaluator."""

import re
from collections.abc import Iterable

from shared.foundation.core.errors import Invalid

MAX_HEADERS = 20
MAX_NAME_CHARS = 100
MAX_VALUE_CHARS = 4096

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# Host and Authorization, those about one connection, and those that each request has anyway.
_RESERVED = frozenset(
    {
        *("host", "authorization", "connection", "keep-alive", "te", "trailer"),
        *("transfer-encoding", "upgrade", "idempotency-key"),
    }
)
_RESERVED_PREFIXES = ("content-", "proxy-", "x-watchpost-")


def require_header_names(field: str, names: Iterable[str]) -> None:
    """Checks the names of headers; raises `Invalid` naming the field and the header."""
    seen: set[str] = set()
    for name in names:
        low = name.lower()
        if len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
            raise Invalid.field(field, "a name is none of a header")
        if low in _RESERVED or low.startswith(_RESERVED_PREFIXES):
            raise Invalid.field(f"{field}.{name}", "this header cannot be set")
        if low in seen:
            raise Invalid.field(f"{field}.{name}", "is there twice, in other letters")
        seen.add(low)
    if len(seen) > MAX_HEADERS:
        raise Invalid.field(field, f"must have at most {MAX_HEADERS} headers")


def require_header_value(field: str, value: object) -> str:
    """Returns a value of a header; raises `Invalid` naming the field, and never repeats it."""
    if not isinstance(value, str) or not is_sendable(value):
        raise Invalid.field(
            field, f"must be 1 to {MAX_VALUE_CHARS} printable characters of ASCII on a line"
        )
    return value


def is_sendable(value: str) -> bool:
    """Returns whether a header can have this value, which has no blanks around it."""
    return (
        1 <= len(value) <= MAX_VALUE_CHARS
        and value.isascii()
        and value.isprintable()
        and value == value.strip()
    )

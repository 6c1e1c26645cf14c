"""Literals of ClickHouse, for statements whose values cannot be bound.

People run such statements again through POST /queries/run. Values come from events and may contain
anything. Each becomes one literal that is printable and short enough for the guard: a list of
values takes `MAX_LIST_CHARS` and a few dozen characters at most.
"""

import base64
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

# A statement may have 8000 characters. Longer values are compared by their hashes.
MAX_LITERAL_CHARS = 400
MAX_LIST_CHARS = 1000
# This many characters of base64 are 60 bits of a hash. A hundred values take no more space than the
# list above. Among a million other names, one is confused with them once in ten billion statements.
_DIGEST_CHARS = 10

_ESCAPED = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def text(value: str) -> str:
    """Returns a string literal of ClickHouse with exactly this value, in printable characters."""
    return f"'{''.join(map(_escaped, value))}'"


def _escaped(char: str) -> str:
    if known := _ESCAPED.get(char):
        return known
    if char.isprintable():
        return char
    # ClickHouse reads UTF-8 byte by byte; half of a surrogate pair has no bytes.
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "replace"))


def moment(value: datetime) -> str:
    """Returns a DateTime64(6) literal of UTC with exactly this value."""
    naive = value.astimezone(UTC).replace(tzinfo=None)
    return f"toDateTime64('{naive.isoformat(' ', 'microseconds')}', 6, 'UTC')"


def is_text(column: str, value: str, most: int = MAX_LITERAL_CHARS) -> str:
    """Returns the condition that an expression has this value.

    Compares values whose literals have more than `most` characters by their hash.
    """
    literal = text(value)
    if len(literal) > most:
        return f"halfMD5({column}) = {_half_md5(value)}"
    return f"{column} = {literal}"


def is_one_of(column: str, values: Sequence[str]) -> str:
    """Returns the condition that an expression has one of the values.

    Compares many by their hashes.
    """
    literals = ", ".join(map(text, values))
    if len(literals) <= MAX_LIST_CHARS:
        return f"{column} IN ({literals})"
    digests = "".join(map(_digest, values))
    return (
        f"substring(base64Encode(MD5({column})), 1, {_DIGEST_CHARS})"
        f" IN extractAll('{digests}', '.{{{_DIGEST_CHARS}}}')"
    )


def clause(conditions: Sequence[str]) -> str:
    """Returns the conditions as a WHERE clause on lines of its own, "" without any."""
    return "\nWHERE " + "\n  AND ".join(conditions) if conditions else ""


def _half_md5(value: str) -> int:
    return int.from_bytes(_md5(value)[:8], "big")


def _digest(value: str) -> str:
    return base64.b64encode(_md5(value)).decode()[:_DIGEST_CHARS]


def _md5(value: str) -> bytes:
    return hashlib.md5(value.encode("utf-8", "replace"), usedforsecurity=False).digest()

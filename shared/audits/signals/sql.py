"""SQL of evidence queries: literals, and the conditions of a look spelled with them.

People run these statements again through POST /queries/run, so nothing in them is bound. What
comes from events may hold anything; what this module makes of it is one literal, printable, and
short enough that the statement stays within what the guard takes. An audit may have a hundred
environments, agents and error types of 256 characters: a condition on them has at most
`MAX_LIST_CHARS` characters and a few dozen, so each may stand in a statement once.
"""

import base64
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

from shared.audits.signals.interface import Look, Window

# A statement may have 8000 characters; beyond this many, values are compared by their hashes.
MAX_LITERAL_CHARS = 400
MAX_LIST_CHARS = 1000
# So many characters of base64 are 60 bits of a hash: a hundred values take no more than the list
# above, and one of a million other names is taken for one of them once in ten billion audits.
_DIGEST_CHARS = 10
_ESCAPED = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def text(value: str) -> str:
    """A string literal of ClickHouse with exactly this value, in printable characters."""
    return f"'{''.join(map(_escaped, value))}'"


def moment(value: datetime) -> str:
    """A DateTime64(6) of UTC with exactly this value."""
    naive = value.astimezone(UTC).replace(tzinfo=None)
    return f"toDateTime64('{naive.isoformat(' ', 'microseconds')}', 6, 'UTC')"


def is_text(column: str, value: str) -> str:
    """The condition that an expression has this value; a long value is told by its hash."""
    literal = text(value)
    if len(literal) > MAX_LITERAL_CHARS:
        return f"halfMD5({column}) = {_half_md5(value)}"
    return f"{column} = {literal}"


def is_one_of(column: str, values: Sequence[str]) -> str:
    """The condition that an expression has one of some values; many are told by their hashes."""
    literals = ", ".join(map(text, values))
    if len(literals) <= MAX_LIST_CHARS:
        return f"{column} IN ({literals})"
    digests = "".join(map(_digest, values))
    return (
        f"substring(base64Encode(MD5({column})), 1, {_DIGEST_CHARS})"
        f" IN extractAll('{digests}', '.{{{_DIGEST_CHARS}}}')"
    )


def within(window: Window, column: str = "ts") -> str:
    """The condition that a column of time lies in a window."""
    return f"{column} >= {moment(window.start)} AND {column} < {moment(window.stop)}"


def where(look: Look, window: Window | None = None, *, column: str = "ts") -> str:
    """What `Look.where` says, in literals and without the organization, which the views know."""
    return " AND ".join((within(look.window if window is None else window, column), *scope(look)))


def scope(look: Look) -> list[str]:
    """The conditions of a look's scope, in literals; none where it admits all."""
    conditions = []
    if look.environments:
        conditions.append(is_one_of("environment", look.environments))
    if look.agent_ids:
        conditions.append(is_one_of("agent_id", look.agent_ids))
    return conditions


def _escaped(char: str) -> str:
    if known := _ESCAPED.get(char):
        return known
    if char.isprintable():
        return char
    # ClickHouse reads the bytes of UTF-8 one by one; half a surrogate pair has none.
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "replace"))


def _half_md5(value: str) -> int:
    return int.from_bytes(_md5(value)[:8], "big")


def _digest(value: str) -> str:
    return base64.b64encode(_md5(value)).decode()[:_DIGEST_CHARS]


def _md5(value: str) -> bytes:
    return hashlib.md5(value.encode("utf-8", "replace"), usedforsecurity=False).digest()

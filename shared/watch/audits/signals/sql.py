"""SQL of evidence queries: literals, and the conditions of a look written with them.

People run these statements again through POST /queries/run, so nothing in them is bound. Values
from events may contain anything. This module turns each into one literal that is printable and
short enough for the guard. An audit may have a hundred environments, agents and error types of 256
characters. A condition on them has at most a few dozen characters more than `MAX_LIST_CHARS`, so
each may appear in a statement once.
"""

import base64
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

from shared.foundation.clickhouse.literals import text as text
from shared.watch.audits.signals.interface import Look, Window

# A statement may have 8000 characters. Longer values are compared by their hashes.
MAX_LITERAL_CHARS = 400
MAX_LIST_CHARS = 1000
# This many characters of base64 are 60 bits of a hash. A hundred values take no more space than the
# list above. Among a million other names, one is confused with them once in ten billion audits.
_DIGEST_CHARS = 10


def moment(value: datetime) -> str:
    """Returns a DateTime64(6) literal of UTC with exactly this value."""
    naive = value.astimezone(UTC).replace(tzinfo=None)
    return f"toDateTime64('{naive.isoformat(' ', 'microseconds')}', 6, 'UTC')"


def is_text(column: str, value: str) -> str:
    """Returns the condition that an expression has this value.

    Compares long values by their hash.
    """
    literal = text(value)
    if len(literal) > MAX_LITERAL_CHARS:
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


def within(window: Window, column: str = "ts") -> str:
    """Returns the condition that a column of time lies in a window."""
    return f"{column} >= {moment(window.start)} AND {column} < {moment(window.stop)}"


def where(look: Look, window: Window | None = None, *, column: str = "ts") -> str:
    """Returns the conditions of `Look.where` in literals; the views add the organization."""
    return " AND ".join((within(look.window if window is None else window, column), *scope(look)))


def scope(look: Look) -> list[str]:
    """Returns the conditions of a look's scope in literals; none if it admits all."""
    conditions = []
    if look.environments:
        conditions.append(is_one_of("environment", look.environments))
    if look.agent_ids:
        conditions.append(is_one_of("agent_id", look.agent_ids))
    return conditions


def _half_md5(value: str) -> int:
    return int.from_bytes(_md5(value)[:8], "big")


def _digest(value: str) -> str:
    return base64.b64encode(_md5(value)).decode()[:_DIGEST_CHARS]


def _md5(value: str) -> bytes:
    return hashlib.md5(value.encode("utf-8", "replace"), usedforsecurity=False).digest()

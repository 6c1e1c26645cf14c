"""Rewrites the API's timestamps where a statement compares a column of time with one.

ClickHouse accepts `ts >= '2026-11-02T10:00:00.5Z'` when it computes the comparison, but refuses it
when it looks up the range in the primary key, which is the purpose of such a condition. The guard
therefore writes these timestamps as ClickHouse does, and no others.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from shared.foundation.clickhouse.published import TABLES
from shared.reading.queries.guard.lexer import Token, TokenKind

TYPE = "DateTime64(6, 'UTC')"

_COLUMNS = frozenset(
    column.name
    for table in TABLES
    for column in table.columns
    if column.kind.startswith("timestamp")
)
_COMPARISONS = ("=", "==", "!=", "<>", "<", "<=", ">", ">=", "<=>")
_RFC_3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)
# The range that DateTime64 covers in microseconds.
_YEARS = range(1900, 2299)


def spelled(text: object) -> str | None:
    """Returns the moment in UTC as ClickHouse writes it; None if the text is not RFC 3339."""
    if not isinstance(text, str) or not _RFC_3339.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f") if moment.year in _YEARS else None


def compared(tokens: Sequence[Token]) -> frozenset[int]:
    """Returns the positions of strings and parameters that are compared with a column of time."""
    found: set[int] = set()
    for at, token in enumerate(tokens):
        if token.kind not in (TokenKind.WORD, TokenKind.NAME) or token.text not in _COLUMNS:
            continue
        before, after = at - 1, at + 1
        while before > 0 and tokens[before].is_mark("."):
            before -= 2
        if before > 0 and tokens[before].is_mark(*_COMPARISONS):
            found.add(before - 1)
        if after < len(tokens) and tokens[after].is_mark(*_COMPARISONS):
            found.add(after + 1)
        if after < len(tokens) and tokens[after].word == "NOT":
            after += 1
        if after < len(tokens) and tokens[after].word == "BETWEEN":
            found |= {after + 1, after + 3}
    return frozenset(
        at
        for at in found
        if at < len(tokens) and tokens[at].kind in (TokenKind.STRING, TokenKind.PARAM)
    )

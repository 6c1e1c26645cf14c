"""Spans of SQL statements, which show their operation and their tables, and no other text."""

import re
from collections.abc import Container
from functools import lru_cache

from shared.foundation.core.tracing import spans
from shared.foundation.core.tracing.spans import BlockSpan

_VERBS = frozenset(
    ["SELECT", "INSERT", "UPDATE", "DELETE", "ALTER", "CREATE", "DROP", "SET", "SHOW", "EXISTS"]
)
_FIRST = re.compile(r"[\s(]*(\w+)")
# The verb of a statement that begins with WITH, unless it is SELECT. Locks and conflicts contain
# the word UPDATE too.
_CHANGE = re.compile(
    r"\b(INSERT)\s+INTO\b|\b(DELETE)\s+FROM\b|(?<!FOR )(?<!KEY )(?<!DO )\b(UPDATE)\s+\w"
)
_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+(?:\w+\.)?(\w+)", re.IGNORECASE)
_MAX_TABLES = 4
# Statements of this code are few, and their values are bound.
_KEPT = 512


class Statements:
    """The statements of one database; `tables` are the only names of it that a span may show."""

    def __init__(self, system: str, tables: Container[str]) -> None:
        self._system = system
        self._tables = tables
        self._summary = lru_cache(_KEPT)(self._summarised)

    def span(self, sql: str) -> BlockSpan:
        """Begins the span of a statement; there is none outside of other spans."""
        # Asked first, because a summary has its cost.
        if not spans.is_inside():
            return spans.NOTHING
        operation, tables = self._summary(sql)
        summary = " ".join([operation, *tables])
        attributes = {
            "db.system.name": self._system,
            "db.operation.name": operation,
            "db.query.summary": summary,
        }
        if len(tables) == 1:
            attributes["db.collection.name"] = tables[0]
        return spans.part(summary, attributes)

    def _summarised(self, sql: str) -> tuple[str, tuple[str, ...]]:
        """Returns the operation and the tables of a statement."""
        named = dict.fromkeys(name for name in _TABLE.findall(sql) if name in self._tables)
        return operation_of(sql), tuple(named)[:_MAX_TABLES]


def operation_of(sql: str) -> str:
    """Returns the verb of a statement in upper case; `OTHER` for one that is rare."""
    first = _FIRST.match(sql)
    verb = first[1].upper() if first else ""
    if verb == "WITH":
        change = _CHANGE.search(sql)
        verb = next(filter(None, change.groups())) if change else "SELECT"
    return verb if verb in _VERBS else "OTHER"

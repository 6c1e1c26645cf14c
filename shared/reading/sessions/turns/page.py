"""One page of the turns of a session."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.cursor import decode_cursor, encode_cursor
from shared.reading.sessions.event_stream import event_objects
from shared.reading.sessions.facts import SessionFacts
from shared.reading.sessions.turns.rule import cut, turns

# The texts of a page together, in characters. Turns are cut before they are kept.
MAX_PAGE_CHARS = 16 * 1024 * 1024
# A number of more digits is no id and no count.
_MOST_DIGITS = 400


class TurnsPlace(NamedTuple):
    """The number of the first turn of a page."""

    n: int


class TurnsPage(NamedTuple):
    """Some turns as the API has them, the number of all, and the cursor of the next ones."""

    turns: list[dict[str, Any]]
    total: int
    next_cursor: str | None


def page(
    clickhouse: ClickHouse,
    org_id: str,
    facts: SessionFacts,
    *,
    max_text: int,
    limit: int,
    cursor: str | None = None,
) -> TurnsPage:
    """Returns a page of the turns of a session, oldest first.

    Reads all events of the session, because a turn depends on those before it, and keeps only the
    turns of the page. It ends before `limit` if its texts would exceed `MAX_PAGE_CHARS`. Raises
    `Invalid` for a cursor that is none.
    """
    first = 1 if cursor is None else decode_cursor(cursor, TurnsPlace).n
    rows: list[dict[str, Any]] = []
    total = chars = 0
    for turn in turns(_events(clickhouse, org_id, facts)):
        total = turn["n"]
        if total != first + len(rows) or len(rows) >= limit:
            continue
        row = cut(turn, max_text)
        chars += _size(row)
        if rows and chars > MAX_PAGE_CHARS:
            limit = len(rows)
        else:
            rows.append(row)
    after = first + len(rows)
    next_cursor = encode_cursor(TurnsPlace(after)) if rows and after <= total else None
    return TurnsPage(rows, total, next_cursor)


def _size(row: dict[str, Any]) -> int:
    tool = row["tool"] or {}
    return len(row["text"]) + len(tool.get("input", "")) + len(tool.get("output", ""))


def _events(clickhouse: ClickHouse, org_id: str, facts: SessionFacts) -> Iterator[dict[str, Any]]:
    for event in event_objects(clickhouse, org_id, facts):
        try:
            yield json.loads(event)
        except ValueError:
            # The parser refuses whole numbers of thousands of digits, which are JSON.
            yield json.loads(event, parse_int=_whole)


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) < _MOST_DIGITS else float(digits)

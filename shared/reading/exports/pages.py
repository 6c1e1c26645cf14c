"""The rows of an export, page by page.

Each page is a statement of its own. So memory is bounded, and a client that reads slowly occupies
no connection to ClickHouse. Rows that are stored meanwhile may be missing.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.cursor import Page
from shared.reading.evaluations import listing as evaluations
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.evaluations.records import Evaluation
from shared.reading.events.filters import EventFilters
from shared.reading.events.page import read_page
from shared.reading.exports.columns import COLUMNS, Row
from shared.reading.sessions import listing as sessions
from shared.reading.sessions.listing import ListedSession
from shared.reading.sessions.selection import SessionFilters

# A page is at most 32 MiB, however many rows it may have.
_EVENTS, _SESSIONS, _EVALUATIONS = 5000, 200, 1000

_Read = TypeVar("_Read")

EVENT_NAMES = tuple(column.name for column in COLUMNS["events"])


def of_events(clickhouse: ClickHouse, org_id: str, filters: EventFilters) -> Iterator[list[Row]]:
    """Yields pages of events, oldest first."""

    def read(cursor: str | None) -> Page[Row]:
        return read_page(
            clickhouse, org_id, EVENT_NAMES, filters, ascending=True, cursor=cursor, limit=_EVENTS
        )

    yield from _pages(read)


def of_sessions(
    clickhouse: ClickHouse, org_id: str, filters: SessionFilters
) -> Iterator[list[Row]]:
    """Yields pages of sessions, the one with the oldest last event first."""

    def read(cursor: str | None) -> Page[ListedSession]:
        return sessions.page(
            clickhouse, org_id, filters, limit=_SESSIONS, cursor=cursor, ascending=True
        )

    for page in _pages(read):
        yield [session_row(one) for one in page]


def of_evaluations(
    clickhouse: ClickHouse, org_id: str, filters: EvaluationFilters
) -> Iterator[list[Row]]:
    """Yields pages of results, newest first."""

    def read(cursor: str | None) -> Page[Evaluation]:
        return evaluations.page(clickhouse, org_id, filters, limit=_EVALUATIONS, cursor=cursor)

    for page in _pages(read):
        yield [evaluation_row(one) for one in page]


def session_row(session: ListedSession) -> Row:
    """Returns the values of the columns of a session."""
    values = {**session.facts._asdict(), **session.totals._asdict()}
    return tuple(values[column.name] for column in COLUMNS["sessions"])


def evaluation_row(record: Evaluation) -> Row:
    """Returns the values of the columns of a result."""
    return tuple(getattr(record, column.name) for column in COLUMNS["evaluations"])


def _pages(read: Callable[[str | None], Page[_Read]]) -> Iterator[list[_Read]]:
    page = read(None)
    yield page.rows
    while page.next_cursor is not None:
        page = read(page.next_cursor)
        yield page.rows

"""The window of an audit in a test, and general checks of a signal's findings."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from shared.foundation.clickhouse import ClickHouse
from shared.intake.ingest import store
from shared.intake.ingest.decode import decode_events
from shared.intake.ingest.rows import columns_of
from shared.intake.ingest.rules import IngestRules
from shared.reading.queries.run import QueryOwner, QueryRunner
from shared.watch.audits.signals.interface import (
    MAX_CITED,
    Candidate,
    Find,
    Look,
    Sensitivity,
    Window,
)

# The day of `tests.support.events.event`.
DAY = Window(datetime(2026, 11, 2, tzinfo=UTC), datetime(2026, 11, 3, tzinfo=UTC))
SENSITIVITIES: tuple[Sensitivity, ...] = ("low", "medium", "high")
_MAX_EVENT_BYTES = 1024 * 1024


def ingest(clickhouse: ClickHouse, org_id: str, lines: Iterable[bytes]) -> None:
    """Stores events as one batch as a worker does, with all derived rows."""
    decoded = decode_events(list(lines), org_id, _MAX_EVENT_BYTES)
    assert decoded.skipped == 0, decoded.errors
    store.insert(clickhouse, columns_of(org_id, decoded.batch, IngestRules()))


def look_at(clickhouse: ClickHouse, org_id: str, window: Window = DAY, **fields: Any) -> Look:
    """Returns a look with its number of sessions, as an audit makes it."""
    look = Look(clickhouse, org_id, window, **fields)
    where = look.where()
    statement = f"SELECT uniqExact(session_id) FROM events FINAL WHERE {where}"
    [(total,)] = clickhouse.rows(statement, where.params)
    return replace(look, total_sessions=total)


def found_by(find: Find, look: Look) -> dict[tuple[str, ...], Candidate]:
    """Returns a signal's findings by key, after checks that hold for any candidate."""
    candidates = find(look)
    found = {candidate.key: candidate for candidate in candidates}
    assert len(found) == len(candidates)
    for one in candidates:
        assert look.window.start <= one.first_seen_at <= one.last_seen_at < look.window.stop
        assert 0 < len(one.session_ids) <= MAX_CITED
        assert 0 < len(one.event_ids) <= MAX_CITED
        assert len(set(one.session_ids)) == len(one.session_ids) <= one.affected_sessions
        assert len(set(one.event_ids)) == len(one.event_ids)
        for shown in (one.title, one.description):
            assert shown.isprintable()
            assert len(shown) < 1000
    return found


def require_reproduced(runner: QueryRunner, look: Look, candidate: Candidate) -> None:
    """Checks that the evidence queries run as people's SQL, and the first returns the numbers."""
    asker = QueryOwner(look.org_id, "test")
    first, *others = (runner.run(asker, query.sql, []).result for query in candidate.queries)
    [row] = first.rows
    named = dict(zip((name for name, _ in first.columns), row, strict=True))
    assert named == dict(candidate.numbers)
    for result in others:
        assert result.rows


def nested(find: Find, look: Look) -> list[set[tuple[str, ...]]]:
    """Returns the keys at each sensitivity. Each must hold those before it."""
    keys = [set(found_by(find, replace(look, sensitivity=one))) for one in SENSITIVITIES]
    assert keys[0] <= keys[1] <= keys[2]
    return keys

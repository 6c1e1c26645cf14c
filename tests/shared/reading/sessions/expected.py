"""The expected sessions, aggregated one event at a time."""

from collections import Counter
from collections.abc import Sequence

from shared.reading.sessions.facts import SessionFacts
from shared.reading.sessions.listing import ListedSession
from shared.reading.sessions.totals import AgentCount, SessionTotals
from tests.support.events import Stored, by_session


def sessions_of(stored: Sequence[Stored]) -> list[ListedSession]:
    """Returns rows of never-evaluated sessions, newest first. `stored` may hold copies."""
    newest: dict[str, int] = {}
    for item in stored:
        newest[item.session_id] = max(newest.get(item.session_id, 0), item.arrival)
    sessions = [
        ListedSession(_facts_of(events, newest[name] >> 21), _totals_of(events), None)
        for name, events in by_session(stored).items()
    ]
    return sorted(
        sessions, key=lambda row: (row.facts.last_event_at, row.facts.session_id), reverse=True
    )


def _facts_of(events: Sequence[Stored], last_arrival_ms: int) -> SessionFacts:
    root = _root_of(events)
    ends = [item.ts for item in events if (item.event_type, item.agent_id) == ("agent_end", root)]
    return SessionFacts(
        session_id=events[0].session_id,
        agent_id=root,
        environment=events[0].environment,
        started_at=events[0].ts,
        last_event_at=events[-1].ts,
        ended_at=ends[-1] if ends else None,
        last_arrival_ms=last_arrival_ms,
        user_id=next((item.user_id for item in events if item.user_id), None),
        agent_version=_version_of(events, root),
        has_lists=any(item.tags or item.attributes for item in events),
    )


def _version_of(events: Sequence[Stored], root: str) -> str | None:
    versions = [(item.agent_id, item.agent_version) for item in events if item.agent_version]
    of_root = [version for agent, version in versions if agent == root]
    return next(iter(of_root or [version for _, version in versions]), None)


def _root_of(events: Sequence[Stored]) -> str:
    starts = [item for item in events if item.event_type == "agent_start"]
    return (starts or events)[0].agent_id


def _totals_of(events: Sequence[Stored]) -> SessionTotals:
    counts = Counter(item.agent_id for item in events)
    root = _root_of(events)
    ends = [item for item in events if (item.event_type, item.agent_id) == ("agent_end", root)]
    agents = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return SessionTotals(
        agents=tuple(AgentCount(*pair) for pair in agents),
        event_count=len(events),
        error_count=sum(item.is_error for item in events),
        input_tokens=sum(item.input_tokens or 0 for item in events),
        output_tokens=sum(item.output_tokens or 0 for item in events),
        first_event_id=events[0].event_id,
        last_event_id=events[-1].event_id,
        outcome=ends[-1].outcome if ends else None,
        failed=bool(ends) and ends[-1].is_error,
        tags=tuple(sorted({tag for item in events for tag in item.tags})),
        attributes=_attributes_of(events),
        cache_read_tokens=sum(item.cache_read_tokens or 0 for item in events),
        cache_write_tokens=0,
        cache_write_1h_tokens=0,
        reasoning_tokens=0,
        model_calls=0,
        unpriced_calls=0,
        cost_usd=None,
        reported_usd=None,
        computed_usd=None,
    )


def _attributes_of(events: Sequence[Stored]) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in events:
        found = {**item.attributes, **found}
    return found

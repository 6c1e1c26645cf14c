"""Sessions as JSON."""

from shared.core.clock import format_us
from shared.sessions.listing import ListedSession
from web.evaluations.rows import evaluation_row


def session_row(session: ListedSession) -> dict[str, object]:
    """Returns the row of one session."""
    facts, totals, latest = session
    return {
        "session_id": facts.session_id,
        "agent_id": facts.agent_id,
        "agents": [agent._asdict() for agent in totals.agents],
        "environment": facts.environment,
        "event_count": totals.event_count,
        "error_count": totals.error_count,
        "started_at": format_us(facts.started_at),
        "last_event_at": format_us(facts.last_event_at),
        "ended_at": None if facts.ended_at is None else format_us(facts.ended_at),
        "first_event_id": totals.first_event_id,
        "last_event_id": totals.last_event_id,
        "input_tokens": totals.input_tokens,
        "output_tokens": totals.output_tokens,
        "latest_evaluation": None if latest is None else evaluation_row(latest),
    }

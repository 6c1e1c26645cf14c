"""Tools that read sessions."""

from typing import Any

from shared.assistant.asker import Asker
from shared.assistant.tools.filtered import filtered
from shared.assistant.tools.tool import Arguments, Rows, Text, Tool, ToolResult
from shared.assistant.values import ALONE, fields_of, plain
from shared.evaluation.evaluation_jobs.state.service import session_with_state
from shared.foundation.core import pages
from shared.foundation.core.clock import format_us
from shared.reading.sessions.listing import ListedSession, page
from shared.reading.sessions.selection import SessionFilters

_RESULT = ("status", "scores", "summary", "error", "attempt_count", "duration_ms")


_OfSessions = filtered("OfSessions", SessionFilters)


class ListSessions(_OfSessions):  # type: ignore[misc, valid-type] # made from the declared filters
    """Filters of sessions; the time is that of the last event."""

    oldest_first: bool = False
    limit: Rows = 20


class ReadSession(Arguments):
    """One session."""

    session_id: Text


def _list(asker: Asker, wanted: ListSessions) -> ToolResult:
    found = page(
        asker.runtime.clickhouse,
        asker.org,
        wanted.filters,
        limit=wanted.limit,
        cursor=None,
        ascending=wanted.oldest_first,
    )
    rows = [_row(asker, one) for one in found.rows]
    return ToolResult({"sessions": rows, "more": found.next_cursor is not None}, len(rows))


def _read(asker: Asker, wanted: ReadSession) -> ToolResult:
    one, state = session_with_state(asker.runtime, asker.org_id, asker.org_slug, wanted.session_id)
    latest = one.latest_evaluation
    reasoning = {} if latest is None else {"reasoning": plain(latest.reasoning, ALONE)}
    return ToolResult({**_row(asker, one, ALONE), **reasoning, "evaluation_state": state.sentence})


def _row(asker: Asker, one: ListedSession, most: int = 300) -> dict[str, Any]:
    facts, totals, latest = one
    return {
        "session_id": facts.session_id,
        "link": pages.session(asker.org_slug, facts.session_id),
        "agents": {agent.agent_id: agent.event_count for agent in totals.agents},
        "environment": facts.environment,
        "started_at": format_us(facts.started_at),
        "last_event_at": format_us(facts.last_event_at),
        "ended_at": None if facts.ended_at is None else format_us(facts.ended_at),
        "duration_ms": (facts.last_event_at - facts.started_at) / 1000,
        "events": totals.event_count,
        "errors": totals.error_count,
        "input_tokens": totals.input_tokens,
        "output_tokens": totals.output_tokens,
        "evaluation": None if latest is None else fields_of(latest, _RESULT, most),
    }


TOOLS = (
    Tool(
        "list_sessions",
        "evaluations:read",
        "Lists sessions, newest first, with their counts and the newest evaluation of each.",
        ListSessions,
        _list,
    ),
    Tool(
        "read_session",
        "evaluations:read",
        "Reads one session: counts, scores with the evaluator's reasoning, or why it has no score.",
        ReadSession,
        _read,
    ),
)

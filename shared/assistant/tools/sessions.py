"""Tools that read sessions."""

from typing import Annotated, Any

from msgspec import Meta

from shared.assistant.asker import Asker
from shared.assistant.tools.filtered import filtered
from shared.assistant.tools.tool import Arguments, Rows, Text, Tool, ToolResult
from shared.assistant.values import ALONE, fields_of, number, plain
from shared.evaluation.evaluation_jobs.state.service import session_with_state
from shared.foundation.core import pages
from shared.foundation.core.clock import format_us
from shared.reading.costs.session import costs_of
from shared.reading.sessions.listing import ListedSession, page
from shared.reading.sessions.selection import SessionFilters
from shared.reading.sessions.sorting import LAST_EVENT, NAMES

_RESULT = ("status", "scores", "summary", "error", "attempt_count", "duration_ms")


_SORTS = (
    f"{', '.join(NAMES)} or score:<key> of the newest evaluation, the highest first; tokens are"
    " input and output. All but the first look at sessions of the 30 days before `until`, or since"
    " `since`, at most 92 days"
)
# Of one session only.
_MORE = ("cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens", "reasoning_tokens")

_OfSessions = filtered("OfSessions", SessionFilters)


class ListSessions(_OfSessions):  # type: ignore[misc, valid-type] # made from the declared filters
    """Filters of sessions; the time is that of the last event."""

    sort: Annotated[Text, Meta(description=_SORTS)] = LAST_EVENT
    oldest_first: Annotated[bool, Meta(description="the oldest, or the lowest value, first")] = (
        False
    )
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
        sort=wanted.sort,
    )
    rows = [_row(asker, one) for one in found.rows]
    return ToolResult({"sessions": rows, "more": found.next_cursor is not None}, len(rows))


def _read(asker: Asker, wanted: ReadSession) -> ToolResult:
    one, state = session_with_state(asker.runtime, asker.org_id, asker.org_slug, wanted.session_id)
    latest = one.latest_evaluation
    reasoning = {} if latest is None else {"reasoning": plain(latest.reasoning, ALONE)}
    more = {
        "attributes": plain(one.totals.attributes),
        **{name: getattr(one.totals, name) for name in _MORE},
        "reported_usd": number(one.totals.reported_usd),
        "computed_usd": number(one.totals.computed_usd),
        **reasoning,
        "costs": plain(costs_of(asker.runtime.clickhouse, asker.org, one.facts)),
    }
    return ToolResult({**_row(asker, one, ALONE), **more, "evaluation_state": state.sentence})


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
        "user_id": facts.user_id,
        "agent_version": facts.agent_version,
        "tags": list(totals.tags),
        "model_calls": totals.model_calls,
        "unpriced_calls": totals.unpriced_calls,
        "cost_usd": number(totals.cost_usd),
        "evaluation": None if latest is None else fields_of(latest, _RESULT, most),
    }


TOOLS = (
    Tool(
        "list_sessions",
        "evaluations:read",
        "Lists sessions, newest first or by `sort`, with their counts, costs and the newest"
        " evaluation of each. cost_usd is null without a priced call, and a lower bound if there"
        " are unpriced_calls.",
        ListSessions,
        _list,
    ),
    Tool(
        "read_session",
        "evaluations:read",
        "Reads one session: counts, dimensions, scores with the evaluator's reasoning, or why it"
        " has no score; and what its calls cost by agent, model and provider, the dearest first.",
        ReadSession,
        _read,
    ),
)

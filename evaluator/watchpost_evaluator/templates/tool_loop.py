"""How often an agent made the same call of a tool one after the other."""

from __future__ import annotations

import json

from watchpost_evaluator import Number, Session, Skip, ToolCall, evaluator

MOST = 2  # calls in a row up to which a session passes


@evaluator("tool_loop", version="1", result="number", labels=["tools"])
def tool_loop(session: Session) -> Number | Skip:
    """Finds the longest row of calls by one agent with the same tool and input."""
    longest: list[ToolCall] = []
    rows: dict[str, list[ToolCall]] = {}
    contents: dict[str, str] = {}
    for call in session.tool_calls():
        if call.start is None:
            continue
        agent, content = call.agent_id, json.dumps([call.name, call.input], sort_keys=True)
        if contents.get(agent) != content:
            contents[agent], rows[agent] = content, []
        rows[agent].append(call)
        longest = max(longest, rows[agent], key=len)
    if not longest:
        return Skip("no_tools")
    repeated = f"{longest[0].name} was called {len(longest)} times in a row with the same input"
    return Number(
        len(longest),
        repeated if len(longest) > 1 else "no call was repeated",
        unit="calls",
        passed=len(longest) <= MOST,
        evidence=longest if len(longest) > 1 else (),
    )

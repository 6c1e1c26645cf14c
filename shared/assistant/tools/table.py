"""The table of all tools that read."""

from collections.abc import Mapping

from shared.assistant.asker import Asker
from shared.assistant.tools import (
    costs,
    dimensions,
    evaluations,
    events,
    queries,
    sessions,
    watching,
)
from shared.assistant.tools.tool import Tool, ToolResult
from shared.foundation.core.errors import NotFound

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for module in (sessions, dimensions, events, costs, evaluations, watching, queries)
    for tool in module.TOOLS
}


def allowed(asker: Asker) -> list[Tool]:
    """Returns the tools whose permission the asker holds."""
    return [tool for tool in TOOLS.values() if tool.permission in asker.permissions]


def call(asker: Asker, name: str, arguments: bytes) -> ToolResult:
    """Runs a tool by its name; raises `NotFound` for another name, and the tool's errors."""
    tool = TOOLS.get(name)
    if tool is None:
        raise NotFound(f"there is no tool {name!r}: use one of {', '.join(TOOLS)}")
    return tool.call(asker, arguments)

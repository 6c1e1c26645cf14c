"""The families of events: which types begin and end a call, and what else depends on the family.

A new family is a row here. Everything else follows from it: the pairs of an outline, the defaults
of latencies, the findings of audits, the checks of ingest, and the pages (`bin/ui types`).
"""

from dataclasses import dataclass
from typing import Literal

# The icon and the colour of events on the pages.
Kind = Literal["agent", "model", "tool", "hook", "human"]
# The calls whose latencies people ask for, in their words.
Measured = Literal["tools", "models", "hooks", "people"]


@dataclass(frozen=True, kw_only=True)
class Family:
    """The two types of events of a call.

    `noun` is a part of the hash by which an outline pairs events.
    """

    noun: str
    start: str
    end: str
    # The column whose value both events share.
    key: str
    kind: Kind
    # The column of the call's name. Calls with names are the steps of an agent's work: only they
    # count in the latencies of alerts, and have a default key in those of the API.
    name: str | None = None
    # None if nobody asks how long they take.
    measured: Measured | None = None
    # The word of findings about failures; None for calls that cannot fail.
    unit: Literal["call", "run"] | None = None
    # Whether the end's `outcome` can be a failure.
    has_outcome: bool = False

    @property
    def types(self) -> tuple[str, str]:
        """Returns the types of the start and of the end."""
        return self.start, self.end

    @property
    def group(self) -> str:
        """Returns the column by which calls are grouped: that of their names, else the agent."""
        return self.name or "agent_id"


TOOL = Family(
    noun="tool",
    start="tool_use",
    end="tool_result",
    key="tool_call_id",
    kind="tool",
    name="tool_name",
    measured="tools",
    unit="call",
    has_outcome=True,
)
MODEL = Family(
    noun="model",
    start="model_request",
    end="model_response",
    key="request_id",
    kind="model",
    name="model",
    measured="models",
    unit="call",
)
FAMILIES = (
    TOOL,
    MODEL,
    Family(
        noun="hook",
        start="hook_triggered",
        end="hook_completed",
        key="hook_id",
        kind="hook",
        name="hook_name",
        measured="hooks",
        unit="call",
        has_outcome=True,
    ),
    Family(
        noun="human",
        start="human_wait",
        end="human_input",
        key="input_id",
        kind="human",
        measured="people",
    ),
    Family(
        noun="pause",
        start="agent_pause",
        end="agent_resume",
        key="pause_id",
        kind="human",
    ),
    Family(
        noun="agent",
        start="agent_start",
        end="agent_end",
        key="agent_id",
        kind="agent",
        unit="run",
        has_outcome=True,
    ),
)
NAMED = tuple(family for family in FAMILIES if family.name)

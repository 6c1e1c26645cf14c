"""Where a finding can stand, and what that means."""

from typing import Literal

Status = Literal["open", "recurring", "resolved", "dismissed", "muted"]

# Somebody should look at it: what is listed and counted unless told otherwise.
ACTIVE: tuple[Status, ...] = ("open", "recurring")
# Nobody wants to see it, nor what has its fingerprint.
SUPPRESSED: tuple[Status, ...] = ("muted", "dismissed")

# What a finding can be limited to: by its audit, or because the pattern is of these alone.
SCOPES = (
    "environments",
    "agent_ids",
    "event_types",
    "tool_names",
    "hook_names",
    "models",
    "error_types",
)

"""The statuses of findings and their meaning."""

from typing import Literal

Status = Literal["open", "recurring", "resolved", "dismissed", "muted"]

# Somebody should look at it: these are listed and counted by default.
ACTIVE: tuple[Status, ...] = ("open", "recurring")
# People want to see neither the finding nor others with its fingerprint.
SUPPRESSED: tuple[Status, ...] = ("muted", "dismissed")

# The scope of a finding: the audit's filters, or narrower if the pattern only concerns some values.
SCOPES = (
    "environments",
    "agent_ids",
    "event_types",
    "tool_names",
    "hook_names",
    "models",
    "error_types",
)

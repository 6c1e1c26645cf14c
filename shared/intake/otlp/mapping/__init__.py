"""Spans and log records become events: tables of data, and pure functions that apply them.

`tables`, `event_types` and `vendors` have the rules. Nothing here reads a clock, a store
or a setting, so the same record with the same decisions always becomes the same bytes.
"""

from shared.intake.otlp.mapping.coverage import has_content, unmapped
from shared.intake.otlp.mapping.kinds import is_root_agent, kind_of, real_span, same_thing
from shared.intake.otlp.mapping.logs import log_evaluations, log_events
from shared.intake.otlp.mapping.naming import (
    environment_of,
    named_environment,
    own_agent,
    root_agent,
    service_agent,
    session_name,
)
from shared.intake.otlp.mapping.payload import Event
from shared.intake.otlp.mapping.spans import Assignment, span_evaluations, span_events
from shared.intake.otlp.mapping.tables import Kind, Role

__all__ = [
    "Assignment",
    "Event",
    "Kind",
    "Role",
    "environment_of",
    "has_content",
    "is_root_agent",
    "kind_of",
    "log_evaluations",
    "log_events",
    "named_environment",
    "own_agent",
    "real_span",
    "root_agent",
    "same_thing",
    "service_agent",
    "session_name",
    "span_evaluations",
    "span_events",
    "unmapped",
]

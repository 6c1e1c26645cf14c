"""The types of events and their fields, as data."""

from shared.intake.otlp.mapping.tables import Role

# The event at the start and the event at the end of a span of each role, with their fields. A span
# without a start has one event, at its start. `field=value` takes a value of another name.
ENDING = ("duration_ms", "error", "error_type", "traceback")
EventRow = tuple[str, tuple[str, ...]]
_TOOL_EVENTS: tuple[EventRow, EventRow] = (
    ("tool_use", ("tool_name", "tool_call_id", "tool_kind", "input")),
    ("tool_result", ("tool_name", "tool_call_id", "output", *ENDING)),
)
EVENTS: dict[Role, tuple[EventRow | None, EventRow]] = {
    "agent": (
        ("agent_start", ("goal", "parent_id", "user_id")),
        ("agent_end", ("outcome", "summary", *ENDING)),
    ),
    "model": (
        ("model_request", ("model=request_model", "messages", "system", "tools", "request_id")),
        (
            "model_response",
            (
                *("model", "role", "content", "tool_calls", "reasoning", "stop_reason"),
                *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
                *("cache_write_1h_tokens", "audio_input_tokens", "audio_output_tokens"),
                *("reasoning_tokens", "web_searches", "service_tier", "provider", "cost_usd"),
                *("response_id", "request_id", *ENDING),
            ),
        ),
    ),
    "tool": _TOOL_EVENTS,
    "retrieval": _TOOL_EVENTS,
    "guardrail": (
        ("hook_triggered", ("hook_name", "hook_id", "trigger_event", "input")),
        ("hook_completed", ("hook_name", "hook_id", "outcome", "output", *ENDING)),
    ),
    "span": (None, ("span", ("name", "span_kind", "input", "output", *ENDING))),
}

# Events that do not come from the start or the end of a span.
ERROR: EventRow = ("error", ("error_type", "message", "traceback"))
EVALUATION_RESULT: EventRow = (
    "evaluation_result",
    (
        *("evaluation_name", "score", "label", "explanation", "request_id"),
        *("error", "error_type"),
    ),
)
MODEL_MESSAGE: EventRow = (
    "model_message",
    (
        *("role", "content", "tool_calls", "tool_call_id", "name", "reasoning"),
        *("stop_reason", "request_id"),
    ),
)
MODEL_CONTENT: EventRow = (
    "model_content",
    (
        *("model", "messages", "system", "tools", "role", "content", "tool_calls", "reasoning"),
        *("stop_reason", "request_id"),
    ),
)
LOG: EventRow = ("log", ("severity", "body", "name"))

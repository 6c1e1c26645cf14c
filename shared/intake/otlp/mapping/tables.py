"""The mapping as data: a new convention of attribute names is a row here.

A source is the name of an attribute, read in this notation:

- `name{a|b}`: the attribute is an object or its JSON text; its member `a`, else `b`
- `name{a.b}`: the member `b` of the member `a`
- `name{a+b}`: the member `a`, with `b` added if it is there
- `name{a+b/c&d}`: the same, but `c` and `d` are added if `b` is not there
- `name[0]`: the attribute is a list or its JSON text; its first item
- `name.N`: one list, spread over attributes such as `name.0.role` and `name.1.role`
- `name + other`: both together
- `name{*}`, `name.*`: each member, and each attribute whose name begins so

Of several sources the first counts that has a value.
"""

from typing import Literal

from shared.intake.otlp.mapping.usage_tables import USAGE

Kind = Literal["agent", "model", "tool", "retrieval", "guardrail", "other"]
# A role is how a span is stored: as events of its kind, or as one `span` event.
Role = Literal["agent", "model", "tool", "retrieval", "guardrail", "span"]

# The kind of a span: the first of these attributes that has a value decides, in any case; `*` is
# any text, and a pattern that begins with `!` takes back what another one matched. A value that
# matches nothing means "other".
KIND_COLUMNS: dict[str, dict[Kind, tuple[str, ...]]] = {
    "gen_ai.operation.name": {
        "agent": ("invoke_agent", "invoke_workflow"),
        "model": ("chat", "text_completion", "generate_content"),
        "tool": ("execute_tool",),
        "retrieval": ("embeddings", "retrieval", "*memory*"),
    },
    "openinference.span.kind": {
        "agent": ("AGENT",),
        "model": ("LLM",),
        "tool": ("TOOL",),
        "retrieval": ("EMBEDDING", "RETRIEVER", "RERANKER"),
        "guardrail": ("GUARDRAIL",),
    },
    "traceloop.span.kind": {"agent": ("workflow", "agent"), "tool": ("tool",)},
    "langfuse.observation.type": {
        "agent": ("agent",),
        "model": ("generation",),
        "tool": ("tool",),
        "retrieval": ("retriever", "embedding"),
        "guardrail": ("guardrail",),
    },
    "ai.operationId": {
        "agent": ("ai.generate*", "ai.stream*", "!*.do*"),
        "model": ("*.doGenerate", "*.doStream"),
        "tool": ("ai.toolCall",),
        "retrieval": ("ai.embed*",),
    },
}
# Without such an attribute: an attribute that is there (None), or has this value, means a kind.
KIND_SIGNS: tuple[tuple[str, str | None, Kind], ...] = (
    ("llm.request.type", None, "model"),
    ("gen_ai.request.model", None, "model"),
    ("gen_ai.tool.name", None, "tool"),
    ("mcp.method.name", "tools/call", "tool"),
)

# Where a span belongs. An agent span is named by AGENT, any other record by CALLER.
SESSION = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "lmnr.association.properties.session_id",
    "ai.telemetry.metadata.sessionId",
    "conversation.id",
    "thread_id",
    "langsmith.metadata.session_id",
    "metadata{session_id|thread_id}",
)
AGENT = (
    "gen_ai.agent.name",
    "agent.name",
    "traceloop.entity.name",
    "gen_ai.workflow.name",
    "ai.telemetry.functionId",
)
CALLER = (
    "gen_ai.agent.name",
    "agent.name",
    "ai.telemetry.functionId",
    "metadata{lc_agent_name}",
)
ENVIRONMENT = ("deployment.environment.name", "deployment.environment", "langfuse.environment")
SERVICE = "service.name"
UNKNOWN_SERVICE = "unknown_service"

# The fields of events, and where each comes from.
FIELDS: dict[str, tuple[str, ...]] = {
    "request_model": (
        "gen_ai.request.model",
        "llm.request.model_name",
        "llm.model_name",
        "ai.model.id",
        "langfuse.observation.model.name",
    ),
    "response_model": (
        "gen_ai.response.model",
        "llm.response.model_name",
        "llm.model_name",
        "ai.response.model",
        "langfuse.observation.model.name",
    ),
    "input_messages": (
        "gen_ai.input.messages",
        "llm.input_messages.N",
        "ai.prompt.messages",
        "gen_ai.prompt.N",
        "langfuse.observation.input",
        "input.value",
        "pydantic_ai.all_messages",
    ),
    "output_messages": (
        "gen_ai.output.messages",
        "llm.output_messages.N",
        "ai.response.text + ai.response.toolCalls",
        "gen_ai.completion.N",
        "langfuse.observation.output",
        "output.value",
        "pydantic_ai.all_messages",
    ),
    "system": ("gen_ai.system_instructions",),
    "tools": ("gen_ai.tool.definitions", "llm.tools.N", "ai.prompt.tools"),
    **USAGE,
    "stop_reason": ("gen_ai.response.finish_reasons[0]", "llm.finish_reason"),
    "later_stop_reason": ("anthropic.message.stop_reason", "ai.response.finishReason"),
    "response_id": ("gen_ai.response.id", "ai.response.id"),
    "tool_name": ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"),
    "tool_call_id": ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id"),
    "input": (
        "gen_ai.tool.call.arguments",
        "input.value",
        "ai.toolCall.args",
        "traceloop.entity.input",
        "langfuse.observation.input",
        "tool.parameters",
    ),
    "output": (
        "gen_ai.tool.call.result",
        "output.value",
        "ai.toolCall.result",
        "traceloop.entity.output",
        "langfuse.observation.output",
    ),
    "prompt": ("ai.prompt",),
    "result": ("final_result", "ai.response.text"),
    "user_id": (
        "user.id",
        "enduser.id",
        "langfuse.user.id",
        "traceloop.association.properties.user_id",
        "ai.telemetry.metadata.userId",
    ),
}
# The sources of an event's fields, by role. `otel` does not repeat these attributes, apart from
# those of `REPEATED`.
_CALL = ("tool_name", "tool_call_id", "input", "output")
ROLE_FIELDS: dict[Role, tuple[str, ...]] = {
    "agent": (
        *("input_messages", "output_messages", "input", "output"),
        *("prompt", "result", "user_id"),
    ),
    "model": (
        *("request_model", "response_model", "input_messages", "output_messages", "system"),
        *("tools", *USAGE, "stop_reason", "later_stop_reason", "response_id"),
    ),
    "tool": _CALL,
    "retrieval": _CALL,
    "guardrail": ("input", "output"),
    "span": ("input", "output"),
}
# The content of a call of a model that comes as a log record promotes no tokens.
CONTENT_FIELDS = (
    *("request_model", "response_model", "input_messages", "output_messages", "system", "tools"),
    *("stop_reason", "later_stop_reason"),
)

# An exception as an event of a span.
EXCEPTION = "exception"
ERROR_TYPE = "error.type"
EXCEPTION_FIELDS = {
    "error_type": "exception.type",
    "message": "exception.message",
    "traceback": "exception.stacktrace",
}
# An evaluation as an event of a span or as a log record.
EVALUATION = "gen_ai.evaluation.result"
EVALUATION_FIELDS = {
    "evaluation_name": "gen_ai.evaluation.name",
    "score": "gen_ai.evaluation.score.value",
    "label": "gen_ai.evaluation.score.label",
    "explanation": "gen_ai.evaluation.explanation",
}

# Model spans beside each other with the same answer report the same call.
RESPONSE_ID = "gen_ai.response.id"

# A pending span announces a real one.
PENDING_TYPE, PENDING = "logfire.span_type", "pending_span"
PENDING_PARENT = "logfire.pending_parent_id"

# Attributes that describe others and say nothing themselves.
NEVER_KEPT = ("logfire.json_schema",)
# Attributes that no event has a field for, and that people need not be told about.
FAMILIAR = (
    *("http.", "url.", "server.", "client.", "network.", "code.", "thread.", "process."),
    *("telemetry.", "otel.", "logfire.", "gen_ai.request.", "gen_ai.response."),
    "llm.invocation_parameters",
)

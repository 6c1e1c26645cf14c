"""The kinds of spans, and the rules that depend on the spans above."""

import pytest

from shared.intake.otlp.mapping import Kind, is_root_agent, kind_of, real_span, same_thing
from tests.support.otlp_spans import PARENT_ID, SPAN_ID, span, span_event

GEN_AI = "gen_ai.operation.name"
OPEN_INFERENCE = "openinference.span.kind"
TRACELOOP = "traceloop.span.kind"
LANGFUSE = "langfuse.observation.type"
VERCEL = "ai.operationId"


@pytest.mark.parametrize(
    ("attribute", "value", "kind"),
    [
        (GEN_AI, "invoke_agent", "agent"),
        (GEN_AI, "invoke_workflow", "agent"),
        (GEN_AI, "INVOKE_AGENT", "agent"),
        (GEN_AI, "chat", "model"),
        (GEN_AI, "text_completion", "model"),
        (GEN_AI, "generate_content", "model"),
        (GEN_AI, "execute_tool", "tool"),
        (GEN_AI, "embeddings", "retrieval"),
        (GEN_AI, "retrieval", "retrieval"),
        (GEN_AI, "search_memory_store", "retrieval"),
        (GEN_AI, "create_agent", "other"),
        (GEN_AI, "plan", "other"),
        (OPEN_INFERENCE, "AGENT", "agent"),
        (OPEN_INFERENCE, "llm", "model"),
        (OPEN_INFERENCE, "TOOL", "tool"),
        (OPEN_INFERENCE, "EMBEDDING", "retrieval"),
        (OPEN_INFERENCE, "RETRIEVER", "retrieval"),
        (OPEN_INFERENCE, "RERANKER", "retrieval"),
        (OPEN_INFERENCE, "GUARDRAIL", "guardrail"),
        (OPEN_INFERENCE, "CHAIN", "other"),
        (OPEN_INFERENCE, "EVALUATOR", "other"),
        (TRACELOOP, "workflow", "agent"),
        (TRACELOOP, "agent", "agent"),
        (TRACELOOP, "tool", "tool"),
        (TRACELOOP, "task", "other"),
        (LANGFUSE, "agent", "agent"),
        (LANGFUSE, "generation", "model"),
        (LANGFUSE, "tool", "tool"),
        (LANGFUSE, "retriever", "retrieval"),
        (LANGFUSE, "embedding", "retrieval"),
        (LANGFUSE, "guardrail", "guardrail"),
        (LANGFUSE, "span", "other"),
        (VERCEL, "ai.generateText", "agent"),
        (VERCEL, "ai.streamObject", "agent"),
        (VERCEL, "ai.generateText.doGenerate", "model"),
        (VERCEL, "ai.streamText.doStream", "model"),
        (VERCEL, "ai.generateText.doSomething", "other"),
        (VERCEL, "ai.toolCall", "tool"),
        (VERCEL, "ai.embedMany", "retrieval"),
        (VERCEL, "ai.embed.doEmbed", "retrieval"),
        ("llm.request.type", "chat", "model"),
        ("gen_ai.request.model", "gpt", "model"),
        ("gen_ai.tool.name", "search", "tool"),
        ("mcp.method.name", "tools/call", "tool"),
        ("mcp.method.name", "tools/list", "other"),
        ("http.request.method", "POST", "other"),
    ],
)
def test_an_attribute_tells_the_kind(attribute: str, value: str, kind: Kind) -> None:
    assert kind_of(span({attribute: value})) == kind


def test_the_first_attribute_with_a_value_decides() -> None:
    both = {OPEN_INFERENCE: "LLM", GEN_AI: "execute_tool", "gen_ai.request.model": "gpt"}
    assert kind_of(span(both)) == "tool"
    assert kind_of(span({**both, GEN_AI: ""})) == "model"
    assert kind_of(span({**both, GEN_AI: 7})) == "model"
    assert kind_of(span({OPEN_INFERENCE: "CHAIN", "gen_ai.request.model": "gpt"})) == "other"


def test_a_root_of_no_kind_is_an_agent_in_a_trace_that_is_known() -> None:
    root = span(parent_id="")
    assert is_root_agent(root, "other", trace_is_known=True)
    assert not is_root_agent(root, "other", trace_is_known=False)
    assert not is_root_agent(root, "model", trace_is_known=True)
    assert not is_root_agent(span(), "other", trace_is_known=True)


def test_two_spans_of_one_call_are_the_same_thing() -> None:
    def same(kind: Kind, one: dict[str, str], other: dict[str, str]) -> bool:
        return same_thing(span(one, span_id="01" * 8), kind) == same_thing(span(other), kind)

    assert same("model", {"gen_ai.request.model": "a"}, {"llm.model_name": "b"})
    assert same("tool", {"gen_ai.tool.name": "a"}, {"tool.name": "a"})
    assert not same("tool", {"gen_ai.tool.name": "a"}, {"tool.name": "b"})
    assert same("agent", {"gen_ai.agent.name": "a"}, {"agent.name": "a"})
    assert not same("agent", {"gen_ai.agent.name": "a"}, {"agent.name": "b"})
    assert not same("guardrail", {}, {})
    assert same_thing(span({"tool.name": "a"}), "tool") != same_thing(
        span({"tool.name": "a"}), "retrieval"
    )


def test_a_pending_span_announces_the_real_one() -> None:
    pending = {"logfire.span_type": "pending_span", "logfire.pending_parent_id": "0D" * 8}
    announced = real_span(span(pending, span_id="01" * 8))
    assert announced is not None
    assert (announced.span_id, announced.parent_id) == (PARENT_ID, "0d" * 8)
    for none in ("0" * 16, "no id", 7, None):
        announced = real_span(span(pending | {"logfire.pending_parent_id": none}))
        assert announced is not None
        assert announced.parent_id == ""


def test_other_spans_announce_nothing() -> None:
    assert real_span(span({"logfire.span_type": "span"})) is None
    assert real_span(span({"logfire.span_type": "pending_span"}, parent_id="")) is None
    assert real_span(span(span_id=SPAN_ID, events=[span_event("pending_span")])) is None

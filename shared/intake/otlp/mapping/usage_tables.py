"""The usage of a call of a model as data: what it read and wrote, and what that cost.

The notation is that of `tables`.
"""

# Langfuse counts each token once: what was cached is not in `input`. Tokens written for five
# minutes and for an hour are added up where no member has the sum.
USAGE_DETAILS = "langfuse.observation.usage_details"
_FIVE_MINUTES, _HOUR = "input_cache_creation_5m", "input_cache_creation_1h"
_SUM = "cache_creation_input_tokens|input_cache_creation"
_CACHED = (
    *("cache_read_input_tokens", "input_cached_tokens", "input_cache_read"),
    f"{_SUM.replace('|', '&')}/{_FIVE_MINUTES}&{_HOUR}",
)
# OpenTelemetry's conventions and Vercel's AI SDK name them as Anthropic does.
_WRITTEN = "gen_ai.usage.cache_creation"
LIFETIMES = f"{_WRITTEN}.ephemeral_5m_input_tokens + {_WRITTEN}.ephemeral_1h_input_tokens"
_METADATA = "ai.response.providerMetadata"
_5M_OF_ANTHROPIC = "anthropic.usage.cache_creation.ephemeral_5m_input_tokens"
_1H_OF_ANTHROPIC = "anthropic.usage.cache_creation.ephemeral_1h_input_tokens"

# The fields of usage, and where each comes from.
USAGE: dict[str, tuple[str, ...]] = {
    "input_tokens": (
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
        "ai.usage.inputTokens",
        f"{USAGE_DETAILS}{{input+{'+'.join(_CACHED)}|prompt_tokens}}",
    ),
    "output_tokens": (
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
        "ai.usage.outputTokens",
        f"{USAGE_DETAILS}{{output|completion_tokens}}",
    ),
    "cache_read_tokens": (
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "llm.token_count.prompt_details.cache_read",
        "ai.usage.cachedInputTokens",
        f"{USAGE_DETAILS}{{cache_read_input_tokens|input_cached_tokens|input_cache_read}}",
    ),
    "cache_write_tokens": (
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "llm.token_count.prompt_details.cache_write",
        f"{USAGE_DETAILS}{{{_SUM}|{_FIVE_MINUTES}+{_HOUR}|{_HOUR}}}",
        LIFETIMES,
        f"{_METADATA}{{{_5M_OF_ANTHROPIC}+{_1H_OF_ANTHROPIC}|{_1H_OF_ANTHROPIC}}}",
    ),
    "cache_write_1h_tokens": (
        f"{_WRITTEN}.ephemeral_1h_input_tokens",
        f"{USAGE_DETAILS}{{{_HOUR}}}",
        f"{_METADATA}{{{_1H_OF_ANTHROPIC}}}",
    ),
    "reasoning_tokens": (
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.reasoning_tokens",
        "llm.token_count.completion_details.reasoning",
        "ai.usage.reasoningTokens",
        f"{USAGE_DETAILS}{{output_reasoning_tokens|output_reasoning}}",
    ),
    "audio_input_tokens": (
        "gen_ai.usage.audio.input_tokens",
        "llm.token_count.prompt_details.audio",
    ),
    "audio_output_tokens": (
        "gen_ai.usage.audio.output_tokens",
        "llm.token_count.completion_details.audio",
    ),
    "web_searches": ("gen_ai.usage.server_tool_use.web_search_requests",),
    "provider": (
        "gen_ai.provider.name",
        "gen_ai.system",
        "llm.provider",
        "llm.system",
        "ai.model.provider",
    ),
    "service_tier": (
        "openai.response.service_tier",
        "gen_ai.openai.response.service_tier",
        "gen_ai.response.service_tier",
        "gen_ai.anthropic.service_tier",
    ),
    "cost_usd": (
        "gen_ai.usage.cost",
        "gen_ai.usage.total_cost",
        "operation.cost",
        "llm.cost.total",
        "langfuse.observation.cost_details{total}",
    ),
}
# Fields whose sources stay among the attributes of `otel`, where people know them from; but
# Langfuse's details, which other fields come from as well, do not.
REPEATED = (
    *("cache_write_1h_tokens", "audio_input_tokens", "audio_output_tokens", "web_searches"),
    *("provider", "service_tier", "cost_usd"),
)

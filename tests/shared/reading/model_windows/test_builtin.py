"""The built-in table knows current models, with and without provider prefix and date suffix."""

import pytest

from shared.reading.model_windows.builtin import builtin_window
from shared.reading.model_windows.families import FAMILIES

# Models as their providers name them.
MODELS = {
    "claude-2.0": 100_000,
    "claude-2.1": 200_000,
    "claude-3-haiku-20240307": 200_000,
    "claude-3-opus-latest": 200_000,
    "claude-3-5-sonnet-20241022": 200_000,
    "claude-3-7-sonnet-latest": 200_000,
    "claude-opus-4-20250514": 200_000,
    "claude-opus-4-1": 200_000,
    "claude-opus-4-5-20251101": 200_000,
    "claude-sonnet-4-20250514": 200_000,
    "claude-sonnet-4-5": 200_000,
    "claude-haiku-4-5-20251001": 200_000,
    "claude-opus-4-6": 1_000_000,
    "claude-opus-4-8": 1_000_000,
    "claude-sonnet-4-6": 1_000_000,
    "claude-opus-5": 1_000_000,
    "claude-opus-5-5": 1_000_000,
    "claude-sonnet-5-5": 1_000_000,
    "claude-haiku-5-5": 1_000_000,
    "claude-fable-5-1": 1_000_000,
    "gpt-3.5-turbo": 16_385,
    "gpt-4": 8_192,
    "gpt-4-0613": 8_192,
    "gpt-4-32k": 32_768,
    "gpt-4-1106-preview": 128_000,
    "gpt-4-vision-preview": 128_000,
    "gpt-4-turbo": 128_000,
    "gpt-4o": 128_000,
    "gpt-4o-2024-08-06": 128_000,
    "gpt-4o-mini": 128_000,
    "chatgpt-4o-latest": 128_000,
    "gpt-4.1-nano-2025-04-14": 1_047_576,
    "gpt-5-2025-08-07": 400_000,
    "gpt-5-mini": 400_000,
    "gpt-5-chat-latest": 128_000,
    "gpt-5.2-codex": 400_000,
    "gpt-5.3-chat-latest": 128_000,
    "gpt-5.4": 1_050_000,
    "gpt-5.4-mini": 400_000,
    "gpt-5.6-sol": 1_050_000,
    "gpt-6.1-terra": 1_050_000,
    "gpt-oss-120b": 131_072,
    "o1": 200_000,
    "o1-mini-2024-09-12": 128_000,
    "o3-mini": 200_000,
    "o4-mini": 200_000,
    "codex-mini-latest": 200_000,
    "gemini-pro": 32_768,
    "gemini-1.5-pro-002": 2_097_152,
    "gemini-2.5-flash-lite": 1_048_576,
    "gemini-3-pro-preview": 1_048_576,
    "gemini-3.8-flash": 1_048_576,
    "gemini-4-argon": 1_048_576,
    "gemini-flash-latest": 1_048_576,
    "gemma-3-27b-it": 131_072,
    "muse-spark-1.3": 1_048_576,
    "mistral-large-2402": 32_768,
    "mistral-large-2411": 131_072,
    "mistral-large-2512": 262_144,
    "mistral-large-4-0": 1_048_576,
    "mistral-medium-2508": 131_072,
    "mistral-medium-3.5": 262_144,
    "open-mixtral-8x22b": 65_536,
    "open-mistral-nemo": 131_072,
    "devstral-small-2507": 131_072,
    "devstral-2512": 262_144,
    "deepseek-chat": 131_072,
    "deepseek-v3.2-exp": 131_072,
    "deepseek-v4-pro": 1_048_576,
    "qwen-max": 32_768,
    "qwen-plus-2025-07-28": 1_000_000,
    "qwen2.5-72b-instruct": 131_072,
    "qwen3-235b-a22b": 131_072,
    "qwen3-235b-a22b-instruct-2507": 262_144,
    "qwen3-coder-plus": 1_000_000,
    "qwen3.5-27b": 262_144,
    "qwen3.8-max": 1_000_000,
    "grok-3-mini": 131_072,
    "grok-4-0709": 256_000,
    "grok-4-1-fast-reasoning": 2_000_000,
    "grok-4.20-0309-reasoning": 1_000_000,
    "grok-4.7": 500_000,
    "grok-code-fast-1": 256_000,
    "kimi-k2-0711-preview": 131_072,
    "kimi-k2.6": 262_144,
    "glm-4.6": 200_000,
    "glm-5.3-flash": 1_000_000,
    "command-r-plus-08-2024": 128_000,
    "phi-4": 16_384,
}

# The same models as gateways and clouds name them.
SPELLINGS = {
    "GPT-4-Turbo": 128_000,
    "openai/gpt-4o-2024-08-06": 128_000,
    "openai:gpt-4o": 128_000,
    "azure/gpt-35-turbo-0125": 16_385,
    "gpt-35-turbo-16k": 16_385,
    "azure/gpt-5.4-mini-2026-03-17": 400_000,
    "ft:gpt-4o-mini-2024-07-18:acme::A1b2C3": 128_000,
    "openrouter/openai/gpt-5.5-pro:batch": 1_050_000,
    "anthropic/claude-3.5-sonnet:beta": 200_000,
    "anthropic/claude-opus-4.6": 1_000_000,
    "~anthropic/claude-sonnet-latest": 1_000_000,
    "claude-4-sonnet": 200_000,
    "claude-4.5-sonnet": 200_000,
    "claude-opus-4-1@20250805": 200_000,
    "publishers/anthropic/models/claude-sonnet-4-6": 1_000_000,
    "databricks-claude-sonnet-4-5": 200_000,
    "claude-sonnet-4-5[1m]": 1_000_000,
    "anthropic.claude-v2:1": 200_000,
    "anthropic.claude-v2": 100_000,
    "us.anthropic.claude-sonnet-4-20250514-v1:0": 200_000,
    "jp.anthropic.claude-haiku-4-5-20251001-v1:0": 200_000,
    "us-gov.anthropic.claude-3-5-sonnet-20240620-v1:0": 200_000,
    "bedrock:global.anthropic.claude-opus-5": 1_000_000,
    "bedrock/converse/eu.anthropic.claude-opus-4-6-v1": 1_000_000,
    "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0": 200_000,
    "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.amazon.nova-pro-v1:0": 300_000,
    "amazon.nova-2-lite-v1:0": 1_000_000,
    "us.deepseek.r1-v1:0": 131_072,
    "deepseek.v3-v1:0": 131_072,
    "meta.llama3-70b-instruct-v1:0": 8_192,
    "us.meta.llama3-1-70b-instruct-v1:0": 131_072,
    "us.meta.llama4-scout-17b-instruct-v1:0": 10_485_760,
    "mistral.mistral-large-2402-v1:0": 32_768,
    "openai.gpt-oss-120b-1:0": 131_072,
    "qwen.qwen3-32b-v1:0": 131_072,
    "models/gemini-2.5-pro": 1_048_576,
    "vertex_ai/gemini-2.0-flash-001": 1_048_576,
    "google/gemini-pro-1.5": 2_097_152,
    "gemini/gemini-1.5-flash-8b": 1_048_576,
    "meta-llama/Llama-3.1-8B": 131_072,
    "meta-llama/Meta-Llama-3.1-70B-Instruct": 131_072,
    "meta-llama/Meta-Llama-3-8B": 8_192,
    "accounts/fireworks/models/llama-v3p3-70b-instruct": 131_072,
    "accounts/fireworks/models/deepseek-v3p1": 131_072,
    "llama3.1": 131_072,
    "llama3.2:1b": 131_072,
    "ollama/llama2": 4_096,
    "qwen/qwen-2.5-7b-instruct": 131_072,
    "Qwen/Qwen3-Coder-480B-A35B-Instruct": 262_144,
    "together_ai/mistralai/Mixtral-8x7B-Instruct-v0.1": 32_768,
    "x-ai/grok-4.1-fast:free": 2_000_000,
    "deepseek-ai/DeepSeek-V3-0324": 131_072,
    "moonshotai/Kimi-K2-Instruct-0905": 262_144,
    "zai.glm-5.3": 1_000_000,
}

STRANGERS = [
    "",
    ":",
    "/",
    "house-model",
    "gpt",
    "claude",
    "gpt-45-unheard-of",
    "gpt-4omni",
    "llama-30",
    "my-gpt-4o",
    "house[1m]",
    "x:house",
]


@pytest.mark.parametrize("model", MODELS)
def test_a_current_model_has_the_window_that_its_provider_documents(model: str) -> None:
    assert builtin_window(model) == MODELS[model]


@pytest.mark.parametrize("model", SPELLINGS)
def test_a_model_is_known_however_it_is_spelled(model: str) -> None:
    assert builtin_window(model) == SPELLINGS[model]


@pytest.mark.parametrize("model", STRANGERS)
def test_no_window_is_guessed(model: str) -> None:
    assert builtin_window(model) is None


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_found_by_its_own_name(family: str) -> None:
    assert builtin_window(family) == FAMILIES[family]
    assert builtin_window(f"provider/{family}-20261101") == FAMILIES[family]

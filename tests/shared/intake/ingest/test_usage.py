"""The token classes of a call from the usage object of each provider."""

from typing import Any

import msgspec
import pytest

from shared.intake.ingest import usage
from shared.intake.ingest.fields import Fields, read_fields
from shared.reading.prices.names import tier_of

# From the examples that providers publish with their responses.
ANTHROPIC = {
    "input_tokens": 2048,
    "cache_read_input_tokens": 1800,
    "cache_creation_input_tokens": 248,
    "output_tokens": 503,
    "cache_creation": {"ephemeral_5m_input_tokens": 148, "ephemeral_1h_input_tokens": 100},
    "server_tool_use": {"web_search_requests": 2},
    "service_tier": "standard",
}
OPENAI = {
    "prompt_tokens": 2006,
    "completion_tokens": 300,
    "total_tokens": 2306,
    "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 10},
    "completion_tokens_details": {"reasoning_tokens": 128, "audio_tokens": 5},
    "service_tier": "flex",
}
RESPONSES = {
    "input_tokens": 36,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 87,
    "output_tokens_details": {"reasoning_tokens": 64},
}
GEMINI = {
    "promptTokenCount": 1200,
    "toolUsePromptTokenCount": 34,
    "cachedContentTokenCount": 1000,
    "candidatesTokenCount": 40,
    "thoughtsTokenCount": 60,
    "promptTokensDetails": [
        {"modality": "TEXT", "tokenCount": 1150},
        {"modality": "AUDIO", "tokenCount": 50},
    ],
}
BEDROCK = {
    "inputTokens": 30,
    "outputTokens": 628,
    "cacheReadInputTokens": 100,
    "cacheWriteInputTokens": 70,
    "cacheDetails": [{"ttl": "5m", "inputTokens": 50}, {"ttl": "1h", "inputTokens": 20}],
}


def complete(sent: object, **fields: Any) -> tuple[Fields, bool]:
    """Returns the fields of a call with this usage, and whether it was usable."""
    read = read_fields(msgspec.json.encode({"usage": sent, **fields}))
    return read, usage.complete(read)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (
            ANTHROPIC,
            {
                "input_tokens": 4096,
                "output_tokens": 503,
                "cache_read_tokens": 1800,
                "cache_write_tokens": 248,
                "cache_write_1h_tokens": 100,
                "web_searches": 2,
            },
        ),
        (
            OPENAI,
            {
                "input_tokens": 2006,
                "output_tokens": 300,
                "cache_read_tokens": 1920,
                "audio_input_tokens": 10,
                "audio_output_tokens": 5,
                "reasoning_tokens": 128,
                "service_tier": "flex",
            },
        ),
        (
            RESPONSES,
            {
                "input_tokens": 36,
                "output_tokens": 87,
                "cache_read_tokens": 4,
                "reasoning_tokens": 64,
            },
        ),
        (
            GEMINI,
            {
                "input_tokens": 1234,
                "output_tokens": 100,
                "cache_read_tokens": 1000,
                "reasoning_tokens": 60,
                "audio_input_tokens": 50,
            },
        ),
        (
            {"prompt_token_count": 5, "candidates_token_count": 7},
            {"input_tokens": 5, "output_tokens": 7},
        ),
        (
            BEDROCK,
            {
                "input_tokens": 200,
                "output_tokens": 628,
                "cache_read_tokens": 100,
                "cache_write_tokens": 70,
                "cache_write_1h_tokens": 20,
            },
        ),
    ],
)
def test_providers(sent: object, expected: dict[str, object]) -> None:
    found, usable = complete(sent)
    names = (*expected, "input_tokens", "output_tokens", "cache_write_tokens", "web_searches")
    assert {name: getattr(found, name) for name in names} == {
        **dict.fromkeys(names),
        **expected,
    }
    assert usable


def test_lifetimes_without_a_sum_are_added_up() -> None:
    sent = {"input_tokens": 5, "cache_creation": ANTHROPIC["cache_creation"]}
    found, _ = complete(sent)
    assert (found.input_tokens, found.cache_write_tokens) == (253, 248)


def test_the_cost_of_openrouter_keeps_its_digits() -> None:
    found, _ = complete({"prompt_tokens": 1, "cost": 0.000123456789})
    assert isinstance(found.cost_usd, msgspec.Raw)
    assert msgspec.json.decode(found.cost_usd) == "0.000123456789"


def test_the_fields_of_the_event_win() -> None:
    found, _ = complete(OPENAI, input_tokens=7, service_tier="Batch")
    assert (found.input_tokens, found.output_tokens) == (7, 300)
    assert tier_of(found.service_tier) == "batch"


@pytest.mark.parametrize("count", [-1, 1.5, 2**32, "7", True])
def test_a_number_that_is_none_makes_the_usage_unusable(count: object) -> None:
    found, usable = complete({"prompt_tokens": count, "completion_tokens": 3})
    assert (found.input_tokens, found.output_tokens, usable) == (None, None, False)


@pytest.mark.parametrize("sent", [None, 7, "text", [], {}, {"other": 1}])
def test_what_is_no_usage_changes_nothing(sent: object) -> None:
    found, usable = complete(sent)
    assert (found.input_tokens, usable) == (None, True)


@pytest.mark.parametrize("tier", [None, "", "standard", "Default", "auto", "normal", "x" * 33])
def test_the_standard_tier_is_none(tier: str | None) -> None:
    assert tier_of(tier) is None


def test_a_long_provider_is_none() -> None:
    assert usage.provider_of("aws.bedrock") == "aws.bedrock"
    assert usage.provider_of("p" * 65) is None

"""Reads the usage of a call from its provider's own object, where the event has no field for it.

Each provider counts in its own way. Here `input_tokens` are all tokens that were read, cached or
not, and `output_tokens` are all that were written, with those of reasoning.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from shared.intake.ingest.fields import Fields
from shared.reading.prices.names import MAX_PROVIDER_LENGTH, tier_of

Members = Mapping[str, Any]
T = TypeVar("T")

MAX_COUNT = 0xFFFFFFFF

# A cost stays a decimal number.
_decode = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal).decode


class _Unusable(ValueError):
    """A number of tokens that cannot be one."""


def complete(fields: Fields) -> bool:
    """Fills the fields of a call that are None from its `usage`; returns whether that was possible.

    It is not if a number of tokens is negative, a fraction or too large.
    """
    if fields.usage is UNSET:
        return True
    try:
        members = _decode(fields.usage)
        found = _reader_of(members)(members)
    except _Unusable:
        return False
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return True
    for name, value in found.items():
        if value is not None and getattr(fields, name) in (None, UNSET):
            setattr(fields, name, value)
    return True


def provider_of(sent: str | None) -> str | None:
    """Returns a provider's name as it is stored, None for none and for too long a text."""
    return sent if sent and len(sent) <= MAX_PROVIDER_LENGTH else None


def _anthropic(usage: Members) -> dict[str, Any]:
    # https://docs.anthropic.com/en/api/messages#response-usage
    lifetimes = _object(usage, "cache_creation")
    hour = _count(lifetimes, "ephemeral_1h_input_tokens")
    short = _count(lifetimes, "ephemeral_5m_input_tokens")
    read = _count(usage, "cache_read_input_tokens")
    written = _first(_count(usage, "cache_creation_input_tokens"), _sum(hour, short))
    plain = _count(usage, "input_tokens")
    return {
        "input_tokens": None if plain is None else _sum(plain, read, written),
        "output_tokens": _count(usage, "output_tokens"),
        "cache_read_tokens": read,
        "cache_write_tokens": written,
        "cache_write_1h_tokens": hour,
        "web_searches": _count(_object(usage, "server_tool_use"), "web_search_requests"),
        "service_tier": _first(tier_of(_text(usage, "service_tier")), _text(usage, "speed")),
    }


def _openai(usage: Members) -> dict[str, Any]:
    # https://platform.openai.com/docs/api-reference/responses/object#usage, and OpenRouter's
    # https://openrouter.ai/docs/use-cases/usage-accounting
    read = _object(usage, "prompt_tokens_details") or _object(usage, "input_tokens_details")
    wrote = _object(usage, "completion_tokens_details") or _object(usage, "output_tokens_details")
    cost = usage.get("cost")
    is_cost = type(cost) in (int, Decimal, str)
    return {
        "input_tokens": _first(_count(usage, "prompt_tokens"), _count(usage, "input_tokens")),
        "output_tokens": _first(_count(usage, "completion_tokens"), _count(usage, "output_tokens")),
        "cache_read_tokens": _count(read, "cached_tokens"),
        "cache_write_tokens": _count(read, "cache_write_tokens"),
        "audio_input_tokens": _count(read, "audio_tokens"),
        "audio_output_tokens": _count(wrote, "audio_tokens"),
        "reasoning_tokens": _count(wrote, "reasoning_tokens"),
        "service_tier": _text(usage, "service_tier"),
        "cost_usd": msgspec.Raw(msgspec.json.encode(cost)) if is_cost else None,
    }


def _gemini(usage: Members) -> dict[str, Any]:
    # https://ai.google.dev/api/generate-content#UsageMetadata
    def count(camel: str) -> int | None:
        return _first(_count(usage, camel), _count(usage, _snake(camel)))

    def audio(camel: str) -> int | None:
        details = usage.get(camel, usage.get(_snake(camel)))
        of_audio = [
            _first(_count(one, "tokenCount"), _count(one, "token_count"))
            for one in (details if isinstance(details, list) else ())
            if isinstance(one, dict) and str(one.get("modality")).upper() == "AUDIO"
        ]
        return _sum(*of_audio)

    prompt, thoughts = count("promptTokenCount"), count("thoughtsTokenCount")
    return {
        "input_tokens": _sum(prompt, count("toolUsePromptTokenCount")),
        "output_tokens": _sum(count("candidatesTokenCount"), thoughts),
        "cache_read_tokens": count("cachedContentTokenCount"),
        "reasoning_tokens": thoughts,
        "audio_input_tokens": audio("promptTokensDetails"),
        "audio_output_tokens": audio("candidatesTokensDetails"),
    }


def _bedrock(usage: Members) -> dict[str, Any]:
    # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
    read, written = _count(usage, "cacheReadInputTokens"), _count(usage, "cacheWriteInputTokens")
    details = usage.get("cacheDetails")
    hours = [
        _count(one, "inputTokens")
        for one in (details if isinstance(details, list) else ())
        if isinstance(one, dict) and one.get("ttl") == "1h"
    ]
    plain = _count(usage, "inputTokens")
    return {
        "input_tokens": None if plain is None else _sum(plain, read, written),
        "output_tokens": _count(usage, "outputTokens"),
        "cache_read_tokens": read,
        "cache_write_tokens": written,
        "cache_write_1h_tokens": _sum(*hours),
    }


_OF_ANTHROPIC = frozenset(
    {
        *("cache_creation", "server_tool_use"),
        *("cache_read_input_tokens", "cache_creation_input_tokens"),
    }
)
_OF_GEMINI = frozenset({"promptTokenCount", "prompt_token_count", "candidatesTokenCount"})
_OF_BEDROCK = frozenset({"inputTokens", "outputTokens"})


def _reader_of(usage: Members) -> Callable[[Members], dict[str, Any]]:
    if not _OF_ANTHROPIC.isdisjoint(usage):
        return _anthropic
    if not _OF_GEMINI.isdisjoint(usage):
        return _gemini
    return _openai if _OF_BEDROCK.isdisjoint(usage) else _bedrock


def _count(usage: Members, name: str) -> int | None:
    value = usage.get(name)
    if value is None:
        return None
    if type(value) is Decimal and value == value.to_integral_value():
        value = int(value)
    if type(value) is not int or not 0 <= value <= MAX_COUNT:
        raise _Unusable(name)
    return int(value)


def _object(usage: Members, name: str) -> Members:
    value = usage.get(name)
    return value if isinstance(value, dict) else {}


def _text(usage: Members, name: str) -> str | None:
    value = usage.get(name)
    return value if type(value) is str else None


def _first(*values: T | None) -> T | None:
    return next((value for value in values if value is not None), None)


def _sum(*values: int | None) -> int | None:
    """Returns the sum of those that are known, None if none is."""
    known = [value for value in values if value is not None]
    total = sum(known)
    if total > MAX_COUNT:
        raise _Unusable("sum")
    return total if known else None


def _snake(camel: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in camel)

"""The built-in table of context windows, in tokens, by model family.

Sizes are those that the providers document for the family's API models. A name is matched without
its provider prefix (`openai/gpt-4o`, `bedrock/anthropic.claude-…`) and without a date or version
suffix; the longest family that the rest begins with wins.
"""

import re
from collections.abc import Callable
from functools import lru_cache

# Model → its context window in tokens; None or 0 when it is unknown.
WindowOf = Callable[[str], int | None]

_FAMILIES: dict[str, int] = {
    "gpt-3.5-turbo": 16_385,
    "gpt-4": 8_192,
    "gpt-4-32k": 32_768,
    "gpt-4-turbo": 128_000,
    "gpt-4-1106": 128_000,
    "gpt-4-0125": 128_000,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4.5": 128_000,
    "gpt-5": 400_000,
    "o1": 200_000,
    "o1-mini": 128_000,
    "o1-preview": 128_000,
    "o3": 200_000,
    "o4-mini": 200_000,
    "claude-2": 100_000,
    "claude-2.1": 200_000,
    "claude-instant": 100_000,
    "claude-3": 200_000,
    "claude-opus": 200_000,
    "claude-sonnet": 200_000,
    "claude-haiku": 200_000,
    "gemini-1.0": 32_768,
    "gemini-1.5-flash": 1_048_576,
    "gemini-1.5-pro": 2_097_152,
    "gemini-2.0": 1_048_576,
    "gemini-2.5": 1_048_576,
    "gemini-3": 1_048_576,
    "llama-2": 4_096,
    "llama-3": 8_192,
    "llama-3.1": 131_072,
    "llama-3.2": 131_072,
    "llama-3.3": 131_072,
    "llama-4-maverick": 1_048_576,
    "llama-4-scout": 10_485_760,
    "mistral-7b": 32_768,
    "mistral-small": 131_072,
    "mistral-medium": 131_072,
    "mistral-large": 131_072,
    "mixtral-8x7b": 32_768,
    "mixtral-8x22b": 65_536,
    "codestral": 262_144,
    "ministral": 131_072,
    "pixtral": 131_072,
    "command-r": 128_000,
    "command-a": 262_144,
    "deepseek-chat": 131_072,
    "deepseek-reasoner": 131_072,
    "deepseek-v3": 131_072,
    "deepseek-r1": 131_072,
    "qwen2.5": 131_072,
    "qwen3": 131_072,
    "qwen-max": 32_768,
    "qwen-plus": 131_072,
    "grok-2": 131_072,
    "grok-3": 131_072,
    "grok-4": 262_144,
    "nova-micro": 128_000,
    "nova-lite": 300_000,
    "nova-pro": 300_000,
    "phi-3": 131_072,
    "phi-4": 16_384,
}

_PROVIDERS = re.compile(
    r"^(?:(?:us|eu|apac|global)\.)?"
    r"(?:anthropic|amazon|meta|mistral|cohere|deepseek|ai21|openai|google|qwen|xai)\."
)
_LONGEST_FIRST = sorted(_FAMILIES, key=len, reverse=True)


@lru_cache(maxsize=4096)
def builtin_window(model: str) -> int | None:
    """The context window of a model in tokens, None when its family is unknown."""
    name = _PROVIDERS.sub("", model.lower().rsplit("/", 1)[-1])
    # llama3.1, llama-3.1 and llama 3.1 are one family.
    name = re.sub(r"^(llama)[ _-]?(\d)", r"\1-\2", name)
    for family in _LONGEST_FIRST:
        if name.startswith(family) and not name[len(family) : len(family) + 1].isalnum():
            return _FAMILIES[family]
    return None

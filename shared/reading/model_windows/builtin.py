"""Finds a model in the built-in table, for all spellings of providers and gateways.

A name is matched without its provider prefix (`openai/gpt-4o`, `us.anthropic.claude-…`, an ARN) and
without a date or version suffix (`-20250514`, `@20250514`, `-v1:0`, `:free`).
"""

import re
from collections.abc import Callable
from functools import lru_cache

from shared.reading.model_windows.families import FAMILIES

# Maps a model to its context window in tokens; None or 0 if it is unknown.
WindowOf = Callable[[str], int | None]

_MILLION = 1_000_000

_PROVIDERS = (
    "ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshotai|openai|qwen|xai"
    "|zai"
)

# Applied in this order.
_SPELLINGS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # us.anthropic.claude-…, where the region is optional; the whole of deepseek.r1 is a name.
        (r"^(?:[a-z-]+\.)?deepseek\.(?!deepseek)", "deepseek-"),
        (rf"^(?:[a-z-]+\.)?(?:{_PROVIDERS})\.", ""),
        (r"^(?:cohere|databricks|meta|open|zai)-", ""),
        # llama3.1, Llama-3.1 and llama-v3p1; qwen3 and qwen-3.
        (r"^(gemma|llama|phi|qwen)[ _-]?v?(?=\d)", r"\1-"),
        # 4.6, 4-6 and 4p6; Azure writes 35 for 3.5.
        (r"(?<=\d)[.p](?=\d)", "-"),
        (r"^gpt-35(?!\d)", "gpt-3-5"),
        # claude-3-5-sonnet, and claude-4.5-sonnet for claude-sonnet-4.5.
        (r"^claude-(\d(?:-\d)?)-(haiku|opus|sonnet)\b", r"claude-\2-\1"),
    )
)


def _normal(name: str) -> str:
    for pattern, replacement in _SPELLINGS:
        name = pattern.sub(replacement, name)
    return name


_LONGEST_FIRST = sorted(
    ((_normal(family), window) for family, window in FAMILIES.items()),
    key=lambda one: len(one[0]),
    reverse=True,
)


@lru_cache(maxsize=4096)
def builtin_window(model: str) -> int | None:
    """Returns the context window of a model in tokens, None if its family is unknown."""
    name = model.lower().rsplit("/", 1)[-1]
    found = _window_of(name)
    if found is None and ":" in name:
        # The text before a colon may be a provider (openai:gpt-4o) or mark a tuned model (ft:).
        name = name.partition(":")[2]
        found = _window_of(name)
    # Claude Code uses this suffix for the long window of a model.
    return _MILLION if found is not None and name.endswith("[1m]") else found


def _window_of(name: str) -> int | None:
    normal = _normal(name)
    for family, window in _LONGEST_FIRST:
        if normal.startswith(family) and not normal[len(family) : len(family) + 1].isalnum():
            return window
    return None

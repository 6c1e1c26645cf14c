"""Finds a model in the built-in table, for all spellings of providers and gateways.

A name is matched without its provider prefix (`openai/gpt-4o`, `us.anthropic.claude-…`, an ARN) and
without a date or version suffix (`-20250514`, `@20250514`, `-v1:0`, `:free`).
"""

from collections.abc import Callable
from functools import lru_cache

from shared.reading.model_names import normal, without_path
from shared.reading.model_windows.families import FAMILIES

# Maps a model to its context window in tokens; None or 0 if it is unknown.
WindowOf = Callable[[str], int | None]

_MILLION = 1_000_000

_LONGEST_FIRST = sorted(
    ((normal(family), window) for family, window in FAMILIES.items()),
    key=lambda one: len(one[0]),
    reverse=True,
)


@lru_cache(maxsize=4096)
def builtin_window(model: str) -> int | None:
    """Returns the context window of a model in tokens, None if its family is unknown."""
    for name in without_path(model.lower()):
        window = _window_of(name)
        if window is not None:
            # Claude Code uses this suffix for the long window of a model.
            return _MILLION if name.endswith("[1m]") else window
    return None


def _window_of(name: str) -> int | None:
    spelled = normal(name)
    for family, window in _LONGEST_FIRST:
        if spelled.startswith(family) and not spelled[len(family) : len(family) + 1].isalnum():
            return window
    return None

"""How large a page may get: texts and payloads of a megabyte each are no answer to give."""

from collections.abc import Sequence

MAX_PAGE_BYTES = 32 * 1024 * 1024


def how_many_fit(weights: Sequence[int]) -> int:
    """How many of the first rows stay within `MAX_PAGE_BYTES`; at least one, to get on."""
    total = 0
    for index, weight in enumerate(weights):
        total += weight
        if total > MAX_PAGE_BYTES and index:
            return index
    return len(weights)

"""The size limit of a page, because texts and payloads may be a megabyte each."""

from collections.abc import Sequence

MAX_PAGE_BYTES = 32 * 1024 * 1024


def how_many_fit(weights: Sequence[int]) -> int:
    """Counts the first rows that fit into `MAX_PAGE_BYTES`.

    At least one, so that paging advances.
    """
    total = 0
    for index, weight in enumerate(weights):
        total += weight
        if total > MAX_PAGE_BYTES and index:
            return index
    return len(weights)

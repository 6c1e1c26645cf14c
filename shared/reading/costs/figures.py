"""The figures of some calls: counts, tokens and dollars.

Amounts are added as decimals and become numbers last, so every grouping of the same calls has the
same total.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

TOKENS = (
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
    *("cache_write_1h_tokens", "reasoning_tokens"),
)
# A figure → its SQL over the rows of calls. `sessions` does not add up, so it stands apart.
_OF_CALLS = {
    "calls": "count()",
    "unpriced_calls": "countIf(cost_source = 'unpriced')",
    "assumed_calls": "countIf(notEmpty(cost_notes))",
    **{name: f"sum(coalesce({name}, 0))" for name in TOKENS},
    "cost_usd": "sum(cost_usd)",
    "reported_usd": "sum(reported_usd)",
    "computed_usd": "sum(computed_usd)",
    "difference_usd": "sum(reported_usd - computed_usd)",
}
NAMES = tuple(_OF_CALLS)
_AMOUNTS = ("reported_usd", "computed_usd", "difference_usd")
# The columns that they are made of.
COLUMNS = (
    *("cost_source", "cost_notes", *TOKENS),
    *("cost_usd", "reported_usd", "computed_usd"),
)
# What makes an event a call whose cost is known or missing. Only these types can be calls, and the
# type of an event never changes.
MAY_BE_CALL = "event_type IN ('model_response', 'tool_result')"
IS_CALL = "isNotNull(cost_source)"


class CallSums(msgspec.Struct, frozen=True):
    """The figures of some calls; dollars are numbers.

    `cost_usd` is None if no call has a cost. `difference_usd` is reported less computed, of calls
    that have both.
    """

    calls: int
    unpriced_calls: int
    assumed_calls: int
    sessions: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cache_write_1h_tokens: int
    reasoning_tokens: int
    cost_usd: float | None
    reported_usd: float
    computed_usd: float
    difference_usd: float


NOTHING = CallSums(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, None, 0.0, 0.0, 0.0)


def sums(prefix: str) -> str:
    """Returns SQL of the figures over the rows of calls, named by `prefix` and a number."""
    return ", ".join(f"{sql} AS {prefix}{place}" for place, sql in enumerate(_OF_CALLS.values()))


def sums_again(of: str, prefix: str) -> str:
    """Returns SQL that adds up the figures named by `of`, named by `prefix`."""
    return ", ".join(f"sum({of}{place}) AS {prefix}{place}" for place in range(len(NAMES)))


def figure(prefix: str, name: str) -> str:
    """Returns the name that a figure has in SQL."""
    return f"{prefix}{NAMES.index(name)}"


def from_row(row: Sequence[Any], sessions: int) -> CallSums:
    """Reads the figures of a row, in the order of `NAMES`."""
    found: dict[str, Any] = dict(zip(NAMES, row, strict=True))
    for name in _AMOUNTS:
        # Sums without any amount are null.
        found[name] = float(found[name] or 0)
    cost = found.pop("cost_usd")
    return CallSums(sessions=sessions, cost_usd=None if cost is None else float(cost), **found)

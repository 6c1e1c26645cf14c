"""Score filters, `key:min..max` with optional bounds: the parser, and their SQL conditions."""

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import NamedTuple, TypeVar

from shared.foundation.clickhouse import literals
from shared.foundation.core.errors import Invalid

MAX_FILTERS = 20
Number = TypeVar("Number", float, Decimal)
# Longer keys are compared by their hashes, so that a statement has room for all filters.
_MAX_KEY_CHARS = 160

_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
# The key comes first and is as long as possible, because it may contain colons and dots.
_FILTER = re.compile(rf"(?P<key>.+):(?P<low>{_NUMBER})?\.\.(?P<high>{_NUMBER})?", re.DOTALL)


class ScoreFilter(NamedTuple):
    """The score `key` exists and lies within the inclusive bounds; None is no bound."""

    key: str
    low: float | None
    high: float | None


def parse_score_filters(items: Sequence[str]) -> tuple[ScoreFilter, ...]:
    """Parses filters from separated and unescaped `items`.

    Raises `Invalid` naming `score_filters` for more than `MAX_FILTERS` of them, another form, a
    bound that is not a finite number, or bounds in the wrong order.
    """
    return tuple(ScoreFilter(*one) for one in parse_ranges("score_filters", items, float))


def parse_ranges(
    parameter: str, items: Sequence[str], number: Callable[[str], Number]
) -> list[tuple[str, Number | None, Number | None]]:
    """Returns key, low and high of each of the `items`, whose bounds `number` reads.

    Raises `Invalid` naming `parameter`, as `parse_score_filters` does.
    """
    if len(items) > MAX_FILTERS:
        raise Invalid.field(parameter, f"must have at most {MAX_FILTERS} filters")
    return [_parse(parameter, item, number) for item in items]


def _parse(
    parameter: str, item: str, number: Callable[[str], Number]
) -> tuple[str, Number | None, Number | None]:
    match = _FILTER.fullmatch(item)
    if match is None:
        raise Invalid.field(parameter, f"{item!r} is not of the form key:min..max")
    low, high = (
        None if match[bound] is None else number(match[bound]) for bound in ("low", "high")
    )
    if any(bound is not None and not math.isfinite(bound) for bound in (low, high)):
        raise Invalid.field(parameter, f"{item!r} has a bound out of range")
    if low is not None and high is not None and low > high:
        raise Invalid.field(parameter, f"{item!r} has its bounds the wrong way round")
    return match["key"], low, high


def conditions(
    filters: Sequence[ScoreFilter], scores: str = "scores"
) -> tuple[list[str], dict[str, object]]:
    """Returns SQL conditions on the map `scores`, one per filter, and their bound parameters."""
    texts: list[str] = []
    params: dict[str, object] = {}
    for number, (key, low, high) in enumerate(filters):
        name = f"score_{number}"
        parts = [f"mapContains({scores}, {{{name}:String}})"]
        params[name] = key
        for operator, suffix, bound in ((">=", "low", low), ("<=", "high", high)):
            if bound is not None:
                parts.append(f"{scores}[{{{name}:String}}] {operator} {{{name}_{suffix}:Float64}}")
                params[f"{name}_{suffix}"] = bound
        texts.append(" AND ".join(parts))
    return texts, params


def score_sql(wanted: ScoreFilter, scores: str = "scores") -> str:
    """Returns the condition on the map `scores`, in literals. The key stands in it once."""
    parts = [literals.is_text("k", wanted.key, _MAX_KEY_CHARS)]
    parts += [] if wanted.low is None else [f"v >= {wanted.low!r}"]
    parts += [] if wanted.high is None else [f"v <= {wanted.high!r}"]
    pairs = f"mapKeys({scores}), mapValues({scores})"
    return f"arrayExists((k, v) -> {' AND '.join(parts)}, {pairs})"

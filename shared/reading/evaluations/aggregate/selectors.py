"""Selectors of charts: one score, of one agent in one environment, or of all of them."""

from typing import Annotated, Literal, NamedTuple, get_args

import msgspec
from msgspec import Meta

from shared.foundation.core.errors import Invalid

MAX_SERIES = 24
EVERY = "*"

AggregateName = Literal["avg", "min", "max", "p50", "p75", "p90", "p95", "p99", "stddev"]
AGGREGATES: tuple[AggregateName, ...] = get_args(AggregateName)


class Selector(NamedTuple):
    """The scores under `key` of results of an agent and environment, and the function to apply.

    `EVERY` means every agent or environment, even if one really has that name.
    """

    agent_id: Annotated[str, Meta(min_length=1)]
    environment: Annotated[str, Meta(min_length=1)]
    key: str
    agg: AggregateName


_FORM = f"[agent, environment, key, {'|'.join(AGGREGATES)}]"


def parse_series(text: str) -> tuple[Selector, ...]:
    """Parses the selectors of a JSON array of any length.

    Raises `Invalid` naming `series`; the reason contains the position, counted from 0, of the first
    malformed element.
    """
    try:
        items = msgspec.json.decode(text, type=list[object])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise Invalid.field("series", f"must be a JSON array of {_FORM}") from None
    parsed = []
    for position, item in enumerate(items):
        try:
            parsed.append(msgspec.convert(item, Selector))
        except msgspec.ValidationError:
            raise Invalid.field(
                "series", f"element {position} is not of the form {_FORM}"
            ) from None
    return tuple(parsed)

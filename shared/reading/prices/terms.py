"""The terms of a price: dollars by class, for large contexts, service tiers and times of day.

Prices are integers of 1e-6 dollars, so every sum is exact. As JSON they are numbers or decimal
text.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from shared.foundation.core.errors import Invalid
from shared.reading.prices.names import MAX_TIER_LENGTH, tier_of

# Classes of tokens, whose price is that of a million.
TOKENS = (
    "input",
    "output",
    "cache_read",
    "cache_write",
    "cache_write_1h",
    "reasoning",
    "input_audio",
    "output_audio",
)
# Classes whose price is that of a thousand.
OTHERS = ("web_search", "request")
CLASSES = (*TOKENS, *OTHERS)
REQUIRED = ("input", "output")

MILLION = 1_000_000
MAX_PRICE = 1_000_000
MAX_FACTOR = 10
MAX_DECIMALS = 6
MAX_TIERS = 5
MAX_VARIANTS = 20
_MAX_TOKENS = 2**32 - 1
_HUGE = 10**15

_DECIMAL = re.compile(r"-?\d{1,20}(\.\d{1,20})?", re.ASCII)
_TIMES = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)", re.ASCII)

# Prices by class, in 1e-6 dollars.
Prices = Mapping[str, int]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Tier:
    """Prices of calls whose whole input is greater than a number of tokens."""

    above_input_tokens: int
    prices: Prices


@dataclass(frozen=True, slots=True)
class Times:
    """A part of each day, in minutes of UTC; it contains its start and not its end."""

    start: int
    end: int

    def __str__(self) -> str:
        return "-".join(f"{one // 60:02}:{one % 60:02}" for one in (self.start, self.end))


@dataclass(frozen=True, slots=True)
class Variant:
    """Prices of the calls of a service tier, of a time of day, or of both.

    Either `prices` replace those of their names, or `factor`, in millionths, multiplies the prices
    of tokens. Then `tiers` count.
    """

    service_tier: str | None
    times: Times | None
    prices: Prices | None
    factor: int | None
    tiers: tuple[Tier, ...] = ()


@dataclass(frozen=True, slots=True)
class PriceTerms:
    """Everything that a price says about the cost of a call."""

    prices: Prices
    tiers: tuple[Tier, ...] = ()
    variants: tuple[Variant, ...] = ()

    @classmethod
    def parse(cls, prices: object, tiers: object = None, variants: object = None) -> "PriceTerms":
        """Reads decoded JSON; raises `Invalid` naming the path of a field, as `tiers.0.prices`."""
        return cls(
            _prices(prices, "prices", required=REQUIRED),
            _tiers(tiers, "tiers"),
            tuple(_items(variants, "variants", MAX_VARIANTS, _variant)),
        )

    def without_tiers(self) -> "PriceTerms":
        """Returns the terms of a provider that has no service tiers."""
        variants = tuple(one for one in self.variants if one.service_tier is None)
        return PriceTerms(self.prices, self.tiers, variants)

    def shown(self) -> dict[str, Any]:
        """Returns the terms as JSON, of which `parse` makes the same ones."""
        return {
            "prices": in_dollars(self.prices),
            "tiers": _shown_tiers(self.tiers),
            "variants": [_shown_variant(one) for one in self.variants],
        }


def in_dollars(prices: Prices) -> dict[str, float]:
    """Returns prices in dollars, in the order of the classes."""
    return {name: prices[name] / MILLION for name in CLASSES if name in prices}


def _shown_tiers(tiers: tuple[Tier, ...]) -> list[dict[str, Any]]:
    return [
        {"above_input_tokens": one.above_input_tokens, "prices": in_dollars(one.prices)}
        for one in tiers
    ]


def _shown_variant(variant: Variant) -> dict[str, Any]:
    when = {"service_tier": variant.service_tier, "utc_time": variant.times}
    shown: dict[str, Any] = {"when": {name: str(one) for name, one in when.items() if one}}
    if variant.prices is not None:
        shown["prices"] = in_dollars(variant.prices)
    if variant.factor is not None:
        shown["factor"] = variant.factor / MILLION
    if variant.tiers:
        shown["tiers"] = _shown_tiers(variant.tiers)
    return shown


def _variant(value: object, path: str) -> Variant:
    fields = _object(value, path, ("when", "prices", "factor", "tiers"))
    when = _object(fields.get("when"), f"{path}.when", ("service_tier", "utc_time"))
    tier, times = when.get("service_tier"), when.get("utc_time")
    if tier is None and times is None:
        raise Invalid.field(f"{path}.when", "must have service_tier or utc_time")
    prices, factor = fields.get("prices"), fields.get("factor")
    if (prices is None) == (factor is None):
        raise Invalid.field(path, "must have either prices or factor")
    return Variant(
        None if tier is None else _service_tier(tier, f"{path}.when.service_tier"),
        None if times is None else _times(times, f"{path}.when.utc_time"),
        None if prices is None else _prices(prices, f"{path}.prices"),
        None if factor is None else _millionths(factor, f"{path}.factor", MAX_FACTOR),
        _tiers(fields.get("tiers"), f"{path}.tiers"),
    )


def _service_tier(value: object, path: str) -> str:
    tier = tier_of(value)
    if tier is None:
        raise Invalid.field(
            path,
            f"must be text of at most {MAX_TIER_LENGTH} characters, and not the standard tier,"
            " whose prices are those of the price itself",
        )
    return tier


def _times(value: object, path: str) -> Times:
    match = _TIMES.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise Invalid.field(path, "must be two times in UTC such as 16:30-00:30")
    hour, minute, end_hour, end_minute = map(int, match.groups())
    times = Times(hour * 60 + minute, end_hour * 60 + end_minute)
    if times.start == times.end:
        raise Invalid.field(path, "must end at another time than it starts")
    return times


def _tiers(value: object, path: str) -> tuple[Tier, ...]:
    tiers = sorted(_items(value, path, MAX_TIERS, _tier), key=lambda one: one.above_input_tokens)
    if len({one.above_input_tokens for one in tiers}) < len(tiers):
        raise Invalid.field(path, "must differ in above_input_tokens")
    return tuple(tiers)


def _tier(value: object, path: str) -> Tier:
    fields = _object(value, path, ("above_input_tokens", "prices"))
    above = fields.get("above_input_tokens")
    if type(above) is not int or not 0 <= above <= _MAX_TOKENS:
        name = f"{path}.above_input_tokens"
        raise Invalid.field(name, f"must be a whole number from 0 to {_MAX_TOKENS}")
    return Tier(above, _prices(fields.get("prices"), f"{path}.prices"))


def _prices(value: object, path: str, required: Collection[str] = ()) -> Prices:
    given = _object(value, path, CLASSES)
    for name in required:
        if name not in given:
            raise Invalid.field(f"{path}.{name}", "is missing")
    if not given:
        raise Invalid.field(path, "must name a price")
    return {
        name: _millionths(given[name], f"{path}.{name}", MAX_PRICE)
        for name in CLASSES
        if name in given
    }


def _millionths(value: object, path: str, most: int) -> int:
    """Returns a number of at most six decimals as an integer of millionths."""
    amount = _decimal(value)
    if amount is None:
        raise Invalid.field(path, "must be a number, or a decimal number as text")
    if not 0 <= amount <= most:
        raise Invalid.field(path, f"must be from 0 to {most}")
    scaled = amount.scaleb(MAX_DECIMALS)
    if scaled != scaled.to_integral_value():
        raise Invalid.field(path, f"must have at most {MAX_DECIMALS} decimals")
    return int(scaled)


def _decimal(value: object) -> Decimal | None:
    if isinstance(value, str):
        return Decimal(value) if _DECIMAL.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # A sender wrote the shortest text of a number; Python makes none of a huge one.
    return Decimal(str(value)) if abs(value) < _HUGE else Decimal("Infinity")


def _object(value: object, path: str, names: Collection[str]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Invalid.field(path, "must be an object")
    for name in value:
        if name not in names:
            raise Invalid.field(f"{path}.{name}"[:256], f"is unknown; use {', '.join(names)}")
    return value


def _items(value: object, path: str, most: int, parse: Callable[[object, str], Item]) -> list[Item]:
    items = [] if value is None else value
    if not isinstance(items, list | tuple) or len(items) > most:
        raise Invalid.field(path, f"must be a list of at most {most}")
    return [parse(one, f"{path}.{number}") for number, one in enumerate(items)]

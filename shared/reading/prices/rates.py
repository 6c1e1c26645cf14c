"""The rates of a price for the calls of one service tier at one time of day."""

from typing import NamedTuple

import msgspec

from shared.reading.prices.terms import (
    MILLION,
    OTHERS,
    TOKENS,
    Prices,
    PriceTerms,
    Tier,
    Times,
    Variant,
)

_THOUSAND = 1_000
# A class without a price has that of another class, which stands before it.
_AS = {
    "cache_read": "input",
    "cache_write": "input",
    "cache_write_1h": "cache_write",
    "reasoning": "output",
    "input_audio": "input",
    "output_audio": "output",
}


class Rates(NamedTuple):
    """The price of one token, search or request of each class, in the unit of `Level.per_dollar`.

    The order is that of `terms.CLASSES`.
    """

    input: int
    output: int
    cache_read: int
    cache_write: int
    cache_write_1h: int
    reasoning: int
    input_audio: int
    output_audio: int
    web_search: int
    request: int

    def in_dollars(self, scale: int) -> dict[str, float]:
        """Returns the prices of a million tokens, and of a thousand searches and requests."""
        return {name: self.of(name, scale) for name in self._fields}

    def of(self, name: str, scale: int) -> float:
        """Returns the price of a class, as `in_dollars` does."""
        rate: int = getattr(self, name)
        return rate / (scale * MILLION * (1 if name in TOKENS else _THOUSAND))


class CallPrice(msgspec.Struct, frozen=True):
    """The rates of the calls of a service tier at a time of day.

    `levels` are the rates by whole input, the highest level first; the last one holds for every
    call. A rate is an integer of 1e-12 dollars divided by `scale`.
    """

    price_id: str
    levels: tuple[tuple[int, Rates], ...]
    scale: int
    is_tier_unknown: bool

    def at(self, whole_input: int) -> Rates:
        """Returns the rates of a call with so many tokens of input."""
        for above, rates in self.levels:
            if whole_input > above:
                return rates
        raise ValueError("the last level holds for every call")


class DayPrices(msgspec.Struct, frozen=True):
    """The rates of the calls of a service tier: `otherwise`, except in parts of the day."""

    parts: tuple[tuple[Times, CallPrice], ...]
    otherwise: CallPrice

    def at(self, us: int) -> CallPrice:
        """Returns the prices at a moment, in microseconds since the epoch."""
        if self.parts:
            minute = us // 60_000_000 % 1440
            for times, price in self.parts:
                if _holds(times, minute):
                    return price
        return self.otherwise


def day_prices(price_id: str, terms: PriceTerms, service_tier: str | None) -> DayPrices:
    """Returns the rates of a service tier. A tier without a variant has standard prices."""
    named = {one.service_tier for one in terms.variants}
    unknown = service_tier is not None and service_tier not in named
    parts: list[tuple[Times, CallPrice]] = []
    for variant in terms.variants:
        if variant.service_tier not in (None, service_tier):
            continue
        price = _call_price(price_id, terms, variant, unknown)
        if variant.times is None:
            return DayPrices(tuple(parts), price)
        parts.append((variant.times, price))
    return DayPrices(tuple(parts), _call_price(price_id, terms, None, unknown))


def _holds(times: Times, minute: int) -> bool:
    if times.start < times.end:
        return times.start <= minute < times.end
    return minute >= times.start or minute < times.end


def _call_price(
    price_id: str, terms: PriceTerms, variant: Variant | None, unknown: bool
) -> CallPrice:
    tiers = (*terms.tiers, *(variant.tiers if variant else ()))
    bounds = sorted({one.above_input_tokens for one in tiers}, reverse=True)
    levels = tuple((above, _rates(terms, variant, above)) for above in (*bounds, -1))
    return CallPrice(price_id, levels, _scale(variant), unknown)


def _scale(variant: Variant | None) -> int:
    return 1 if variant is None or variant.factor is None else MILLION


def _rates(terms: PriceTerms, variant: Variant | None, above: int) -> Rates:
    """Returns the rates of calls above a number of tokens of input."""
    prices = {**terms.prices, **_of_tier(terms.tiers, above)}
    if variant is not None:
        scale = _scale(variant)
        if variant.factor is not None:
            prices = {
                name: price * (variant.factor if name in TOKENS else scale)
                for name, price in prices.items()
            }
        for more in (variant.prices or {}, _of_tier(variant.tiers, above)):
            prices |= {name: price * scale for name, price in more.items()}
    for name, other in _AS.items():
        prices.setdefault(name, prices[other])
    others = {name: prices.get(name, 0) * _THOUSAND for name in OTHERS}
    return Rates(**{**prices, **others})


def _of_tier(tiers: tuple[Tier, ...], above: int) -> Prices:
    """Returns the prices of the highest tier that holds above a number of tokens."""
    return next((one.prices for one in reversed(tiers) if above >= one.above_input_tokens), {})

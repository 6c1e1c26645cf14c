"""The price of a call: an organization's own prices, and the built-in ones for all other calls."""

from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from shared.foundation.core.clock import to_us
from shared.reading.model_names import normal, spellings
from shared.reading.prices.builtin import BuiltinPrices
from shared.reading.prices.names import provider_of
from shared.reading.prices.price import Price
from shared.reading.prices.rates import CallPrice, DayPrices, day_prices

# A longer name is no model, and is not remembered.
MAX_MODEL_LENGTH = 256
# The calls of a process repeat the same models. Senders of other names cannot fill its memory.
_CACHED = 4096
_ALWAYS = -(2**63)


class Holding(NamedTuple):
    """A price that holds from a moment on, in microseconds since the epoch."""

    since: int
    price: Price
    of_day: DayPrices


class PriceBook:
    """Looks up prices; those that it has returned before in less than a microsecond."""

    def __init__(self, own: Iterable[Price], builtin: BuiltinPrices) -> None:
        self._patterns = [_Pattern(one) for one in own]
        self._builtin = builtin
        self._known: dict[tuple[str | None, ...], tuple[list[int], list[Holding]]] = {}

    def price_of(
        self, model: str | None, provider: str | None, service_tier: str | None, ts: int
    ) -> CallPrice | None:
        """Returns the prices of a call at `ts` (microseconds since the epoch); None if unknown."""
        holding = self.holding(model, provider, service_tier, ts)
        return None if holding is None else holding.of_day.at(ts)

    def holding(
        self, model: str | None, provider: str | None, service_tier: str | None, ts: int
    ) -> Holding | None:
        """Returns the price that holds for a call at `ts`, of which `price_of` has a part."""
        if not model or len(model) > MAX_MODEL_LENGTH:
            return None
        key = (model, provider, service_tier)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _CACHED:
                self._known.clear()
            holdings = list(self._holdings(model, provider_of(provider), service_tier))
            known = self._known[key] = ([one.since for one in holdings], holdings)
        starts, holdings = known
        place = bisect_right(starts, ts)
        return holdings[place - 1] if place else None

    def _holdings(self, model: str, provider: str | None, tier: str | None) -> Iterable[Holding]:
        """Yields the prices of a model, in the order of time."""
        prices = [*self._own(model, provider), *reversed(self._builtin.find(model, provider))]
        for since in sorted({holds_from(one) for one in prices}):
            price = next(one for one in prices if holds_from(one) <= since)
            yield Holding(since, price, day_prices(price.id, price.terms, tier))

    def _own(self, model: str, provider: str | None) -> list[Price]:
        """Returns the organization's prices that fit a call, the one that counts first."""
        if not self._patterns:
            return []
        spelled = spellings(model)
        names = frozenset((*spelled, *map(normal, spelled)))
        fitting = [one for one in self._patterns if one.fits(names, provider)]
        return [one.price for one in sorted(fitting, key=_Pattern.rank, reverse=True)]


@lru_cache(maxsize=4)
def builtin_book(builtin: BuiltinPrices) -> PriceBook:
    """Returns the prices of every organization that has none of its own."""
    return PriceBook((), builtin)


class _Pattern:
    """The models and the provider that an own price is for."""

    def __init__(self, price: Price) -> None:
        self.price = price
        self._provider = provider_of(price.provider)
        model = price.model.lower()
        self._texts = {model, normal(model)}
        self._parts = [text.split("*") for text in self._texts if "*" in text]
        self._letters = len(model.replace("*", ""))

    def fits(self, names: frozenset[str], provider: str | None) -> bool:
        """Returns whether the price is for one of these names of a model at a provider."""
        if self._provider not in (None, provider):
            return False
        if not self._parts:
            return not names.isdisjoint(self._texts)
        return any(_fit(parts, name) for parts in self._parts for name in names)

    def rank(self) -> tuple[object, ...]:
        """Returns the rank of the price among those for the same call; the greatest counts."""
        made = self.price.created_at
        stars = self.price.model.count("*")
        return (
            self._provider is not None,
            self._letters,
            -stars,
            holds_from(self.price),
            0 if made is None else to_us(made),
        )


def _fit(parts: list[str], name: str) -> bool:
    """Returns whether the parts stand in the name in this order, with any text between them.

    A regular expression could take forever for a pattern of many stars.
    """
    first, *between, last = parts
    place, end = len(first), len(name) - len(last)
    if place > end or not (name.startswith(first) and name.endswith(last)):
        return False
    for part in between:
        place = name.find(part, place, end)
        if place < 0:
            return False
        place += len(part)
    return True


def holds_from(price: Price) -> int:
    """Returns the moment from which a price holds, in microseconds since the epoch."""
    return _ALWAYS if price.valid_from is None else to_us(price.valid_from)

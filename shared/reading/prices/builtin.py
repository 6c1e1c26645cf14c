"""The built-in prices.

The table is read when the first price is looked up, and the prices of a model when that model is.
No process asks the network for prices.
"""

from dataclasses import replace
from datetime import UTC, datetime, time
from functools import cached_property, lru_cache
from pathlib import Path

import msgspec

from shared.foundation.core.errors import ConfigurationError, Invalid
from shared.reading.model_names import normal, spellings
from shared.reading.prices.names import provider_of
from shared.reading.prices.price import Price
from shared.reading.prices.table import Clause, Table, TableModel, TablePrice, TableProvider
from shared.reading.prices.terms import PriceTerms

FILE = Path(__file__).with_name("builtin.json")
_CACHED = 4096


class _Models:
    """The models of a provider, of which the first that matches counts."""

    def __init__(self, models: list[TableModel]) -> None:
        self.all = models
        self._equal: dict[str, int] = {}
        self._spelled: dict[str, int] = {}
        self._others: list[tuple[int, Clause]] = []
        for number, model in enumerate(models):
            for clause in model.match.alternatives():
                if clause.equals is None:
                    self._others.append((number, clause))
                else:
                    self._equal.setdefault(clause.equals, number)
                    self._spelled.setdefault(normal(clause.equals), number)

    def find(self, name: str) -> TableModel | None:
        """Returns the model of a name."""
        return self._at(self._equal.get(name, len(self.all)), name)

    def find_spelled(self, name: str) -> TableModel | None:
        """Does the same for the normal spelling of a name."""
        return self._at(self._spelled.get(name, len(self.all)), name)

    def _at(self, equal: int, name: str) -> TableModel | None:
        numbers = (number for number, clause in self._others if clause.matches(name))
        number = min(equal, next(numbers, equal))
        return self.all[number] if number < len(self.all) else None


class BuiltinPrices:
    """The prices of a table; raises `msgspec.MsgspecError` for one that is not of this format."""

    def __init__(self, file: bytes) -> None:
        self.table = msgspec.json.decode(file, type=Table)
        self._providers = {one.id: one for one in self.table.providers}
        self._models: dict[str, _Models] = {}
        # Events repeat the same few models.
        self.find = lru_cache(_CACHED)(self._find)

    @cached_property
    def all(self) -> list[Price]:
        """All prices, by provider, model and day."""
        prices = [
            price
            for provider in self.table.providers
            for model in self._models_of(provider).all
            for price in self._prices_of(provider, model)
        ]
        return sorted(prices, key=lambda one: one.id)

    def check(self) -> None:
        """Reads everything; raises `ValueError` with the place of the first fault."""
        for provider in self.table.providers:
            place = f"provider {provider.id}"
            try:
                clauses = [provider.match, provider.model_match]
                for model in self._models_of(provider).all:
                    place = f"provider {provider.id}, model {model.id}"
                    self._prices_of(provider, model)
                    clauses.append(model.match)
                for clause in filter(None, clauses):
                    clause.check()
            except (msgspec.MsgspecError, Invalid, ValueError) as error:
                raise ValueError(f"{place}: {error}") from None
        unknown = {one for each in self.table.providers for one in each.fallback}
        if unknown - self._providers.keys():
            raise ValueError(f"there is no provider {min(unknown - self._providers.keys())}")

    def _find(self, model: str, provider: str | None) -> tuple[Price, ...]:
        """Returns the prices of a model, one for each time; none if it is unknown.

        They are those of the provider, else those of the model's maker. Service tiers are those of
        the provider alone.
        """
        names = spellings(model)
        asked = None if provider is None else self._provider_of(provider)
        if asked is not None:
            found = self._find_at(asked, names)
            if found is not None:
                return found
        for maker in self.table.providers:
            match = maker.model_match
            if match is not None and any(map(match.matches, names)):
                found = self._find_at(maker, names)
                if found is not None:
                    return found if asked is None else _without_tiers(found)
        return ()

    def _provider_of(self, name: str) -> TableProvider | None:
        """Returns a provider by its name, or by the text before a dot (`groq.chat`)."""
        for spelled in (name, provider_of(name.partition(".")[0]) or ""):
            if spelled in self._providers:
                return self._providers[spelled]
            for one in self.table.providers:
                if one.match is not None and one.match.matches(spelled):
                    return one
        return None

    def _find_at(self, provider: TableProvider, names: tuple[str, ...]) -> tuple[Price, ...] | None:
        offering = [provider, *(self._providers[one] for one in provider.fallback)]
        tries = [(name, _Models.find) for name in names]
        tries += [(normal(name), _Models.find_spelled) for name in names]
        for name, find in tries:
            for one in offering:
                model = find(self._models_of(one), name)
                if model is not None:
                    prices = self._prices_of(one, model)
                    return prices if one is provider else _without_tiers(prices)
        return None

    def _models_of(self, provider: TableProvider) -> _Models:
        models = self._models.get(provider.id)
        if models is None:
            models = _Models(msgspec.json.decode(provider.models, type=list[TableModel]))
            self._models[provider.id] = models
        return models

    def _prices_of(self, provider: TableProvider, model: TableModel) -> tuple[Price, ...]:
        rows = msgspec.json.decode(model.prices, type=list[TablePrice])
        return tuple(self._price(f"{provider.id}/{model.id}", provider, model, row) for row in rows)

    def _price(
        self, name: str, provider: TableProvider, model: TableModel, row: TablePrice
    ) -> Price:
        day = row.valid_from
        return Price(
            f"builtin:{self.table.version}:{name}{'' if day is None else f'@{day}'}",
            "builtin",
            model.id,
            provider.id,
            None if day is None else datetime.combine(day, time(), UTC),
            PriceTerms.parse(row.prices, row.tiers, row.variants),
        )


@lru_cache(maxsize=4)
def builtin_prices(file: str | None) -> BuiltinPrices:
    """Returns the prices of the release, or those of MODEL_PRICES_FILE.

    Raises `ConfigurationError` for a file that cannot be read, or is not of this format.
    """
    if file is None:
        return BuiltinPrices(FILE.read_bytes())
    try:
        prices = BuiltinPrices(Path(file).read_bytes())
        prices.check()
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise ConfigurationError(f"MODEL_PRICES_FILE: {file} is no table: {error}") from None
    return prices


def _without_tiers(prices: tuple[Price, ...]) -> tuple[Price, ...]:
    return tuple(replace(one, terms=one.terms.without_tiers()) for one in prices)

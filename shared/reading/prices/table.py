"""The format of a table of prices, a JSON file.

`shared.reading.prices.from_genai_prices` writes it. Rows of prices are those of the API. Names are
in lower case, because the names of calls are compared in lower case.
"""

import re
from datetime import date
from typing import Any

import msgspec


class Clause(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A rule for a name in lower case; exactly one of the fields is set."""

    equals: str | None = None
    starts_with: str | None = None
    ends_with: str | None = None
    contains: str | None = None
    regex: str | None = None
    any_of: tuple["Clause", ...] | None = msgspec.field(default=None, name="or")
    all_of: tuple["Clause", ...] | None = msgspec.field(default=None, name="and")

    def matches(self, name: str) -> bool:
        """Returns whether the name follows the rule."""
        if self.equals is not None:
            return name == self.equals
        if self.starts_with is not None:
            return name.startswith(self.starts_with)
        if self.ends_with is not None:
            return name.endswith(self.ends_with)
        if self.contains is not None:
            return self.contains in name
        if self.regex is not None:
            return re.search(self.regex, name) is not None
        if self.any_of is not None:
            return any(one.matches(name) for one in self.any_of)
        return all(one.matches(name) for one in self.all_of or ())

    def check(self) -> None:
        """Raises `ValueError` unless exactly one field is set, and is of use."""
        values = [one for one in msgspec.structs.astuple(self) if one is not None]
        if len(values) != 1 or not values[0]:
            raise ValueError("a rule needs one text, or one list of rules")
        if self.regex is not None:
            try:
                re.compile(self.regex)
            except re.error as error:
                raise ValueError(f"{self.regex} is no regular expression: {error}") from None
        for one in (*(self.any_of or ()), *(self.all_of or ())):
            one.check()

    def alternatives(self) -> tuple["Clause", ...]:
        """Returns the clauses of which one is enough."""
        return (self,) if self.any_of is None else self.any_of


class TableModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model of a provider, and a list of `TablePrice`, empty if it has no price of tokens."""

    id: str
    match: Clause
    prices: msgspec.Raw


class TablePrice(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The terms that hold from the beginning of a day in UTC on, None: always."""

    prices: dict[str, Any]
    valid_from: date | None = None
    tiers: list[dict[str, Any]] | None = None
    variants: list[dict[str, Any]] | None = None


class TableProvider(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A provider: its other names, the models that it makes, and a list of `TableModel`.

    `fallback` are the providers whose models it offers too.
    """

    id: str
    models: msgspec.Raw
    match: Clause | None = None
    model_match: Clause | None = None
    fallback: tuple[str, ...] = ()


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of prices: its source and version, its day, its number of models, and the prices."""

    source: str
    version: str
    as_of: date
    models: int
    providers: tuple[TableProvider, ...]

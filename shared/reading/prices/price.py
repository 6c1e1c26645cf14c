"""A price: a model, of a provider or of any, and the terms that hold from a moment on."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from shared.reading.prices.terms import PriceTerms

Source = Literal["organization", "builtin"]


@dataclass(frozen=True, slots=True)
class Price:
    """A row of prices; None for `valid_from` means always.

    `model` is a pattern of an organization, in which `*` is any text, or the name of a built-in
    model.
    """

    id: str
    source: Source
    model: str
    provider: str | None
    valid_from: datetime | None
    terms: PriceTerms
    note: str = ""
    created_by: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None

"""Prices of an organization: its own ones, and those that its calls have."""

import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.access.audit_log import fields_of, record
from shared.foundation.core import bounds
from shared.foundation.core.cursor import Page, decode_cursor, encode_cursor
from shared.foundation.core.errors import Conflict
from shared.foundation.postgres import transaction_time
from shared.foundation.postgres.rows import change, flush_unique, require_row
from shared.reading.prices.book import MAX_MODEL_LENGTH, PriceBook, builtin_book, holds_from
from shared.reading.prices.builtin import BuiltinPrices
from shared.reading.prices.models import OwnPrice
from shared.reading.prices.names import MAX_PROVIDER_LENGTH
from shared.reading.prices.price import Price
from shared.reading.prices.terms import PriceTerms

MAX_NOTE_LENGTH = 1000
# Ingest workers cache the prices of every organization that sends events.
MAX_PRICES = 2000
SOURCES = ("organization", "builtin", "all")


@dataclass(frozen=True)
class PriceContent:
    """The part of a price that people decide; `prices`, `tiers` and `variants` are JSON."""

    model: str
    provider: str | None
    valid_from: datetime | None
    prices: object
    tiers: object
    variants: object
    note: str


class _PricePosition(NamedTuple):
    """The place of a price in the list."""

    is_builtin: bool
    model: str
    provider: str
    since: int
    id: str


def list_(
    session: Session,
    org_id: uuid.UUID,
    builtin: BuiltinPrices,
    *,
    source: str,
    model: str | None,
    cursor: str | None,
    limit: int,
) -> Page[Price]:
    """Lists prices whose model contains a text, own ones first, by model, provider and moment.

    `source` is one of `SOURCES`. Raises `Invalid` for a cursor that is none.
    """
    after = None if cursor is None else decode_cursor(cursor, _PricePosition)
    prices: list[Price] = []
    if source != "builtin":
        prices += _own_prices(session, [org_id])[org_id]
    if source != "organization":
        prices += builtin.all
    part = (model or "").lower()
    places = {_place(one): one for one in prices if part in one.model.lower()}
    left = sorted(place for place in places if after is None or place > after)
    more = len(left) > limit
    rows = [places[place] for place in left[:limit]]
    return Page(rows, encode_cursor(left[limit - 1]) if more else None)


def prices_of(
    session: Session, org_ids: Collection[uuid.UUID], builtin: BuiltinPrices
) -> dict[uuid.UUID, PriceBook]:
    """Returns the prices of the calls of each of these organizations; runs one query."""
    shared = builtin_book(builtin)
    return {
        org_id: PriceBook(prices, builtin) if prices else shared
        for org_id, prices in _own_prices(session, org_ids).items()
    }


def snapshot_of(session: Session, org_id: uuid.UUID) -> list[dict[str, object]]:
    """Returns the organization's own prices as JSON, for `book_of`."""
    rows = session.scalars(select(OwnPrice).where(OwnPrice.org_id == org_id))
    return [
        {
            "id": str(row.id),
            "model": row.model,
            "provider": row.provider,
            "valid_from": None if row.valid_from is None else row.valid_from.isoformat(),
            "created_at": row.created_at.isoformat(),
            "terms": row.terms,
        }
        for row in rows
    ]


def book_of(snapshot: Iterable[Mapping[str, Any]], builtin: BuiltinPrices) -> PriceBook:
    """Returns the prices of the calls of an organization as they were at a snapshot."""
    own = [
        Price(
            one["id"],
            "organization",
            one["model"],
            one["provider"],
            one["valid_from"] and datetime.fromisoformat(one["valid_from"]),
            PriceTerms.parse(**one["terms"]),
            created_at=datetime.fromisoformat(one["created_at"]),
        )
        for one in snapshot
    ]
    return PriceBook(own, builtin) if own else builtin_book(builtin)


def create(session: Session, org_id: uuid.UUID, wanted: PriceContent, *, created_by: str) -> Price:
    """Creates a price; run it in `cache.at_once`.

    Raises `Invalid` naming the field, `Conflict` if there is one for the same calls, or 2000.
    """
    columns = _checked(wanted)
    count = select(func.count()).where(OwnPrice.org_id == org_id)
    if (session.scalar(count) or 0) >= MAX_PRICES:
        raise Conflict(
            f"an organization can have at most {MAX_PRICES} prices: delete one first",
            code="too_many_prices",
        )
    moment = transaction_time(session)
    row = OwnPrice(
        org_id=org_id, created_by=created_by, created_at=moment, updated_at=moment, **columns
    )
    session.add(row)
    _flush(session)
    record(session, org_id, "price.create", target=row.id, name=row.model, after=_logged(row))
    return _price(row)


def replace(session: Session, org_id: uuid.UUID, price_id: str, wanted: PriceContent) -> Price:
    """Replaces a price as a whole; run it in `cache.at_once`.

    Raises `NotFound`, also for a built-in price, and as `create` does.
    """
    columns = _checked(wanted)
    row = _changeable(session, org_id, price_id)
    before = _logged(row)
    change(session, row, columns)
    _flush(session)
    record(
        session,
        org_id,
        "price.update",
        target=row.id,
        name=row.model,
        before=before,
        after=_logged(row),
    )
    return _price(row)


def delete(session: Session, org_id: uuid.UUID, price_id: str) -> None:
    """Deletes a price; run it in `cache.at_once`. Raises `NotFound`, also for a built-in price."""
    row = _changeable(session, org_id, price_id)
    session.delete(row)
    record(session, org_id, "price.delete", target=row.id, name=row.model, before=_logged(row))


def _place(price: Price) -> _PricePosition:
    return _PricePosition(
        price.source == "builtin",
        price.model.lower(),
        (price.provider or "").lower(),
        holds_from(price),
        price.id,
    )


def _own_prices(session: Session, org_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, list[Price]]:
    found: dict[uuid.UUID, list[Price]] = {org_id: [] for org_id in org_ids}
    for row in session.scalars(select(OwnPrice).where(OwnPrice.org_id.in_(org_ids))):
        found[row.org_id].append(_price(row))
    return found


def _price(row: OwnPrice) -> Price:
    return Price(
        str(row.id),
        "organization",
        row.model,
        row.provider,
        row.valid_from,
        PriceTerms.parse(**row.terms),
        row.note,
        row.created_by,
        row.created_at,
        row.updated_at,
    )


def _changeable(session: Session, org_id: uuid.UUID, price_id: str) -> OwnPrice:
    rows = select(OwnPrice).where(OwnPrice.org_id == org_id).with_for_update()
    return require_row(session, rows, OwnPrice.id, price_id, "price")


def _checked(wanted: PriceContent) -> dict[str, object]:
    """Returns the columns."""
    provider = wanted.provider
    if provider is not None:
        provider = bounds.require_name("provider", provider, most=MAX_PROVIDER_LENGTH)
    terms = PriceTerms.parse(wanted.prices, wanted.tiers, wanted.variants)
    return {
        "model": bounds.require_name("model", wanted.model, most=MAX_MODEL_LENGTH),
        "provider": provider,
        "valid_from": wanted.valid_from,
        "terms": terms.shown(),
        "note": bounds.require_text("note", wanted.note, most=MAX_NOTE_LENGTH),
    }


def _logged(row: OwnPrice) -> dict[str, object]:
    return {**fields_of(row, "model", "provider", "valid_from", "note"), **row.terms}


def _flush(session: Session) -> None:
    taken = Conflict(
        "there is a price for this model, provider and valid_from: change that one",
        code="price_exists",
    )
    flush_unique(session, {"uq_prices_key": taken})

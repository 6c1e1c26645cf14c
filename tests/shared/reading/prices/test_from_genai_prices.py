"""The program that makes the table of the classes of `genai-prices`, which stand-ins play here."""

from datetime import date, time
from decimal import Decimal
from types import SimpleNamespace as Thing
from typing import Any

import pytest

from shared.reading.prices.builtin import BuiltinPrices
from shared.reading.prices.from_genai_prices import table_of


def start(year: int, month: int, day: int) -> Thing:
    return Thing(start_date=date(year, month, day))


def prices(**values: Any) -> Thing:
    return Thing(**{f"{name}_mtok": value for name, value in values.items()})


def tiered(base: str, *tiers: tuple[int, str]) -> Thing:
    return Thing(
        base=Decimal(base),
        tiers=[Thing(start=above, price=Decimal(price)) for above, price in tiers],
    )


def rows_of(priced: Any, variants: Any = None, name: str = "m") -> list[dict[str, Any]]:
    """Returns the rows that the table has of a model, as JSON."""
    model = Thing(id=name, match=Thing(equals=name), prices=priced, price_variants=variants)
    provider = Thing(
        id="p",
        provider_match=None,
        model_match=None,
        fallback_model_providers=None,
        models=[model],
    )
    table = BuiltinPrices(table_of([provider], "9"))
    table.check()
    assert (table.table.version, table.table.models) == ("9", 1)
    return [
        {"valid_from": str(one.valid_from or "")[:10], **one.terms.shown()} for one in table.all
    ]


def row(valid_from: str = "", **terms: Any) -> dict[str, Any]:
    return {"valid_from": valid_from, "tiers": [], "variants": [], **terms}


def test_history_becomes_a_row_for_each_change() -> None:
    history = [
        Thing(constraint=None, prices=prices(input=Decimal(10), output=Decimal(40))),
        Thing(constraint=start(2025, 6, 10), prices=prices(input=Decimal(2), output=Decimal(8))),
    ]
    same = Thing(
        when={"service_tier": "default"}, constraint=start(2025, 9, 9), prices=prices(input=None)
    )
    assert rows_of(history, [same]) == [
        row(prices={"input": 10, "output": 40}),
        row("2025-06-10", prices={"input": 2, "output": 8}),
    ]


def test_a_tier_has_all_prices_that_differ_above_it() -> None:
    priced = prices(
        input=tiered("1", (100, "2"), (200, "3")),
        output=tiered("5", (100, "6")),
        cache_read=Decimal("0.19999999999999998"),
    )
    assert rows_of(priced) == [
        row(
            prices={"input": 1, "output": 5, "cache_read": 0.2},
            tiers=[
                {"above_input_tokens": 100, "prices": {"input": 2, "output": 6}},
                {"above_input_tokens": 200, "prices": {"input": 3, "output": 6}},
            ],
        )
    ]


def test_variants_become_service_tiers_from_their_day_on() -> None:
    priced = prices(input=Decimal(4), output=Decimal(8))
    variants = [
        Thing(when={"processing": "batch"}, constraint=start(2026, 10, 14), prices=half)
        for half in (prices(input=Decimal(2)), prices(input=Decimal(3), output=Decimal(4)))
    ]
    variants.append(
        Thing(when={"speed": "fast"}, constraint=None, prices=prices(output=Decimal(9)))
    )
    fast = {"when": {"service_tier": "fast"}, "prices": {"output": 9}}
    batch = {"when": {"service_tier": "batch"}, "prices": {"input": 2, "output": 4}}
    standard = {"input": 4, "output": 8}
    assert rows_of(priced, variants) == [
        row(prices=standard, variants=[fast]),
        row("2026-10-14", prices=standard, variants=[batch, fast]),
    ]


def test_times_of_day_become_variants_and_the_last_comes_first() -> None:
    parts = [(time(1), time(4), 5), (time(22, 30), time(0, 30), 6)]
    history = [Thing(constraint=None, prices=prices(input=Decimal(1), output=Decimal(2)))]
    history += [
        Thing(constraint=Thing(start_time=since, end_time=to), prices=prices(input=Decimal(price)))
        for since, to, price in parts
    ]
    assert rows_of(history) == [
        row(
            prices={"input": 1, "output": 2},
            variants=[
                {"when": {"utc_time": "22:30-00:30"}, "prices": {"input": 6}},
                {"when": {"utc_time": "01:00-04:00"}, "prices": {"input": 5}},
            ],
        )
    ]


def test_only_a_name_says_that_a_model_is_free() -> None:
    assert rows_of(Thing(), name="m:free") == [row(prices={"input": 0, "output": 0})]
    assert rows_of(Thing()) == []
    assert rows_of(Thing(audio_hours=Decimal(1)), name="m:free") == []
    # An embedding model has no output.
    assert rows_of(prices(input=Decimal(1))) == [row(prices={"input": 1, "output": 0})]


def test_what_the_program_does_not_know_stops_it() -> None:
    priced = prices(input=Decimal(1), output=Decimal(2))
    variant = Thing(when={"region": "eu"}, constraint=None, prices=priced)
    with pytest.raises(ValueError, match="m: a variant for"):
        rows_of(priced, [variant])

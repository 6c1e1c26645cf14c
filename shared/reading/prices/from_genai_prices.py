"""Writes the built-in table from `genai-prices`, which has to be installed.

    python -m shared.reading.prices.from_genai_prices [FILE]

Run it in an environment of its own: the service never imports that package. Without FILE it writes
the table of the release, and the licence of the package beside it. FILE is for
`MODEL_PRICES_FILE`.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import msgspec

from shared.reading.prices.builtin import FILE, BuiltinPrices

_PACKAGE = "genai-prices"
_LICENCE = FILE.with_name("genai-prices.LICENSE.txt")
_PLACE = Decimal("0.000001")
_CLASSES = {
    "input_mtok": "input",
    "output_mtok": "output",
    "cache_read_mtok": "cache_read",
    "cache_write_mtok": "cache_write",
    "cache_write_1h_mtok": "cache_write_1h",
    "output_reasoning_mtok": "reasoning",
    "input_audio_mtok": "input_audio",
    "output_audio_mtok": "output_audio",
    "web_searches_kcount": "web_search",
    "requests_kcount": "request",
}
# Service tiers, by the condition under which the package has them.
_TIERS = {"processing": {"batch"}, "service_tier": {"flex", "priority", "fast"}, "speed": {"fast"}}
# The standard prices, and conditions that events do not name.
_LEFT_OUT = {"service_tier": {"default"}, "search_type": {"fast", "web"}, "route": {"mistral/eu"}}
_CLAUSES = ("equals", "starts_with", "ends_with", "contains")


def main(path: Path | None) -> None:
    """Writes the table, and where it belongs to the release, the licence."""
    package = distribution(_PACKAGE)
    table = table_of(import_module("genai_prices.data").providers, package.version)
    BuiltinPrices(table).check()
    (path or FILE).write_bytes(table)
    if path is None:
        [licence] = [one for one in package.files or () if one.name == "LICENSE"]
        _LICENCE.write_text(licence.read_text())


def table_of(providers: list[Any], version: str) -> bytes:
    """Returns the table of these providers, with a line for each model."""
    head = {
        "source": _PACKAGE,
        "version": version,
        "as_of": datetime.now(UTC).date(),
        "models": sum(len(one.models) for one in providers),
    }
    body = b",\n".join(_provider(one) for one in providers)
    return msgspec.json.encode(head)[:-1] + b',"providers":[\n' + body + b"\n]}\n"


def _provider(provider: Any) -> bytes:
    head = {"id": provider.id}
    for name, clause in (("match", provider.provider_match), ("model_match", provider.model_match)):
        if clause is not None:
            head[name] = _clause(clause)
    if provider.fallback_model_providers:
        head["fallback"] = provider.fallback_model_providers
    models = b",\n".join(msgspec.json.encode(_model(one)) for one in provider.models)
    return msgspec.json.encode(head)[:-1] + b',"models":[\n' + models + b"\n]}"


def _clause(clause: Any) -> dict[str, Any]:
    for several, name in (("or_", "or"), ("and_", "and")):
        if hasattr(clause, several):
            return {name: [_clause(one) for one in getattr(clause, several)]}
    if hasattr(clause, "regex"):
        return {"regex": clause.regex}
    [name] = [one for one in _CLAUSES if hasattr(clause, one)]
    return {name: getattr(clause, name).lower()}


def _model(model: Any) -> dict[str, Any]:
    return {"id": model.id, "match": _clause(model.match), "prices": list(_rows(model))}


def _rows(model: Any) -> Iterator[dict[str, Any]]:
    """Yields the terms of a model from each day on that changes them."""
    variants = model.price_variants or []
    conditional = model.prices if isinstance(model.prices, list) else []
    days = {start for one in (*conditional, *variants) if (start := _start(one)) is not None}
    last = None
    for day in (None, *sorted(days)):
        terms = _terms(model, day)
        if terms is None and last is not None:
            raise ValueError(f"{model.id} has a price of tokens no longer")
        if terms is not None and terms != last:
            yield terms if day is None else {"valid_from": day, **terms}
        last = terms


def _start(conditional: Any) -> date | None:
    return getattr(conditional.constraint, "start_date", None)


def _holds(conditional: Any, day: date | None) -> bool:
    if conditional.constraint is None:
        return True
    return day is not None and conditional.constraint.start_date <= day


def _terms(model: Any, day: date | None) -> dict[str, Any] | None:
    """Returns the terms on a day; None for a model without a price of tokens."""
    standard, times = _of_day(model, day)
    prices, tiers = _split(standard)
    if "input" not in prices:
        # A name says that a model is free; the package says nothing then.
        if standard or not model.id.endswith(":free"):
            return None
        prices["input"] = 0
    # Of an embedding model, which has no output.
    prices.setdefault("output", 0)
    tiered = _of_tiers(model, day)
    if times and tiered:
        raise ValueError(f"{model.id}: prices of a tier and of a time of day")
    variants = [{"when": when, **_terms_of_variant(values)} for when, values in (*times, *tiered)]
    more = {"tiers": tiers, "variants": variants}
    return {"prices": prices, **{name: one for name, one in more.items() if one}}


def _of_day(model: Any, day: date | None) -> tuple[dict[str, Any], list[tuple[Any, Any]]]:
    """Returns the prices of a day, and those of parts of it. The last that holds comes first."""
    if not isinstance(model.prices, list):
        return _values(model.prices), []
    times = []
    for one in reversed(model.prices):
        if hasattr(one.constraint, "start_time"):
            if one.constraint.start_time.utcoffset() or one.constraint.end_time.utcoffset():
                raise ValueError(f"{model.id}: a time of day that is not of UTC")
            part = f"{one.constraint.start_time:%H:%M}-{one.constraint.end_time:%H:%M}"
            times.append(({"utc_time": part}, _values(one.prices)))
        elif _holds(one, day):
            return _values(one.prices), times
    return _values(model.prices[0].prices), times


def _of_tiers(model: Any, day: date | None) -> list[tuple[Any, Any]]:
    """Returns the prices of service tiers on a day; the first variant with a price has it."""
    tiers: dict[str, dict[str, Any]] = {}
    for one in model.price_variants or ():
        [(kind, name)] = one.when.items()
        if name in _TIERS.get(kind, ()):
            if _holds(one, day):
                tiers[name] = {**_values(one.prices), **tiers.get(name, {})}
        elif name not in _LEFT_OUT.get(kind, ()):
            raise ValueError(f"{model.id}: a variant for {one.when}")
    return [({"service_tier": name}, values) for name, values in tiers.items() if values]


def _values(prices: Any) -> dict[str, Any]:
    """Returns prices by class, and those of other things by their own names."""
    return {
        _CLASSES.get(name, name): price for name, price in vars(prices).items() if price is not None
    }


def _terms_of_variant(values: dict[str, Any]) -> dict[str, Any]:
    prices, tiers = _split(values)
    return {"prices": prices, **({"tiers": tiers} if tiers else {})}


def _split(values: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Returns the prices of small inputs, and those of each tier of larger ones."""
    priced = {name: values[name] for name in _CLASSES.values() if name in values}
    steps = {name: [(-1, one)] for name, one in priced.items() if isinstance(one, Decimal)}
    for name, one in priced.items():
        if name not in steps:
            steps[name] = [(-1, one.base), *((tier.start, tier.price) for tier in one.tiers)]
    bounds = sorted({start for each in steps.values() for start, _ in each[1:]})
    tiers = [
        {
            "above_input_tokens": bound,
            "prices": {
                name: _number(max(step for step in each if step[0] <= bound)[1])
                for name, each in steps.items()
                if len(each) > 1
            },
        }
        for bound in bounds
    ]
    return {name: _number(each[0][1]) for name, each in steps.items()}, tiers


def _number(price: Decimal) -> float | int:
    """Returns a price as JSON; some have the last digits of a calculation in binary numbers."""
    rounded = price.quantize(_PLACE, ROUND_HALF_EVEN)
    return int(rounded) if rounded == rounded.to_integral_value() else float(rounded)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)

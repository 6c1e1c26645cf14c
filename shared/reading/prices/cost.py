"""The cost of a call, in integers of 1e-12 dollars.

A quantity times a price is such an integer, because a price of a million tokens is one of 1e-6
dollars. With a factor it is one of 1e-18 dollars. Only the sum of a call is rounded, half to even.
"""

from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from operator import mul
from typing import Literal, NamedTuple

import msgspec

from shared.reading.prices.rates import CallPrice, Rates
from shared.reading.prices.terms import CLASSES

PLACES = 12
UNITS = 10**PLACES
MAX_REPORTED_USD = 1_000_000
_PLACE = Decimal(1).scaleb(-PLACES)
_MAX_TEXT = 64

CostSource = Literal["reported", "computed", "unpriced"]
REPORTED: CostSource = "reported"
COMPUTED: CostSource = "computed"
Reason = Literal["no_model", "no_price", "no_usage", "bad_usage"]

LIFETIME_ASSUMED = "write_lifetime_assumed"
TIER_UNKNOWN = "tier_unknown"
CACHED_ADDED = "cached_added"
REASONING_ADDED = "reasoning_added"
REPORTED_IGNORED = "reported_ignored"


class CallUsage(msgspec.Struct, frozen=True, gc=False):
    """The usage of a call, with None where its event says nothing.

    `is_usable` is False if a field has a value that no number of tokens can be. `reported` is the
    reported cost in 1e-12 dollars, and `is_reported_usable` is False if there is one that cannot
    count. `ts` is the moment of the call in microseconds since the epoch.
    """

    model: str | None = None
    provider: str | None = None
    service_tier: str | None = None
    ts: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    audio_input_tokens: int | None = None
    audio_output_tokens: int | None = None
    reasoning_tokens: int | None = None
    web_searches: int | None = None
    reported: int | None = None
    is_reported_usable: bool = True
    is_error: bool = False
    is_usable: bool = True


class CallCost(msgspec.Struct, frozen=True, gc=False):
    """The cost of a call, in 1e-12 dollars.

    `source` is None if the call needs no cost. `computed` and `price_id` are there whenever the
    cost could be computed, also beside a reported one. `notes` name assumptions.
    """

    cost: int | None = None
    source: CostSource | None = None
    computed: int | None = None
    reported: int | None = None
    unpriced_reason: Reason | None = None
    price_id: str | None = None
    notes: tuple[str, ...] = ()


class CostLine(NamedTuple):
    """One class of a call: the price of a million tokens or a thousand others, and the amount."""

    class_: str
    quantity: int
    rate: float
    cost_usd: float


# The whole input, whether there are tokens, a quantity for each of `CLASSES`, none of which is in
# two of them, and notes. A class would take a microsecond of each call.
_Amounts = tuple[int, bool, tuple[int, ...], tuple[str, ...]]


def cost_of(usage: CallUsage, price: CallPrice | None) -> CallCost:
    """Returns the cost of a call; `price` is that of its model, tier and moment."""
    amounts = _amounts(usage) if usage.is_usable else None
    reported = usage.reported
    if reported == 0 and (amounts is None or amounts[1]):
        # Senders write 0 for a cost that they do not know.
        reported = None
    ignored = () if usage.is_reported_usable else (REPORTED_IGNORED,)
    reason = _unpriced_reason(usage, price, amounts)
    if price is not None and amounts is not None and reason is None:
        computed, notes = _computed(usage, price, amounts)
        if reported is None:
            cost, source = computed, COMPUTED
        else:
            cost, source = reported, REPORTED
        return CallCost(cost, source, computed, reported, None, price.price_id, (*notes, *ignored))
    if reported is not None:
        return CallCost(reported, REPORTED, None, reported, notes=ignored)
    if usage.is_error and amounts is not None and not amounts[1]:
        return CallCost(notes=ignored)
    return CallCost(source="unpriced", unpriced_reason=reason, notes=ignored)


def lines_of(usage: CallUsage, price: CallPrice | None) -> list[CostLine]:
    """Returns the classes of a call with their costs; none if it cannot be computed."""
    amounts = _amounts(usage) if usage.is_usable else None
    if price is None or amounts is None or _unpriced_reason(usage, price, amounts):
        return []
    rates, quantities, _ = _priced(usage, price, amounts)
    return [
        CostLine(
            name, quantity, rates.of(name, price.scale), quantity * rate / (UNITS * price.scale)
        )
        for name, quantity, rate in zip(CLASSES, quantities, rates, strict=True)
        if quantity and (rate or name != "request")
    ]


def reported_of(value: object, currency: object = None) -> tuple[int | None, bool]:
    """Returns a reported cost in 1e-12 dollars, None for none, and whether it can count.

    One in another currency, a negative one, one above 1,000,000 dollars and text that is no number
    cannot. A value of another type is none.
    """
    if value == "" or isinstance(value, bool) or not isinstance(value, int | float | str):
        return None, True
    if isinstance(currency, str) and currency.strip().upper() not in ("", "USD"):
        return None, False
    if not isinstance(value, str) and not 0 <= value <= MAX_REPORTED_USD:
        return None, False
    # A sender wrote the shortest text of a number.
    amount = _decimal(str(value))
    if amount is None or not 0 <= amount <= MAX_REPORTED_USD:
        return None, False
    return int(amount.quantize(_PLACE, ROUND_HALF_EVEN).scaleb(PLACES)), True


def dollars(units: int | None) -> float | None:
    """Returns 1e-12 dollars as the nearest number of dollars."""
    return None if units is None else units / UNITS


def _decimal(text: str) -> Decimal | None:
    if len(text) > _MAX_TEXT or not text.isascii() or "_" in text:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


def _unpriced_reason(
    usage: CallUsage, price: CallPrice | None, amounts: _Amounts | None
) -> Reason | None:
    if not usage.model:
        return "no_model"
    if price is None:
        return "no_price"
    if amounts is None:
        return "bad_usage"
    return None if amounts[1] or usage.web_searches else "no_usage"


def _amounts(usage: CallUsage) -> _Amounts | None:
    """Returns the quantities of a call, None for audio above the tokens of its direction."""
    plain, text = usage.input_tokens or 0, usage.output_tokens or 0
    input_audio, output_audio = usage.audio_input_tokens or 0, usage.audio_output_tokens or 0
    if input_audio > plain or output_audio > text:
        return None
    notes: tuple[str, ...] = ()
    read, write = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    hour, reasoning = usage.cache_write_1h_tokens or 0, usage.reasoning_tokens or 0
    # More for an hour than was written: that many were written.
    write = 0 if hour > write else write - hour
    cached = read + write + hour
    whole = plain
    if cached > plain:
        # The sender did not count them as input.
        whole += cached
        notes = (CACHED_ADDED,)
    else:
        plain -= cached
    has_tokens = bool(whole or text or reasoning)
    if reasoning > text:
        notes = (*notes, REASONING_ADDED)
    else:
        text -= reasoning
    # Audio that does not fit into the rest was cached, and has that price.
    if input_audio > plain:
        input_audio = plain
    if output_audio > text:
        output_audio = text
    plain, text, searches = plain - input_audio, text - output_audio, usage.web_searches or 0
    quantities = (plain, text, read, write, hour, reasoning, input_audio, output_audio, searches, 1)
    return whole, has_tokens, quantities, notes


def _computed(usage: CallUsage, price: CallPrice, amounts: _Amounts) -> tuple[int, tuple[str, ...]]:
    rates, quantities, notes = _priced(usage, price, amounts)
    total = sum(map(mul, quantities, rates))
    if price.scale == 1:
        return total, notes
    units, rest = divmod(total, price.scale)
    half = 2 * rest - price.scale
    return units + (half > 0 or (half == 0 and units % 2 == 1)), notes


def _priced(
    usage: CallUsage, price: CallPrice, amounts: _Amounts
) -> tuple[Rates, tuple[int, ...], tuple[str, ...]]:
    """Returns the rates and quantities of a call, with notes of all assumptions."""
    whole_input, _, quantities, notes = amounts
    rates = price.at(whole_input)
    if price.is_tier_unknown:
        notes = (TIER_UNKNOWN, *notes)
    unknown = usage.cache_write_1h_tokens is None and usage.cache_write_tokens
    if unknown and rates.cache_write != rates.cache_write_1h:
        notes = (LIFETIME_ASSUMED, *notes)
        if rates.cache_write_1h < rates.cache_write:
            input_, output, read, write, hour, *others = quantities
            quantities = (input_, output, read, hour, write, *others)
    return rates, quantities, notes

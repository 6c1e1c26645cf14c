"""Costs of calls, by hand: prices are dollars a million tokens, and sums dollars."""

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from shared.foundation.core.clock import to_us
from shared.reading.prices.cost import (
    UNITS,
    CallCost,
    CallUsage,
    cost_of,
    lines_of,
    reported_of,
)
from shared.reading.prices.rates import CallPrice, day_prices
from shared.reading.prices.terms import PriceTerms

# As Anthropic prices: 1.25 times the input for a write of five minutes, twice for one of an hour.
SONNET: dict[str, Any] = {
    "prices": {
        "input": 3,
        "output": 15,
        "cache_read": 0.3,
        "cache_write": 3.75,
        "cache_write_1h": 6,
        "web_search": 10,
    },
    "tiers": [
        {
            "above_input_tokens": 200_000,
            "prices": {
                "input": 6,
                "output": 22.5,
                "cache_read": 0.6,
                "cache_write": 7.5,
                "cache_write_1h": 12,
            },
        }
    ],
    "variants": [{"when": {"service_tier": "batch"}, "factor": 0.5}],
}
GPT: dict[str, Any] = {
    "prices": {
        "input": 2.5,
        "output": 10,
        "cache_read": 1.25,
        "input_audio": 40,
        "output_audio": 80,
        "request": 2,
    },
    "variants": [
        {"when": {"service_tier": "flex"}, "prices": {"input": 1.25, "output": 5}},
        {"when": {"service_tier": "priority"}, "prices": {"input": 5, "output": 20}},
    ],
}
# As Gemini prices: reasoning has a price of its own here.
GEMINI: dict[str, Any] = {
    "prices": {"input": 1.25, "output": 10, "cache_read": 0.31, "reasoning": 12},
    "tiers": [
        {"above_input_tokens": 200_000, "prices": {"input": 2.5, "output": 15, "cache_read": 0.625}}
    ],
}
# As DeepSeek priced: a discount in the night of Beijing.
NIGHT: dict[str, Any] = {
    "prices": {"input": 0.27, "output": 1.1, "cache_read": 0.07},
    "variants": [{"when": {"utc_time": "16:30-00:30"}, "factor": 0.5}],
}


def price_of(terms: dict[str, Any], tier: str | None = None, ts: int = 0) -> CallPrice:
    return day_prices("p", PriceTerms.parse(**terms), tier).at(ts)


def cost(terms: dict[str, Any], tier: str | None = None, ts: int = 0, **usage: Any) -> CallCost:
    """Computes the cost of a call, and compares it with its lines."""
    call, price = CallUsage(model="m", **usage), price_of(terms, tier, ts)
    computed = cost_of(call, price)
    lines = sum(one.cost_usd for one in lines_of(call, price))
    assert computed.computed is not None
    assert lines == pytest.approx(computed.computed / UNITS, abs=1e-12)
    return computed


def usd(cost: CallCost) -> Decimal:
    assert cost.cost is not None
    return Decimal(cost.cost) / Decimal(UNITS)


def test_anthropic_with_writes_of_both_lifetimes() -> None:
    call = cost(
        SONNET,
        input_tokens=20_000,
        cache_read_tokens=12_000,
        cache_write_tokens=5_000,
        cache_write_1h_tokens=2_000,
        output_tokens=1_000,
        web_searches=3,
    )
    # Plain input: 20,000 - 12,000 - 5,000 = 3,000.
    by_hand = Decimal("0.009")  # 3,000 of input
    by_hand += Decimal("0.0036")  # 12,000 read from the cache
    by_hand += Decimal("0.01125")  # 3,000 written for five minutes
    by_hand += Decimal("0.012")  # 2,000 written for an hour
    by_hand += Decimal("0.015")  # 1,000 of output
    by_hand += Decimal("0.03")  # 3 searches at 10 a thousand
    assert usd(call) == by_hand == Decimal("0.08085")
    assert call.notes == ()


def test_anthropic_in_a_batch_costs_half_but_for_searches() -> None:
    call = cost(SONNET, "batch", input_tokens=10_000, output_tokens=1_000, web_searches=1)
    assert usd(call) == Decimal("0.015") + Decimal("0.0075") + Decimal("0.01")
    assert call.notes == ()


def test_openai_with_cached_input_and_reasoning() -> None:
    call = cost(
        GPT, input_tokens=8_000, cache_read_tokens=6_000, output_tokens=900, reasoning_tokens=400
    )
    # 2,000 at 2.5, 6,000 at 1.25, 900 at 10, reasoning among them, and a request at 2 a thousand.
    assert usd(call) == Decimal("0.005") + Decimal("0.0075") + Decimal("0.009") + Decimal("0.002")


def test_openai_with_audio() -> None:
    call = cost(
        GPT,
        input_tokens=1_000,
        audio_input_tokens=600,
        output_tokens=500,
        audio_output_tokens=450,
        reasoning_tokens=20,
    )
    by_hand = Decimal("0.001") + Decimal("0.024")  # 400 of text at 2.5, 600 of audio at 40
    by_hand += Decimal("0.0005") + Decimal("0.036")  # 30 of text and 20 of reasoning, 450 of audio
    assert usd(call) == by_hand + Decimal("0.002")


def test_audio_that_was_cached_has_the_price_of_the_cache() -> None:
    call = cost(GPT, input_tokens=1_000, audio_input_tokens=900, cache_read_tokens=400)
    # 600 are left for audio, and no text.
    assert usd(call) == Decimal("0.0005") + Decimal("0.024") + Decimal("0.002")


@pytest.mark.parametrize(
    ("tier", "dollars", "notes"),
    [
        (None, "0.0145", ()),
        ("flex", "0.00825", ()),
        ("priority", "0.027", ()),
        ("scale", "0.0145", ("tier_unknown",)),
    ],
)
def test_openai_by_service_tier(tier: str | None, dollars: str, notes: tuple[str, ...]) -> None:
    call = cost(GPT, tier, input_tokens=1_000, output_tokens=1_000)
    assert (usd(call), call.notes) == (Decimal(dollars), notes)


def test_gemini_above_200_000_tokens() -> None:
    at_most = cost(GEMINI, input_tokens=200_000, output_tokens=1_000)
    assert usd(at_most) == Decimal("0.25") + Decimal("0.01")
    above = cost(
        GEMINI,
        input_tokens=200_001,
        cache_read_tokens=100_001,
        output_tokens=3_000,
        reasoning_tokens=1_000,
    )
    by_hand = Decimal("0.25")  # 100,000 at 2.5
    by_hand += Decimal("0.062500625")  # 100,001 at 0.625
    by_hand += Decimal("0.03")  # 2,000 at 15
    by_hand += Decimal("0.012")  # 1,000 of reasoning, of which the tier says nothing, at 12
    assert usd(above) == by_hand


def test_bedrock_counts_the_cache_beside_the_input() -> None:
    # As Bedrock sends it, before a reader has added the parts up.
    call = cost(
        SONNET,
        input_tokens=1_000,
        cache_read_tokens=150_000,
        cache_write_tokens=60_000,
        cache_write_1h_tokens=0,
    )
    # The whole input is 211,000, so it has the prices of large contexts: 1,000 at 6, 150,000 at 0.6
    # and 60,000 at 7.5.
    assert usd(call) == Decimal("0.006") + Decimal("0.09") + Decimal("0.45")
    assert call.notes == ("cached_added",)


def test_a_cost_that_openrouter_reports_wins() -> None:
    reported, usable = reported_of(0.0123456789012345)
    call = cost(GPT, input_tokens=1_000, output_tokens=1_000, reported=reported)
    assert usable
    assert (call.source, usd(call)) == ("reported", Decimal("0.012345678901"))
    assert call.computed == Decimal("0.0145") * UNITS


@pytest.mark.parametrize(
    ("tokens", "units"),
    # A token at a millionth of a dollar a million is one unit. Times 0.5 the rest is a half, which
    # goes to the even side.
    [(1, 0), (2, 1), (3, 2), (5, 2), (6, 3), (7, 4)],
)
def test_a_factor_is_rounded_half_to_even_once(tokens: int, units: int) -> None:
    terms = {
        "prices": {"input": "0.000001", "output": "0.000001"},
        "variants": [{"when": {"service_tier": "batch"}, "factor": 0.5}],
    }
    assert cost(terms, "batch", input_tokens=tokens).cost == units
    # Both halves are added before: no half is left.
    assert cost(terms, "batch", input_tokens=tokens, output_tokens=tokens).cost == tokens


def test_rounding_is_exact_at_any_size() -> None:
    terms = {
        "prices": {"input": "999999.999999", "output": 0},
        "variants": [{"when": {"service_tier": "batch"}, "factor": "9.999999"}],
    }
    call = cost(terms, "batch", input_tokens=2**32 - 1)
    exact = Decimal(2**32 - 1) * 999_999_999_999 * 9_999_999
    assert call.cost == int((exact / 1_000_000).to_integral_value())


@pytest.mark.parametrize(
    ("time", "is_cheap"),
    [
        ("16:29:59.999999", False),
        ("16:30:00", True),
        ("23:59:59.999999", True),
        ("00:00:00", True),
        ("00:29:59.999999", True),
        ("00:30:00", False),
        ("12:00:00", False),
    ],
)
def test_a_part_of_the_day_reaches_over_midnight(time: str, is_cheap: bool) -> None:
    ts = to_us(datetime.fromisoformat(f"2026-11-26T{time}Z"))
    call = cost(NIGHT, ts=ts, input_tokens=1_000_000)
    assert usd(call) == Decimal("0.135" if is_cheap else "0.27")


def test_the_first_variant_that_matches_counts() -> None:
    terms = {
        **NIGHT,
        "variants": [
            {"when": {"service_tier": "flex", "utc_time": "01:00-02:00"}, "factor": 0.1},
            {"when": {"utc_time": "01:00-03:00"}, "prices": {"input": 7}},
            {"when": {"service_tier": "flex"}, "prices": {"input": 8}},
        ],
    }
    found = {
        (tier, hour): cost(terms, tier, hour * 3_600_000_000, input_tokens=1_000_000)
        for tier in (None, "flex", "batch")
        for hour in (1, 2, 4)
    }
    assert {key: str(usd(one)) for key, one in found.items()} == {
        (None, 1): "7",
        (None, 2): "7",
        (None, 4): "0.27",
        ("flex", 1): "0.027",
        ("flex", 2): "7",
        ("flex", 4): "8",
        ("batch", 1): "7",
        ("batch", 2): "7",
        ("batch", 4): "0.27",
    }
    assert {key[0] for key, one in found.items() if one.notes} == {"batch"}


def test_tiers_of_a_variant_count_after_its_prices() -> None:
    terms = {
        "prices": {"input": 1, "output": 1},
        "tiers": [
            {"above_input_tokens": 100, "prices": {"input": 2, "output": 2}},
            {"above_input_tokens": 300, "prices": {"input": 3}},
        ],
        "variants": [
            {
                "when": {"service_tier": "fast"},
                "factor": 10,
                "tiers": [{"above_input_tokens": 200, "prices": {"input": 5}}],
            },
            {"when": {"service_tier": "flex"}, "prices": {"input": 0.5}},
        ],
    }
    rates = {
        (tier, whole): price_of(terms, tier).at(whole).in_dollars(price_of(terms, tier).scale)
        for tier in (None, "fast", "flex")
        for whole in (100, 101, 201, 301)
    }
    assert {key: (one["input"], one["output"]) for key, one in rates.items()} == {
        (None, 100): (1, 1),
        (None, 101): (2, 2),
        (None, 201): (2, 2),
        (None, 301): (3, 1),
        ("fast", 100): (10, 10),
        ("fast", 101): (20, 20),
        ("fast", 201): (5, 20),
        ("fast", 301): (5, 10),
        ("flex", 100): (0.5, 1),
        ("flex", 101): (0.5, 2),
        ("flex", 201): (0.5, 2),
        ("flex", 301): (0.5, 1),
    }


def test_a_missing_price_is_that_of_another_class() -> None:
    plain = price_of({"prices": {"input": 2, "output": 8}}).at(0).in_dollars(1)
    assert plain == {
        **dict.fromkeys(("input", "cache_read", "cache_write", "cache_write_1h", "input_audio"), 2),
        **dict.fromkeys(("output", "reasoning", "output_audio"), 8),
        **dict.fromkeys(("web_search", "request"), 0),
    }
    written = price_of({"prices": {"input": 2, "output": 8, "cache_write": 3}}).at(0)
    assert written.in_dollars(1)["cache_write_1h"] == 3

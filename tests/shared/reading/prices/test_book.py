"""Which price a call has."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.foundation.core.clock import to_us
from shared.reading.model_names import spellings
from shared.reading.prices import book as book_module
from shared.reading.prices.book import PriceBook
from shared.reading.prices.builtin import builtin_prices
from shared.reading.prices.price import Price
from shared.reading.prices.terms import PriceTerms

BUILTIN = builtin_prices(None)
TERMS = PriceTerms.parse({"input": 1, "output": 2})
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
NOW = to_us(datetime(2026, 11, 26, tzinfo=UTC))


def own(
    name: str,
    model: str,
    provider: str | None = None,
    valid_from: datetime | None = None,
    created_at: datetime = NEW_YEAR,
) -> Price:
    return Price(name, "organization", model, provider, valid_from, TERMS, created_at=created_at)


def chosen(prices: list[Price], model: str, provider: str | None = None, ts: int = NOW) -> str:
    """Returns the id of the price of a call in both orders of the rows, `-` for none."""
    found = {
        getattr(PriceBook(rows, BUILTIN).price_of(model, provider, None, ts), "price_id", "-")
        for rows in (prices, prices[::-1])
    }
    [price_id] = found
    return price_id


@pytest.mark.parametrize(
    ("pattern", "model"),
    [
        ("House-Model", "house-model"),
        ("house-model", "HOUSE-model"),
        ("gpt-4o", "openai/gpt-4o-2024-08-06"),
        ("openai/gpt-4o-2024-08-06", "openai/gpt-4o-2024-08-06"),
        ("gpt-4o-2024-08-06", "openai/gpt-4o-2024-08-06"),
        ("claude-sonnet-4-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("claude-3-5-sonnet", "claude-3.5-sonnet"),
        ("Claude-3.5-Sonnet", "claude-3-5-sonnet-20241022"),
        ("*", "anything"),
        ("claude-*", "anthropic/claude-sonnet-4.5"),
        ("*sonnet*", "anthropic/claude-sonnet-4.5"),
        ("*/llama-*:free", "meta-llama/llama-3.3-70b:free"),
        ("a*b*a", "aba"),
        ("a*b*a", "axxbxbxa"),
    ],
)
def test_an_own_price_fits_the_spellings_of_its_model(pattern: str, model: str) -> None:
    assert chosen([own("own", pattern)], model) == "own"


@pytest.mark.parametrize(
    ("pattern", "model"),
    [
        ("gpt-4o", "gpt-4o-mini"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06"),
        ("llama-3.3-70b", "meta-llama/llama-3.3-70b:free"),
        ("a*a", "a"),
        ("a*b*a", "ab"),
        ("*x*", "abc"),
        ("gpt-?o", "gpt-4o"),
        ("gpt.4o", "gpt-4o"),
    ],
)
def test_an_own_price_is_not_for_another_model(pattern: str, model: str) -> None:
    assert chosen([own("own", pattern)], model) != "own"


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    assert chosen([own("own", "*a" * 100 + "*b")], "a" * 256) == "-"


def test_the_own_price_counts_before_the_built_in_one() -> None:
    assert chosen([], "gpt-4o").startswith("builtin:")
    assert chosen([own("own", "*")], "gpt-4o") == "own"
    assert chosen([own("own", "*", "azure")], "gpt-4o", "openai").startswith("builtin:")


@pytest.mark.parametrize(
    ("price", "call"),
    [
        ("aws.bedrock", "bedrock"),
        ("bedrock", "AWS.Bedrock"),
        ("gcp.vertex_ai", "gcp.gemini"),
        ("google", "gcp.vertex_ai"),
        ("azure", "azure.ai.openai"),
        ("House", "house"),
    ],
)
def test_a_provider_has_several_names(price: str, call: str) -> None:
    assert chosen([own("own", "m", price)], "m", call) == "own"
    assert chosen([own("own", "m", price)], "m", "other") == "-"
    assert chosen([own("own", "m", price)], "m") == "-"


def test_a_provider_counts_more_than_a_longer_pattern() -> None:
    prices = [own("all", "*", "house"), own("exact", "house-model-1")]
    assert chosen(prices, "house-model-1", "house") == "all"
    assert chosen(prices, "house-model-1") == "exact"


def test_the_longest_pattern_counts_and_stars_have_no_length() -> None:
    prices = [
        own(name, name) for name in ("*", "house*", "house-model*", "house-model", "**house**")
    ]
    assert chosen(prices, "house-model") == "house-model"
    assert chosen(prices, "house-model-7") == "house-model*"
    assert chosen(prices, "house") == "house*"
    assert chosen(prices, "garden") == "*"


def test_a_price_holds_from_its_moment_on() -> None:
    day = timedelta(days=1)
    prices = [
        own("always", "m"),
        own("second", "m", valid_from=NEW_YEAR + day),
        own("first", "m", valid_from=NEW_YEAR),
    ]
    moments = {
        "before": NEW_YEAR - timedelta(microseconds=1),
        "first": NEW_YEAR,
        "between": NEW_YEAR + day - timedelta(microseconds=1),
        "second": NEW_YEAR + day,
        "after": NEW_YEAR + 99 * day,
    }
    assert {name: chosen(prices, "m", ts=to_us(one)) for name, one in moments.items()} == {
        "before": "always",
        "first": "first",
        "between": "first",
        "second": "second",
        "after": "second",
    }
    assert chosen(prices[1:], "m", ts=to_us(moments["before"])) == "-"


def test_a_longer_pattern_counts_before_a_later_moment() -> None:
    prices = [own("any", "*", valid_from=NEW_YEAR), own("exact", "m")]
    assert chosen(prices, "m") == "exact"
    prices = [own("any", "*"), own("exact", "m", valid_from=NEW_YEAR)]
    assert chosen(prices, "m", ts=to_us(NEW_YEAR) - 1) == "any"
    assert chosen(prices, "m", ts=to_us(NEW_YEAR)) == "exact"


def test_of_two_equal_ones_the_newest_counts() -> None:
    prices = [
        own("old", "a*c"),
        own("new", "*bc", created_at=NEW_YEAR + timedelta(seconds=1)),
    ]
    assert chosen(prices, "abc") == "new"


def test_a_built_in_price_has_its_history() -> None:
    found = {
        ts: chosen([], "o3", "openai", to_us(datetime.fromisoformat(f"{ts}T00:00:00Z")))
        for ts in ("2025-06-09", "2025-06-10")
    }
    assert found["2025-06-09"].endswith("openai/o3")
    assert found["2025-06-10"].endswith("openai/o3@2025-06-10")


@pytest.mark.parametrize("model", [None, "", "m" * 257])
def test_no_model_has_no_price(model: str | None) -> None:
    assert PriceBook([own("own", "*")], BUILTIN).price_of(model, None, None, NOW) is None


def test_a_call_of_a_known_kind_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def noting(model: str) -> tuple[str, ...]:
        asked.append(model)
        return spellings(model)

    monkeypatch.setattr(book_module, "spellings", noting)
    book = PriceBook([own("own", "*")], BUILTIN)
    for ts in (NOW, NOW, NOW - 1):
        for provider, tier in ((None, None), ("p", None), ("p", "flex")):
            assert book.price_of("m", provider, tier, ts) is not None
    assert asked == ["m"] * 3


def test_many_names_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book_module, "_CACHED", 10)
    book = PriceBook([own("own", "*")], BUILTIN)
    for number in range(25):
        assert book.price_of(f"m{number}", None, None, NOW) is not None
    assert len(book._known) <= 10

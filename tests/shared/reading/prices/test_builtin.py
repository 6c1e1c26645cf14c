"""The built-in table: it is complete, and finds models under the names of calls."""

from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pytest

from shared.foundation.core.clock import format_ts
from shared.foundation.core.errors import ConfigurationError
from shared.reading.prices.builtin import FILE, BuiltinPrices, builtin_prices
from shared.reading.prices.names import provider_of

BUILTIN = builtin_prices(None)

# A model as a call names it, its provider, and the built-in model of which it has the prices.
FOUND = {
    ("claude-sonnet-4-5-20250929", "anthropic"): "anthropic/claude-sonnet-4-5",
    ("claude-sonnet-4-5[1m]", "anthropic"): "anthropic/claude-sonnet-4-5",
    ("claude-4.5-sonnet", None): "anthropic/claude-sonnet-4-5",
    ("anthropic/claude-sonnet-4.5", None): "anthropic/claude-sonnet-4-5",
    ("anthropic/claude-sonnet-4.5", "openrouter"): "openrouter/anthropic/claude-sonnet-4.5",
    ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", None): "anthropic/claude-sonnet-4-5",
    ("amazon.nova-pro-v1:0", "aws.bedrock"): "aws/amazon.nova-pro-v1:0",
    ("gpt-4o-2024-08-06", "openai"): "openai/gpt-4o",
    ("openai/gpt-4o-2024-08-06", None): "openai/gpt-4o",
    ("gpt-4o-2024-05-13", None): "openai/gpt-4o-2024-05-13",
    ("gpt-4o-20240513", None): "openai/gpt-4o-2024-05-13",
    ("GPT-4o-mini", "OpenAI"): "openai/gpt-4o-mini",
    ("gpt-4o", "azure.ai.openai"): "openai/gpt-4o",
    ("gpt-35-turbo", "azure"): "openai/gpt-3.5-turbo",
    ("gemini-2.5-pro", "gcp.gemini"): "google/gemini-2.5-pro",
    ("publishers/google/models/gemini-2.5-pro", "gcp.vertex_ai"): "google/gemini-2.5-pro",
    ("llama-3.3-70b-versatile", "groq.chat"): "groq/llama-3.3-70b-versatile",
    ("mistral-large-2411", "mistral_ai"): "mistral/mistral-large",
    ("grok-4-0709", "xai"): "x-ai/grok-4-0709",
    # Unknown providers, and one that does not have the model.
    ("gpt-4o", "acme-gateway"): "openai/gpt-4o",
    ("claude-sonnet-4-5", "openai"): "anthropic/claude-sonnet-4-5",
}


def name_of(price_id: str) -> str:
    return price_id.partition("@")[0].removeprefix(f"builtin:{BUILTIN.table.version}:")


@pytest.mark.parametrize(("model", "provider"), FOUND)
def test_a_model_is_found_as_calls_name_it(model: str, provider: str | None) -> None:
    found = BUILTIN.find(model, provider_of(provider))
    assert {name_of(one.id) for one in found} == {FOUND[model, provider]}


@pytest.mark.parametrize("model", ["", "house-model", "gpt", "claude", "free", "0", "my-gpt-4o"])
def test_no_price_is_guessed(model: str) -> None:
    assert BUILTIN.find(model, None) == ()
    assert BUILTIN.find(model, "openai") == ()


def test_the_whole_table_can_be_read() -> None:
    BUILTIN.check()
    table = BUILTIN.table
    assert table.models == sum(
        len(msgspec.json.decode(one.models, type=list[Any])) for one in table.providers
    )
    ids = [one.id for one in BUILTIN.all]
    assert len(ids) > 2000
    assert len(set(ids)) == len(ids)


def test_the_table_has_all_kinds_of_prices() -> None:
    kinds = {
        name
        for one in BUILTIN.all
        for name in (
            *one.terms.prices,
            *(["history"] if one.valid_from else []),
            *(["tiers"] if one.terms.tiers else []),
            *(str(variant.service_tier) for variant in one.terms.variants),
            *("times" for variant in one.terms.variants if variant.times),
        )
    }
    assert kinds >= {"cache_write_1h", "web_search", "input_audio", "reasoning", "request"}
    assert kinds >= {"history", "tiers", "times", "batch", "flex", "priority", "fast"}


def test_the_licence_of_the_table_is_shipped() -> None:
    licence = FILE.with_name("genai-prices.LICENSE.txt").read_text()
    assert "MIT License" in licence
    setup = (Path(__file__).parents[4] / "setup.cfg").read_text()
    assert "shared.reading.prices = *.json" in setup


def table(**changes: Any) -> bytes:
    """Returns a small table: a maker, and a provider that offers its models too."""
    flex = {"when": {"service_tier": "flex"}, "factor": 0.5}
    night = {"when": {"utc_time": "00:00-06:00"}, "factor": 0.5}
    prices = {"input": 1, "output": 2}
    one = {
        "id": "one",
        "match": {"equals": "one"},
        "prices": [
            {"prices": prices, "variants": [flex, night]},
            {"valid_from": "2026-03-01", "prices": {**prices, "input": 3}},
        ],
    }
    rules = {
        "any": {"or": [{"starts_with": "any-"}, {"regex": "^[ab]ny$"}]},
        "all": {"and": [{"contains": "al"}, {"ends_with": "l"}]},
        "one-more": {"equals": "one"},
    }
    more = [{"id": name, "match": rule, "prices": []} for name, rule in rules.items()]
    maker = {"id": "maker", "model_match": {"contains": "o"}, "models": [one, *more]}
    shop = {"id": "shop", "match": {"contains": "shop"}, "fallback": ["maker"], "models": []}
    head = {"source": "house", "version": "7", "as_of": "2026-11-26", "models": 4}
    return msgspec.json.encode({**head, "providers": [maker, shop], **changes})


def test_prices_begin_on_their_day() -> None:
    first, second = BuiltinPrices(table()).find("one", "maker")
    assert (first.id, first.valid_from) == ("builtin:7:maker/one", None)
    assert second.id == "builtin:7:maker/one@2026-03-01"
    assert second.valid_from is not None
    assert format_ts(second.valid_from) == "2026-03-01T00:00:00.000000Z"


def test_service_tiers_are_those_of_the_provider_alone() -> None:
    prices = BuiltinPrices(table())
    tiers = {
        provider: [one.service_tier for one in prices.find("one", provider)[0].terms.variants]
        for provider in ("maker", None, "acme", "my-shop")
    }
    assert tiers == {
        "maker": ["flex", None],
        None: ["flex", None],
        "acme": ["flex", None],
        "my-shop": [None],
    }


@pytest.mark.parametrize(
    ("model", "found"),
    [("any-thing", "any"), ("bny", "any"), ("goal", "all"), ("ally", None), ("one", "one")],
)
def test_every_rule_is_followed_and_the_first_model_counts(model: str, found: str | None) -> None:
    prices = BuiltinPrices(table())
    models = prices._models_of(prices._providers["maker"])
    match = models.find(model)
    assert (match and match.id) == found


def test_a_model_without_a_price_of_tokens_has_none_elsewhere() -> None:
    file = msgspec.json.decode(table())
    file["providers"][1]["models"] = [{"id": "one", "match": {"equals": "one"}, "prices": []}]
    assert BuiltinPrices(msgspec.json.encode(file)).find("one", "shop") == ()


def test_a_newer_table_takes_the_place_of_the_built_in_one(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_bytes(table())
    prices = builtin_prices(str(path))
    assert (prices.table.version, prices.table.as_of) == ("7", date(2026, 11, 26))
    assert prices.find("gpt-4o", "openai") == ()


MODEL = {"id": "m", "match": {"equals": "m"}, "prices": []}


def of_model(**changes: Any) -> bytes:
    return table(providers=[{"id": "p", "models": [{**MODEL, **changes}]}])


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (b"", "truncated"),
        (b"{}", "missing required field"),
        (table(models="many"), "Expected `int`"),
        (table(colour="red"), "unknown field"),
        (table(providers=[{"id": "p", "models": [], "fallback": ["q"]}]), "no provider q"),
        (table(providers=[{"id": "p", "models": {}}]), "provider p: Expected `array`"),
        (of_model(match={}), "provider p, model m: a rule"),
        (of_model(match={"equals": "m", "contains": "m"}), "provider p, model m: a rule"),
        (of_model(match={"or": [{"regex": "("}]}), "no regular expression"),
        (of_model(prices=[{"prices": {"input": 1}}]), "prices.output: is missing"),
        (of_model(prices=[{"valid_from": "soon", "prices": {}}]), "Invalid RFC3339"),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, file: bytes, reason: str) -> None:
    path = tmp_path / "prices.json"
    path.write_bytes(file)
    with pytest.raises(ConfigurationError, match=r"^MODEL_PRICES_FILE: ") as refused:
        builtin_prices(str(path))
    assert reason in str(refused.value)


def test_a_table_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        builtin_prices(str(tmp_path / "prices.json"))

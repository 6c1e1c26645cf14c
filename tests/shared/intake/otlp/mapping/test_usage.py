"""The usage and the cost of a call of a model, by every attribute that can tell it."""

import json
from itertools import pairwise
from typing import Any

import pytest

from shared.intake.otlp.mapping import Role, has_content, unmapped
from shared.intake.otlp.mapping.usage_tables import REPEATED, USAGE
from tests.support.otlp_spans import payloads_of, span

DETAILS = "langfuse.observation.usage_details"
WRITTEN = "gen_ai.usage.cache_creation"
METADATA = "ai.response.providerMetadata"
COSTS = ["gen_ai.usage.cost", "gen_ai.usage.total_cost", "operation.cost", "llm.cost.total"]
COST_DETAILS = "langfuse.observation.cost_details"
COUNTS = [
    ("cache_write_1h_tokens", f"{WRITTEN}.ephemeral_1h_input_tokens"),
    ("audio_input_tokens", "gen_ai.usage.audio.input_tokens"),
    ("audio_input_tokens", "llm.token_count.prompt_details.audio"),
    ("audio_output_tokens", "gen_ai.usage.audio.output_tokens"),
    ("audio_output_tokens", "llm.token_count.completion_details.audio"),
    ("web_searches", "gen_ai.usage.server_tool_use.web_search_requests"),
]
WORDS = {
    "provider": [
        "gen_ai.provider.name",
        "gen_ai.system",
        "llm.provider",
        "llm.system",
        "ai.model.provider",
    ],
    "service_tier": [
        "openai.response.service_tier",
        "gen_ai.openai.response.service_tier",
        "gen_ai.response.service_tier",
        "gen_ai.anthropic.service_tier",
    ],
}
EACH_WORD = [(field, name) for field, names in WORDS.items() for name in names]


def response(told: dict[str, Any], role: Role = "model") -> dict[str, Any]:
    return payloads_of(span(told), role)[-1]


@pytest.mark.parametrize(("field", "attribute"), COUNTS)
def test_a_number(field: str, attribute: str) -> None:
    found = response({attribute: 12})
    assert found[field] == 12
    assert found["otel"]["attributes"] == {attribute: 12}
    assert response({attribute: "12"})[field] == 12
    for other in (-1, 1.5, True, "many", "[redacted]", None):
        assert field not in response({attribute: other})


@pytest.mark.parametrize(("field", "attribute"), EACH_WORD)
def test_a_word_is_as_it_was_sent(field: str, attribute: str) -> None:
    found = response({attribute: "Standard "})
    assert found[field] == "Standard "
    assert found["otel"]["attributes"] == {attribute: "Standard "}
    for other in ("", "[redacted]", None, 1.5):
        assert field not in response({attribute: other})


@pytest.mark.parametrize("field", WORDS)
def test_the_first_word_counts(field: str) -> None:
    for before, after in pairwise(WORDS[field]):
        assert response({after: "second", before: "first"})[field] == "first"
        assert response({after: "second", before: "[redacted]"})[field] == "second"


@pytest.mark.parametrize("attribute", COSTS)
@pytest.mark.parametrize("cost", [0, 1, 0.0123, 1e-9, -1, "0.0123", "1e-9", "NaN", "-2"])
def test_a_cost_is_as_it_was_sent(attribute: str, cost: Any) -> None:
    """Ingest judges it, so that it can say which costs do not count."""
    found = response({attribute: cost})
    assert found["cost_usd"] == cost
    assert found["otel"]["attributes"] == {attribute: cost}


def test_the_first_cost_counts() -> None:
    for before, after in pairwise(COSTS):
        assert response({after: 2, before: 1})["cost_usd"] == 1
        for nothing in ("", "free", "[redacted]", True, None, [1], "1" * 65):
            assert response({after: 2, before: nothing})["cost_usd"] == 2
    details = {"input": 0.01, "total": 0.03}
    for sent in (details, json.dumps(details)):
        found = response({COST_DETAILS: sent})
        assert found["cost_usd"] == 0.03
        assert found["otel"]["attributes"] == {COST_DETAILS: sent}
        assert response({COST_DETAILS: sent, "llm.cost.total": 2})["cost_usd"] == 2
    assert "cost_usd" not in response({COST_DETAILS: {"input": 0.01}})


@pytest.mark.parametrize("role", ["agent", "tool", "retrieval", "guardrail", "span"])
def test_only_calls_of_models_have_usage(role: Role) -> None:
    """A span below one that reports the same call has the role `span`, so it adds nothing."""
    told: dict[str, Any] = {name: 7 for _, name in COUNTS}
    told |= {name: "word" for _, name in EACH_WORD}
    told |= dict.fromkeys(COSTS, 0.5)
    told |= {"gen_ai.usage.input_tokens": 9, DETAILS: '{"output": 2}', COST_DETAILS: {"total": 1}}
    for payload in payloads_of(span(told), role):
        assert not USAGE.keys() & payload.keys()
    assert response(told, role)["otel"]["attributes"] == told
    request, answer = payloads_of(span(told), "model")
    assert not USAGE.keys() & request.keys()
    assert set(REPEATED) <= answer.keys()


@pytest.mark.parametrize(
    ("told", "written", "of_an_hour"),
    [
        ({"5m": 3}, 3, None),
        ({"1h": 4}, 4, 4),
        ({"5m": 3, "1h": 4}, 7, 4),
        ({"5m": 0, "1h": 4}, 4, 4),
        ({"5m": -1, "1h": 4}, 4, 4),
        ({"5m": "x"}, None, None),
    ],
)
def test_lifetimes_without_a_sum_are_added_up(
    told: dict[str, Any], written: int | None, of_an_hour: int | None
) -> None:
    lifetimes = {f"{WRITTEN}.ephemeral_{time}_input_tokens": n for time, n in told.items()}
    found = response(lifetimes)
    assert found.get("cache_write_tokens") == written
    assert found.get("cache_write_1h_tokens") == of_an_hour
    assert found["otel"]["attributes"] == lifetimes
    for total in (
        "gen_ai.usage.cache_creation.input_tokens",
        "llm.token_count.prompt_details.cache_write",
    ):
        assert response({**lifetimes, total: 50})["cache_write_tokens"] == 50


def test_input_is_all_that_was_read_with_lifetimes_too() -> None:
    told = {
        "gen_ai.usage.input_tokens": 5,
        f"{WRITTEN}.ephemeral_5m_input_tokens": 10,
        f"{WRITTEN}.ephemeral_1h_input_tokens": 20,
    }
    assert response(told)["input_tokens"] == 35
    assert response({**told, "gen_ai.usage.input_tokens": 40})["input_tokens"] == 40


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"input_cache_creation_1h": 4}, (14, 4, 4)),
        ({"input_cache_creation_5m": 3}, (13, 3, None)),
        ({"input_cache_creation_5m": 3, "input_cache_creation_1h": 4}, (17, 7, 4)),
        ({"input_cache_creation": 9, "input_cache_creation_1h": 4}, (19, 9, 4)),
        ({"cache_creation_input_tokens": 9, "input_cache_creation_1h": 4}, (19, 9, 4)),
        (
            {"input_cache_read": 2, "input_cache_creation_5m": 30, "input_cache_creation_1h": 40},
            (82, 70, 40),
        ),
    ],
)
@pytest.mark.parametrize("as_text", [True, False])
def test_langfuse_counts_each_token_once(
    usage: dict[str, int], tokens: tuple[int | None, ...], as_text: bool
) -> None:
    details: Any = {"input": 10, **usage}
    found = response({DETAILS: json.dumps(details) if as_text else details})
    names = ("input_tokens", "cache_write_tokens", "cache_write_1h_tokens")
    assert tuple(found.get(name) for name in names) == tokens
    assert DETAILS not in found["otel"]["attributes"]


@pytest.mark.parametrize("as_text", [True, False])
def test_the_metadata_of_a_provider_has_lifetimes(as_text: bool) -> None:
    created = {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}
    metadata: Any = {"anthropic": {"usage": {"cache_creation": created}}}
    told = {METADATA: json.dumps(metadata) if as_text else metadata}
    found = response(told)
    assert (found["cache_write_tokens"], found["cache_write_1h_tokens"]) == (7, 4)
    assert found["otel"]["attributes"] == told
    del created["ephemeral_5m_input_tokens"]
    assert response({METADATA: metadata})["cache_write_tokens"] == 4
    others: list[Any] = [{"anthropic": {"usage": 7}}, {"anthropic": []}, {"openai": {}}, "text"]
    for other in others:
        assert "cache_write_tokens" not in response({METADATA: other})


def test_attributes_of_usage_are_known_and_no_content() -> None:
    told: dict[str, Any] = dict.fromkeys(
        [*COSTS, COST_DETAILS, METADATA, *(name for _, name in (*COUNTS, *EACH_WORD))], 1
    )
    told[f"{WRITTEN}.ephemeral_5m_input_tokens"] = 1
    assert list(unmapped(span(told))) == []
    assert not has_content(span(told))

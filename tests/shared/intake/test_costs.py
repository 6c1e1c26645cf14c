"""A call costs the same whichever way it comes in, and as much as the arithmetic by hand says."""

from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
import pytest

from shared.intake.ingest.batch import Batch
from shared.intake.ingest.rows import columns_of
from shared.intake.ingest.rules import IngestRules
from shared.reading.prices.book import PriceBook
from shared.reading.prices.builtin import builtin_prices
from shared.reading.prices.price import Price
from shared.reading.prices.terms import PriceTerms
from tests.support.otlp_samples import samples_folder
from tests.support.otlp_spans import payloads_of, span
from tests.support.transcripts import CLAUDE, CODEX, SUBAGENT, lines_of, told, transcript

# Dollars of a million tokens, and of a thousand searches.
SONNET: dict[str, Any] = {
    "prices": {
        "input": 3,
        "output": 15,
        "cache_read": "0.3",
        "cache_write": "3.75",
        "cache_write_1h": 6,
        "web_search": 10,
    },
}
GPT: dict[str, Any] = {
    "prices": {
        "input": "2.5",
        "output": 10,
        "cache_read": "1.25",
        "input_audio": 40,
        "output_audio": 80,
    },
    "variants": [{"when": {"service_tier": "flex"}, "factor": "0.5"}],
}
GEMINI: dict[str, Any] = {
    "prices": {"input": "1.25", "output": 10, "cache_read": "0.31"},
    "tiers": [
        {"above_input_tokens": 200_000, "prices": {"input": 2.5, "output": 15, "cache_read": 0.625}}
    ],
}
MODELS = {"sonnet": SONNET, "gpt": GPT, "gemini": GEMINI, "claude-fake-5": SONNET, "fake-*": GPT}
OWN = [
    Price(name, "organization", name, None, None, PriceTerms.parse(**terms))
    for name, terms in {**MODELS, "gpt-fake-*": GPT}.items()
]
RULES = IngestRules(prices=PriceBook(OWN, builtin_prices(None)))


def costs_of(payloads: list[dict[str, Any]]) -> list[Decimal]:
    """Returns the costs that ingest stores of these events."""
    texts = [msgspec.json.encode(one) for one in payloads]
    count, types = len(texts), [one["type"] for one in payloads]
    ts = [1_790_000_000_000_000] * count
    ids = list(range(count))
    batch = Batch(ids, ts, ids, ["s"] * count, ["a"] * count, types, ["e"] * count, texts)
    found = columns_of("org", batch, RULES)["cost_usd"]
    return [Decimal(one).scaleb(-12) for one in found if isinstance(one, int)]


def sent(model: str, **fields: Any) -> list[dict[str, Any]]:
    return [{"type": "model_response", "session_id": "s", "model": model, **fields}]


def traced(model: str, **attributes: Any) -> list[dict[str, Any]]:
    """Returns the events of a span; `__` in a name stands for a dot."""
    named = {name.replace("__", "."): value for name, value in attributes.items()}
    return payloads_of(span({"gen_ai.response.model": model, **named}), "model")


class Case(NamedTuple):
    """One call by each way that can carry it, and its dollars, added up by hand."""

    name: str
    dollars: str
    ways: dict[str, list[dict[str, Any]]]


CASES = [
    # 1,000 at 3, 6,000 at 0.30, 3,000 at 3.75 and 500 at 15.
    Case(
        "anthropic, written for five minutes",
        "0.02355",
        {
            "fields": sent(
                "sonnet",
                input_tokens=10_000,
                cache_read_tokens=6_000,
                cache_write_tokens=3_000,
                cache_write_1h_tokens=0,
                output_tokens=500,
            ),
            "usage": sent(
                "sonnet",
                usage={
                    "input_tokens": 1_000,
                    "cache_read_input_tokens": 6_000,
                    "cache_creation_input_tokens": 3_000,
                    "cache_creation": {
                        "ephemeral_5m_input_tokens": 3_000,
                        "ephemeral_1h_input_tokens": 0,
                    },
                    "output_tokens": 500,
                    "service_tier": "standard",
                },
            ),
            "conventions": traced(
                "sonnet",
                gen_ai__usage__input_tokens=10_000,
                gen_ai__usage__cache_read__input_tokens=6_000,
                gen_ai__usage__cache_creation__ephemeral_5m_input_tokens=3_000,
                gen_ai__usage__cache_creation__ephemeral_1h_input_tokens=0,
                gen_ai__usage__output_tokens=500,
            ),
            "langfuse": traced(
                "sonnet",
                langfuse__observation__usage_details=(
                    '{"input": 1000, "input_cache_read": 6000, "input_cache_creation_5m": 3000,'
                    ' "input_cache_creation_1h": 0, "output": 500}'
                ),
            ),
        },
    ),
    # 1,000 at 3, 6,000 at 0.30, 1,000 at 3.75, 2,000 at 6, 500 at 15, and 2 searches.
    Case(
        "anthropic, written for an hour",
        "0.04805",
        {
            "fields": sent(
                "sonnet",
                input_tokens=10_000,
                cache_read_tokens=6_000,
                cache_write_tokens=3_000,
                cache_write_1h_tokens=2_000,
                output_tokens=500,
                web_searches=2,
            ),
            "usage": sent(
                "sonnet",
                usage={
                    "input_tokens": 1_000,
                    "cache_read_input_tokens": 6_000,
                    "cache_creation_input_tokens": 3_000,
                    "cache_creation": {
                        "ephemeral_5m_input_tokens": 1_000,
                        "ephemeral_1h_input_tokens": 2_000,
                    },
                    "output_tokens": 500,
                    "server_tool_use": {"web_search_requests": 2},
                },
            ),
            "conventions": traced(
                "sonnet",
                gen_ai__usage__input_tokens=10_000,
                gen_ai__usage__cache_read__input_tokens=6_000,
                gen_ai__usage__cache_creation__input_tokens=3_000,
                gen_ai__usage__cache_creation__ephemeral_1h_input_tokens=2_000,
                gen_ai__usage__output_tokens=500,
                gen_ai__usage__server_tool_use__web_search_requests=2,
            ),
        },
    ),
    # 2,000 at 2.50, 6,000 at 1.25 and 900 at 10.
    Case(
        "openai, cached",
        "0.0215",
        {
            "fields": sent("gpt", input_tokens=8_000, cache_read_tokens=6_000, output_tokens=900),
            "usage of a completion": sent(
                "gpt",
                usage={
                    "prompt_tokens": 8_000,
                    "completion_tokens": 900,
                    "prompt_tokens_details": {"cached_tokens": 6_000, "audio_tokens": 0},
                    "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
                },
            ),
            "usage of a response": sent(
                "gpt",
                usage={
                    "input_tokens": 8_000,
                    "output_tokens": 900,
                    "input_tokens_details": {"cached_tokens": 6_000},
                },
            ),
            "conventions": traced(
                "gpt",
                gen_ai__usage__input_tokens=8_000,
                gen_ai__usage__cache_read__input_tokens=6_000,
                gen_ai__usage__output_tokens=900,
            ),
            "openinference": traced(
                "gpt",
                llm__token_count__prompt=8_000,
                llm__token_count__prompt_details__cache_read=6_000,
                llm__token_count__completion=900,
            ),
        },
    ),
    # 1,000 at 2.50 and 900 at 10, of which 400 were reasoning.
    Case(
        "openai, reasoning",
        "0.0115",
        {
            "fields": sent("gpt", input_tokens=1_000, output_tokens=900, reasoning_tokens=400),
            "usage": sent(
                "gpt",
                usage={
                    "prompt_tokens": 1_000,
                    "completion_tokens": 900,
                    "completion_tokens_details": {"reasoning_tokens": 400},
                },
            ),
            "conventions": traced(
                "gpt",
                gen_ai__usage__input_tokens=1_000,
                gen_ai__usage__output_tokens=900,
                gen_ai__usage__reasoning__output_tokens=400,
            ),
        },
    ),
    # 400 at 2.50 and 600 of audio at 40; 50 at 10 and 450 of audio at 80.
    Case(
        "openai, audio",
        "0.0615",
        {
            "fields": sent(
                "gpt",
                input_tokens=1_000,
                audio_input_tokens=600,
                output_tokens=500,
                audio_output_tokens=450,
            ),
            "usage": sent(
                "gpt",
                usage={
                    "prompt_tokens": 1_000,
                    "completion_tokens": 500,
                    "prompt_tokens_details": {"audio_tokens": 600, "cached_tokens": 0},
                    "completion_tokens_details": {"audio_tokens": 450},
                },
            ),
            "conventions": traced(
                "gpt",
                gen_ai__usage__input_tokens=1_000,
                gen_ai__usage__audio__input_tokens=600,
                gen_ai__usage__output_tokens=500,
                gen_ai__usage__audio__output_tokens=450,
            ),
            "openinference": traced(
                "gpt",
                llm__token_count__prompt=1_000,
                llm__token_count__prompt_details__audio=600,
                llm__token_count__completion=500,
                llm__token_count__completion_details__audio=450,
            ),
        },
    ),
    # Half of 1,000 at 2.50 and 1,000 at 10.
    Case(
        "openai, flex",
        "0.00625",
        {
            "fields": sent("gpt", input_tokens=1_000, output_tokens=1_000, service_tier="flex"),
            "usage": sent(
                "gpt",
                usage={"prompt_tokens": 1_000, "completion_tokens": 1_000, "service_tier": "flex"},
            ),
            "conventions": traced(
                "gpt",
                gen_ai__usage__input_tokens=1_000,
                gen_ai__usage__output_tokens=1_000,
                openai__response__service_tier="flex",
            ),
        },
    ),
    # 150,000 at 2.50, 100,001 at 0.625, and 3,000 at 15 with 1,000 of reasoning among them.
    Case(
        "gemini, above 200,000",
        "0.482500625",
        {
            "fields": sent(
                "gemini",
                input_tokens=250_001,
                cache_read_tokens=100_001,
                output_tokens=3_000,
                reasoning_tokens=1_000,
            ),
            "usage": sent(
                "gemini",
                usage={
                    "promptTokenCount": 250_000,
                    "toolUsePromptTokenCount": 1,
                    "cachedContentTokenCount": 100_001,
                    "candidatesTokenCount": 2_000,
                    "thoughtsTokenCount": 1_000,
                    "totalTokenCount": 253_001,
                },
            ),
            "usage in snake case": sent(
                "gemini",
                usage={
                    "prompt_token_count": 250_001,
                    "cached_content_token_count": 100_001,
                    "candidates_token_count": 2_000,
                    "thoughts_token_count": 1_000,
                },
            ),
            "conventions": traced(
                "gemini",
                gen_ai__usage__input_tokens=250_001,
                gen_ai__usage__cache_read__input_tokens=100_001,
                gen_ai__usage__output_tokens=3_000,
                gen_ai__usage__reasoning__output_tokens=1_000,
            ),
        },
    ),
    # 1,000 at 3, 6,000 at 0.30, 1,000 at 3.75, 2,000 at 6 and 500 at 15.
    Case(
        "bedrock",
        "0.02805",
        {
            "usage": sent(
                "sonnet",
                provider="aws.bedrock",
                usage={
                    "inputTokens": 1_000,
                    "cacheReadInputTokens": 6_000,
                    "cacheWriteInputTokens": 3_000,
                    "cacheDetails": [
                        {"ttl": "5m", "inputTokens": 1_000},
                        {"ttl": "1h", "inputTokens": 2_000},
                    ],
                    "outputTokens": 500,
                },
            ),
        },
    ),
    # The cost that it reports, and not 1,000 at 2.50 and 500 at 10.
    Case(
        "openrouter",
        "0.00712345",
        {
            "fields": sent("gpt", input_tokens=1_000, output_tokens=500, cost_usd=0.00712345),
            "usage": sent(
                "gpt",
                usage={
                    "prompt_tokens": 1_000,
                    "completion_tokens": 500,
                    "cost": 0.00712345,
                    "is_byok": False,
                    "cost_details": {"upstream_inference_cost": None},
                },
            ),
            "conventions": traced(
                "gpt",
                gen_ai__usage__input_tokens=1_000,
                gen_ai__usage__output_tokens=500,
                gen_ai__usage__cost=0.00712345,
            ),
            "openinference": traced(
                "gpt",
                llm__token_count__prompt=1_000,
                llm__token_count__completion=500,
                llm__cost__total=0.00712345,
            ),
        },
    ),
]
EACH_WAY = [
    pytest.param(events, case.dollars, id=f"{case.name} by {way}")
    for case in CASES
    for way, events in case.ways.items()
]


@pytest.mark.parametrize(("events", "dollars"), EACH_WAY)
def test_a_call_by_each_way(events: list[dict[str, Any]], dollars: str) -> None:
    assert costs_of(events) == [Decimal(dollars)]


def test_the_transcripts_of_coding_agents() -> None:
    claude = told(transcript(CLAUDE), CLAUDE)
    # 4 at 3, 11,800 at 0.30, 2,100 at 3.75 and 188 at 15; then the same of the other two.
    assert costs_of(claude.events) == [
        Decimal(cost) for cost in ("0.014247", "0.0062655", "0.0051105")
    ]
    assert costs_of(told(transcript(SUBAGENT), SUBAGENT).events) == []
    # 1,100 at 2.50, 8,000 at 1.25 and 120 at 10; 300, 9,200 and 41.
    codex = told(transcript(CODEX), CODEX)
    assert costs_of(codex.events) == [Decimal("0.01395"), Decimal("0.01266")]


def test_a_transcript_tells_the_lifetime_of_what_was_written() -> None:
    usage = {
        "input_tokens": 1_000,
        "cache_read_input_tokens": 6_000,
        "cache_creation_input_tokens": 3_000,
        "cache_creation": {"ephemeral_5m_input_tokens": 1_000, "ephemeral_1h_input_tokens": 2_000},
        "output_tokens": 500,
        "server_tool_use": {"web_search_requests": 2},
        "service_tier": "standard",
    }
    answer: dict[str, Any] = {
        "id": "m1",
        "model": "sonnet",
        "content": [],
        "stop_reason": "end_turn",
    }
    messages: dict[str, dict[str, Any]] = {
        "user": {"content": "Hi"},
        "assistant": {**answer, "usage": usage},
    }
    lines = [
        {
            "type": kind,
            "uuid": kind,
            "sessionId": "s",
            "timestamp": f"2026-11-18T09:00:0{second}Z",
            "message": {"role": kind, **message},
        }
        for second, (kind, message) in enumerate(messages.items())
    ]
    file = told(lines_of(*lines), form="claude")
    # As by fields: 1,000 at 3, 6,000 at 0.30, 1,000 at 3.75, 2,000 at 6, 500 at 15, 2 searches.
    assert costs_of(file.events) == [Decimal("0.04805")]


def test_a_call_that_two_packages_report_costs_once() -> None:
    sample = (samples_folder() / "otel-anthropic" / "0001-traces.json").read_bytes()
    # The package's span and that of the SDK below it: 21 at 2.50, 4 at 1.25 and 9 at 10.
    assert costs_of(told(sample).events) == [Decimal("0.0001475")]


def test_the_client_below_langchain_costs_nothing_more() -> None:
    request = msgspec.json.decode((samples_folder() / "oi-langchain/0001-traces.json").read_bytes())
    [of_resource] = request["resourceSpans"]
    spans = [one for scope in of_resource["scopeSpans"] for one in scope["spans"]]
    below = [
        {**one, "spanId": one["spanId"][::-1], "parentSpanId": one["spanId"], "name": "Completion"}
        for one in spans
        if one["name"] == "ChatOpenAI"
    ]
    scope = {"name": "openinference.instrumentation.openai"}
    of_resource["scopeSpans"].append({"scope": scope, "spans": below})
    found = told(msgspec.json.encode(request))
    assert len(below) == 2
    # Twice 21 at 2.50 and 9 at 10.
    assert costs_of(found.events) == [Decimal("0.0001425")] * 2

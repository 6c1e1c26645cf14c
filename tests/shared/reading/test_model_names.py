"""The names under which tables list a model."""

import pytest

from shared.reading.model_names import normal, spellings

LISTED = {
    "GPT-4o": "gpt-4o",
    "openai/gpt-4o-2024-08-06": "gpt-4o",
    "openai:gpt-4o": "gpt-4o",
    "gpt-4o-20240806": "gpt-4o-2024-08-06",
    "mistral-large-2411": "mistral-large",
    "gpt-4-0613": "gpt-4",
    "gemini-2.5-flash-preview-05-20": "gemini-2.5-flash-preview",
    "claude-opus-4-1@20250805": "claude-opus-4-1",
    "claude-sonnet-4-5[1m]": "claude-sonnet-4-5",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0": "claude-sonnet-4-5",
    "bedrock/eu.anthropic.claude-opus-4-6-v1": "claude-opus-4-6",
    "openai.gpt-oss-120b-1:0": "gpt-oss-120b",
    "deepseek.v3-v1:0": "deepseek-v3",
    "openrouter/anthropic/claude-sonnet-4.5": "claude-sonnet-4.5",
}


@pytest.mark.parametrize("model", LISTED)
def test_a_model_is_listed_without_prefix_and_suffix(model: str) -> None:
    names = spellings(model)
    assert names[0] == model.lower()
    assert LISTED[model] in names


@pytest.mark.parametrize(
    ("model", "other"),
    [
        ("gpt-4o-mini", "gpt-4o"),
        ("llama3-70b-8192", "llama3-70b"),
        ("llama-3.3-70b:free", "llama-3.3-70b"),
        ("deepseek-v3", "deepseek"),
        ("my-gpt-4o", "gpt-4o"),
    ],
)
def test_another_model_is_not_taken_for_it(model: str, other: str) -> None:
    assert other not in spellings(model)


def test_orders_of_words_and_points_are_one_spelling() -> None:
    assert normal("claude-4.5-sonnet") == normal("claude-sonnet-4-5")
    assert normal("llama3.1-8b") == normal("meta-llama-3.1-8b")

"""The built-in table matches models with and without provider prefix and date suffix."""

import pytest

from shared.model_windows.builtin import builtin_window


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4o", 128_000),
        ("openai/gpt-4o-2024-08-06", 128_000),
        ("gpt-4o-mini", 128_000),
        ("gpt-4", 8_192),
        ("gpt-4-0613", 8_192),
        ("GPT-4-Turbo", 128_000),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", 200_000),
        ("claude-3-5-sonnet-20241022", 200_000),
        ("meta-llama/Llama-3.1-8B", 131_072),
        ("llama3.1", 131_072),
        ("models/gemini-2.5-pro", 1_048_576),
        ("gpt-45-unheard-of", None),
        ("house-model", None),
    ],
)
def test_builtin_window(model: str, window: int | None) -> None:
    assert builtin_window(model) == window

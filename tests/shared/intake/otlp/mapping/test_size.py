"""Events that are too large are cut and never rejected."""

from typing import Any

import msgspec
import pytest

from shared.intake.otlp.mapping import Role
from tests.support.otlp_spans import events_of, span

LIMIT = 64 * 1024


def last(attributes: dict[str, Any], role: Role = "tool", limit: int = LIMIT) -> dict[str, Any]:
    events = events_of(span(attributes), role, limit=limit)
    assert all(len(event.payload) <= limit for event in events)
    payload: dict[str, Any] = msgspec.json.decode(events[-1].payload)
    return payload


def test_an_event_that_fits_is_not_cut() -> None:
    whole = last({"output.value": "x" * (LIMIT - 1000)})
    assert "cut" not in whole["otel"]
    assert len(whole["output"]) == LIMIT - 1000


def test_a_text_is_cut_to_the_largest_power_of_two_that_fits() -> None:
    payload = last({"output.value": "x" * LIMIT, "note": "y" * 3000})
    assert payload["output"] == "x" * (LIMIT // 2) + "…"
    assert payload["otel"]["attributes"]["note"] == "y" * 3000
    assert payload["otel"]["cut"] == {"output": LIMIT}


def test_no_text_is_longer_than_half_a_megabyte() -> None:
    limit = 1024 * 1024
    payload = last({"output.value": "x" * (3 * limit)}, limit=limit)
    assert payload["output"] == "x" * (512 * 1024) + "…"


def test_all_texts_are_cut_to_the_same_size() -> None:
    payload = last({"output.value": "x" * 60_000, "a.b": ["y" * 20_000, "z" * 40_000, "short"]})
    assert len(payload["output"]) == 16_385
    first, second, third = payload["otel"]["attributes"]["a.b"]
    assert (len(first), len(second), third) == (16_385, 16_385, "short")
    assert payload["otel"]["cut"] == {
        "output": 60_000,
        "otel.attributes.a.b.0": 20_000,
        "otel.attributes.a.b.1": 40_000,
    }


def test_bytes_count_and_no_character_is_split() -> None:
    payload = last({"output.value": "x" + "€" * LIMIT})
    assert payload["otel"]["cut"] == {"output": 1 + 3 * LIMIT}
    kept = payload["output"].removesuffix("…")
    assert len(kept.encode()) == LIMIT // 2 - 1
    assert set(kept) == {"x", "€"}


def test_escapes_count() -> None:
    payload = last({"output.value": "\x01" * LIMIT})
    assert payload["output"] == "\x01" * 8192 + "…"


@pytest.mark.parametrize(
    "many",
    [
        {f"k{number}": "v" for number in range(20_000)},
        {"list": list(range(50_000))},
        {"deep": [[[["text"] * 5] * 20] * 20] * 20},
        {f"k{number}": "v" * 5 for number in range(20_000)} | {"output.value": "x" * LIMIT},
    ],
)
def test_too_many_small_values_become_text(many: dict[str, Any]) -> None:
    payload = last(many)
    assert isinstance(payload["otel"]["attributes"], str)
    assert payload["otel"]["attributes"].endswith("…")
    assert payload["session_id"] == "a session"
    assert payload["otel"]["trace_id"] == "0a" * 16
    assert payload["otel"]["cut"]["otel.attributes"] > LIMIT


def test_a_long_name_of_a_span_is_cut() -> None:
    [event] = events_of(span(name="n" * LIMIT), "span", limit=LIMIT)
    assert len(event.payload) <= LIMIT


@pytest.mark.parametrize("depth", [90, 500, 900, 960, 990, 5000])
def test_deep_nesting_is_stored(depth: int) -> None:
    nested = "[" * depth + '"x"' + "]" * depth
    payload = last({"output.value": nested, "input.value": nested}, "span")
    assert payload["output"]
    assert payload["input"] == payload["output"]

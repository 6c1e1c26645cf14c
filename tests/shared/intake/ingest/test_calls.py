"""The cost of calls when they are stored: from their fields, and from their providers' usage."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from shared.intake.ingest.batch import Batch
from shared.intake.ingest.rows import Columns, columns_of
from shared.intake.ingest.rules import IngestRules

COSTS = ("cost_usd", "reported_usd", "computed_usd", "cost_source", "unpriced_reason")
# Of the built-in table: dollars of a million tokens at Anthropic's own API.
SONNET = "claude-sonnet-4-5"


def stored(event_type: str = "model_response", **fields: Any) -> dict[str, object]:
    """Returns the columns of one event."""
    payload = msgspec.json.encode({"session_id": "s", "type": event_type, **fields})
    ts = 1_790_000_000_000_000
    batch = Batch([1], [ts], [1], ["s"], ["a"], [event_type], ["e"], [payload])
    columns: Columns = columns_of("org", batch, IngestRules())
    return {name: values[0] for name, values in columns.items()}


def dollars(units: object) -> Decimal | None:
    return Decimal(units).scaleb(-12) if isinstance(units, int) else None


def test_a_call_costs_what_its_tokens_cost() -> None:
    found = stored(
        model=SONNET,
        input_tokens=10_000,
        output_tokens=1_000,
        cache_read_tokens=6_000,
        cache_write_tokens=3_000,
        cache_write_1h_tokens=1_000,
    )
    # 1,000 plain at 3, 6,000 read at 0.30, 2,000 written at 3.75 and 1,000 at 6; 1,000 out at 15.
    assert dollars(found["cost_usd"]) == Decimal("0.0333")
    assert (found["cost_source"], found["cost_notes"]) == ("computed", ())
    assert str(found["price_id"]).startswith("builtin:")


def test_the_usage_of_the_provider_is_the_same() -> None:
    found = stored(
        model=SONNET,
        usage={
            "input_tokens": 1_000,
            "cache_read_input_tokens": 6_000,
            "cache_creation_input_tokens": 3_000,
            "cache_creation": {"ephemeral_1h_input_tokens": 1_000},
            "output_tokens": 1_000,
        },
    )
    assert (found["input_tokens"], dollars(found["cost_usd"])) == (10_000, Decimal("0.0333"))


def test_a_reported_cost_counts_and_the_computed_one_stands_beside_it() -> None:
    found = stored(model=SONNET, input_tokens=1_000, output_tokens=0, cost_usd="0.0025")
    assert (found["cost_source"], dollars(found["cost_usd"])) == ("reported", Decimal("0.0025"))
    assert dollars(found["computed_usd"]) == Decimal("0.003")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"input_tokens": 5}, "no_model"),
        ({"model": "house", "input_tokens": 5}, "no_price"),
        ({"model": SONNET}, "no_usage"),
        ({"model": SONNET, "input_tokens": -5, "output_tokens": 5}, "bad_usage"),
        ({"model": SONNET, "usage": {"prompt_tokens": 1.5}}, "bad_usage"),
    ],
)
def test_a_call_without_a_price_has_a_reason_and_no_cost(
    fields: dict[str, Any], reason: str
) -> None:
    found = stored(**fields)
    assert [found[name] for name in COSTS] == [None, None, None, "unpriced", reason]


@pytest.mark.parametrize(
    ("event_type", "fields"),
    [
        ("note", {"model": SONNET, "input_tokens": 5, "cost_usd": 1}),
        ("span", {"model": SONNET, "input_tokens": 5}),
        ("tool_result", {"model": SONNET, "input_tokens": 5}),
        ("tool_result", {"cost_usd": "much"}),
        ("model_response", {"model": SONNET, "error": "overloaded"}),
    ],
)
def test_other_events_have_no_cost(event_type: str, fields: dict[str, object]) -> None:
    found = stored(event_type, **fields)
    assert [found[name] for name in COSTS] == [None] * 5


def test_a_tool_costs_what_it_reports() -> None:
    found = stored("tool_result", cost_usd=0.004)
    assert (found["cost_source"], dollars(found["cost_usd"])) == ("reported", Decimal("0.004"))

"""The price of calls, and the cost of an event before it is sent."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers, new_key
from tests.support.runtime import make_org

Key = Callable[..., Headers]

PRICE: dict[str, Any] = {
    "model": "house-*",
    "prices": {"input": 3, "output": 15, "cache_write": 3.75, "cache_write_1h": 6},
    "tiers": [{"above_input_tokens": 1000, "prices": {"input": 6}}],
    "variants": [{"when": {"service_tier": "batch"}, "factor": 0.5}],
}
NONE: dict[str, Any] = {"price": None, "source": "unknown", "rates": {}, "notes": []}


def create(client: FlaskClient, headers: Headers, **body: Any) -> dict[str, Any]:
    answer = client.post("/v1/prices", json={**PRICE, **body}, headers=headers)
    row: dict[str, Any] = answer.get_json()
    assert answer.status_code == 201, row
    return row


def resolve(client: FlaskClient, headers: Headers, **query: Any) -> dict[str, Any]:
    answer = client.get("/v1/prices/resolve", query_string=query, headers=headers)
    found: dict[str, Any] = answer.get_json()
    assert answer.status_code == 200, found
    return found


def quote(client: FlaskClient, headers: Headers, **event: Any) -> dict[str, Any]:
    answer = client.post("/v1/prices/quote", json=event, headers=headers)
    found: dict[str, Any] = answer.get_json()
    assert answer.status_code == 200, found
    return found


def test_a_price_is_resolved_as_the_next_event_has_it(client: FlaskClient, key: Key) -> None:
    headers = key()
    assert resolve(client, headers, model="house-1") == NONE
    row = create(client, headers)
    rates = {
        "input": 3,
        "output": 15,
        "cache_read": 3,
        "cache_write": 3.75,
        "cache_write_1h": 6,
        "reasoning": 15,
        "input_audio": 3,
        "output_audio": 15,
        "web_search": 0,
        "request": 0,
    }
    found = {"price": row, "source": "organization", "rates": rates, "notes": []}
    assert resolve(client, headers, model="acme/House-1") == found
    large = resolve(client, headers, model="house-1", input_tokens=1001, service_tier="Batch")
    halves = {name: rate / 2 for name, rate in {**rates, "input": 6, "cache_read": 6}.items()}
    assert large == {**found, "rates": {**halves, "input_audio": 3}}
    client.delete(f"/v1/prices/{row['id']}", headers=headers)
    assert resolve(client, headers, model="house-1") == NONE


def test_a_tier_without_a_variant_is_noted(client: FlaskClient, key: Key) -> None:
    headers = key()
    create(client, headers)
    for tier, notes in (("turbo", ["tier_unknown"]), ("standard", []), ("batch", [])):
        found = resolve(client, headers, model="house-1", service_tier=tier)
        assert found["notes"] == notes


def test_a_price_is_resolved_at_a_moment(client: FlaskClient, key: Key) -> None:
    headers = key()
    row = create(client, headers, valid_from="2026-05-01T00:00:00Z")
    before, at = "2026-04-30T23:59:59.999999Z", "2026-05-01T00:00:00Z"
    assert resolve(client, headers, model="house-1", at=before) == NONE
    assert resolve(client, headers, model="house-1", at=at)["price"] == row


def test_a_built_in_price_is_resolved(client: FlaskClient, key: Key) -> None:
    found = resolve(client, key(), model="gpt-4o", provider="openai", at="2026-01-01T00:00:00Z")
    assert (found["source"], found["price"]["provider"]) == ("builtin", "openai")
    assert found["price"]["id"].endswith(":openai/gpt-4o")
    assert found["rates"]["cache_read"] == found["price"]["prices"]["cache_read"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "model"),
        ({"model": ""}, "model"),
        ({"model": "m", "input_tokens": -1}, "input_tokens"),
        ({"model": "m", "input_tokens": "x"}, "input_tokens"),
        ({"model": "m", "at": "now"}, "at"),
    ],
)
def test_a_bad_question_is_refused(
    client: FlaskClient, key: Key, query: dict[str, Any], field: str
) -> None:
    response = client.get("/v1/prices/resolve", query_string=query, headers=key())
    assert (response.status_code, list(response.get_json()["fields"])) == (422, [field])


def test_a_quote_is_made_of_lines(client: FlaskClient, key: Key) -> None:
    headers = key()
    row = create(client, headers)
    event = {
        "event_type": "model_response",
        "model": "house-1",
        "input_tokens": 900,
        "cache_write_tokens": 500,
        "output_tokens": 100,
    }
    assert quote(client, headers, **event) == {
        "cost_usd": 0.004575,
        "cost_source": "computed",
        "unpriced_reason": None,
        "lines": [
            {"class": "input", "quantity": 400, "rate": 3, "cost_usd": 0.0012},
            {"class": "output", "quantity": 100, "rate": 15, "cost_usd": 0.0015},
            {"class": "cache_write", "quantity": 500, "rate": 3.75, "cost_usd": 0.001875},
        ],
        "notes": ["write_lifetime_assumed"],
        "price": row,
    }
    reported = quote(client, headers, **event, cost_usd="0.5", cost_currency="USD")
    assert (reported["cost_usd"], reported["cost_source"]) == (0.5, "reported")
    assert len(reported["lines"]) == 3
    night = quote(client, headers, **event, service_tier="batch")
    assert night["cost_usd"] == 0.004575 / 2


@pytest.mark.parametrize(
    ("event", "reason", "notes"),
    [
        ({"input_tokens": 9}, "no_model", []),
        ({"model": 7, "input_tokens": 9}, "no_model", []),
        ({"model_name": "house-1"}, "no_usage", []),
        ({"model": "unheard-of", "input_tokens": 9}, "no_price", []),
        ({"model": "house-1"}, "no_usage", []),
        ({"model": "house-1", "input_tokens": "9"}, "no_usage", []),
        ({"model": "house-1", "input_tokens": True}, "no_usage", []),
        ({"model": "house-1", "input_tokens": -1}, "bad_usage", []),
        ({"model": "house-1", "output_tokens": 1.5}, "bad_usage", []),
        ({"model": "house-1", "web_searches": 2**32}, "bad_usage", []),
        ({"model": "house-1", "input_tokens": 9, "audio_input_tokens": 10}, "bad_usage", []),
        ({"model": "house-1", "cost_usd": "NaN"}, "no_usage", ["reported_ignored"]),
        ({"model": "house-1", "cost_usd": 1, "cost_currency": "EUR"}, "no_usage", None),
    ],
)
def test_what_cannot_be_priced_has_a_reason(
    client: FlaskClient, key: Key, event: dict[str, Any], reason: str, notes: list[str] | None
) -> None:
    headers = key()
    create(client, headers)
    found = quote(client, headers, **event)
    assert (found["cost_usd"], found["cost_source"]) == (None, "unpriced")
    assert (found["unpriced_reason"], found["lines"]) == (reason, [])
    assert found["notes"] == (["reported_ignored"] if notes is None else notes)


def test_a_count_may_be_a_whole_number_with_a_point(client: FlaskClient, key: Key) -> None:
    headers = key()
    create(client, headers)
    assert quote(client, headers, model="house-1", input_tokens=9.0)["cost_usd"] == 0.000027


def test_a_failed_call_without_tokens_has_no_cost(client: FlaskClient, key: Key) -> None:
    headers = key()
    found = quote(client, headers, model="gpt-4o", error={"message": "overloaded"})
    assert (found["cost_usd"], found["cost_source"], found["unpriced_reason"]) == (None,) * 3


def test_a_quote_has_the_price_of_its_moment(client: FlaskClient, key: Key) -> None:
    headers = key()
    create(client, headers, valid_from="2026-05-01T00:00:00Z")
    event = {"model": "house-1", "input_tokens": 9}
    early = quote(client, headers, **event, timestamp="2026-04-30T00:00:00Z")
    assert (early["unpriced_reason"], early["price"]) == ("no_price", None)
    assert quote(client, headers, **event)["cost_source"] == "computed"


def test_prices_of_others_do_not_count(client: FlaskClient, key: Key, runtime: Runtime) -> None:
    create(client, key())
    theirs = new_key(runtime, make_org(runtime))
    assert resolve(client, theirs, model="house-1") == NONE
    assert quote(client, theirs, model="house-1", input_tokens=9)["price"] is None

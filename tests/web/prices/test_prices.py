"""An organization's own prices over HTTP: set, listed, replaced, deleted."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import insert
from werkzeug.test import TestResponse

from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.reading.prices import service
from shared.reading.prices.builtin import builtin_prices
from shared.reading.prices.models import OwnPrice
from tests.support.app import Headers, new_key
from tests.support.runtime import Org, make_org

Key = Callable[..., Headers]

PATH = "/v1/prices"
BUILTIN = builtin_prices(None)
GPT: dict[str, Any] = {"model": "gpt-4o", "prices": {"input": 2.5, "output": "10.000001"}}
WHOLE: dict[str, Any] = {
    "model": "House-*",
    "provider": "aws.bedrock",
    "valid_from": "2026-11-01T00:00:00.000001Z",
    "prices": {"input": 1, "output": 2, "cache_read": 0.1, "web_search": 10},
    "tiers": [{"above_input_tokens": 200_000, "prices": {"input": 2}}],
    "variants": [
        {"when": {"service_tier": "flex"}, "factor": 0.5},
        {
            "when": {"utc_time": "16:30-00:30"},
            "prices": {"input": 0.5},
            "tiers": [{"above_input_tokens": 9, "prices": {"output": 1}}],
        },
    ],
    "note": "of our contract\nof May",
}


def post(client: FlaskClient, headers: Headers, **body: Any) -> TestResponse:
    return client.post(PATH, json={**GPT, **body}, headers=headers)


def listed(client: FlaskClient, headers: Headers, **query: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.get(PATH, query_string=query, headers=headers).get_json()
    return answer


def models(client: FlaskClient, headers: Headers, **query: Any) -> list[str]:
    return [one["model"] for one in listed(client, headers, **query)["prices"]]


def refusal(response: TestResponse) -> tuple[int, str]:
    return response.status_code, response.get_json()["code"]


def log_of(client: FlaskClient, headers: Headers) -> list[dict[str, Any]]:
    query = {"noun": "price"}
    lines: list[dict[str, Any]] = client.get(
        "/v1/audit-log", query_string=query, headers=headers
    ).get_json()["lines"]
    return lines


def test_a_price_from_its_start_to_its_end(client: FlaskClient, person: Key) -> None:
    headers = person()
    created = client.post(PATH, json=WHOLE, headers=headers)
    row = created.get_json()
    assert created.status_code == 201
    assert row == {
        "id": row["id"],
        "source": "organization",
        **WHOLE,
        "created_by": row["created_by"],
        "created_at": row["created_at"],
        "updated_at": row["created_at"],
    }
    assert "@" in row["created_by"]
    assert listed(client, headers)["prices"] == [row]

    path = f"{PATH}/{row['id']}"
    put = client.put(path, json=GPT, headers=headers).get_json()
    absent: dict[str, Any] = {
        "provider": None,
        "valid_from": None,
        "tiers": [],
        "variants": [],
        "note": "",
    }
    prices = {"input": 2.5, "output": 10.000001}
    assert put == {
        **row,
        **absent,
        "model": "gpt-4o",
        "prices": prices,
        "updated_at": put["updated_at"],
    }
    assert put["updated_at"] > row["updated_at"]
    assert listed(client, headers)["prices"] == [put]

    assert client.delete(path, headers=headers).status_code == 204
    assert listed(client, headers)["prices"] == []
    for gone in (client.delete(path, headers=headers), client.put(path, json=GPT, headers=headers)):
        assert refusal(gone) == (404, "not_found")


def test_each_change_is_in_the_log_with_before_and_after(client: FlaskClient, key: Key) -> None:
    headers = key()
    price_id = post(client, headers, note="one").get_json()["id"]
    body = {**GPT, "note": "one", "prices": {"input": 3, "output": 4}}
    client.put(f"{PATH}/{price_id}", json=body, headers=headers)
    client.delete(f"{PATH}/{price_id}", headers=headers)
    deleted, updated, created = log_of(client, headers)
    assert [one["action"] for one in (created, updated, deleted)] == [
        *("price.create", "price.update", "price.delete"),
    ]
    assert {(one["target_id"], one["target"]) for one in (created, updated, deleted)} == {
        (price_id, "gpt-4o")
    }
    first = {"input": 2.5, "output": 10.000001}
    assert (created["before"], created["after"]["prices"]) == (None, first)
    assert updated["before"] == {"prices": first}
    assert updated["after"] == {"prices": body["prices"]}
    assert deleted["before"].items() >= {**body, "provider": None, "tiers": []}.items()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"model": ""}, "model"),
        ({"model": " "}, "model"),
        ({"model": "m" * 257}, "model"),
        ({"model": "m\0"}, "model"),
        ({"model": 7}, "model"),
        ({"provider": "p" * 65}, "provider"),
        ({"provider": ""}, "provider"),
        ({"valid_from": "2026-11-01"}, "valid_from"),
        ({"note": "n" * 1001}, "note"),
        ({"note": "n\0"}, "note"),
        ({"prices": None}, "prices"),
        ({"prices": {"input": 1}}, "prices.output"),
        ({"prices": {"input": 1, "output": None}}, "prices.output"),
        ({"prices": {"input": 1, "output": 1, "cached": 1}}, "prices.cached"),
        ({"prices": {"input": 1, "output": 0.0000001}}, "prices.output"),
        ({"tiers": [{"above_input_tokens": 1, "prices": {"input": "x"}}]}, "tiers.0.prices.input"),
        ({"tiers": [{"above_input_tokens": "1", "prices": {}}]}, "tiers.0.above_input_tokens"),
        ({"variants": [{"when": {"region": "eu"}, "factor": 1}]}, "variants.0.when.region"),
        ({"variants": [{"when": {"service_tier": "x"}, "factor": 11}]}, "variants.0.factor"),
    ],
)
def test_bad_values_are_refused(
    client: FlaskClient, key: Key, body: dict[str, Any], field: str
) -> None:
    headers = key()
    response = post(client, headers, **body)
    assert (response.status_code, list(response.get_json()["fields"])) == (422, [field])
    assert listed(client, headers)["prices"] == []


def test_there_is_one_price_for_the_same_calls(client: FlaskClient, key: Key) -> None:
    headers = key()
    from_may = {"valid_from": "2026-05-01T00:00:00Z"}
    for body in ({}, {"provider": "openai"}, from_may, {"provider": "openai", **from_may}):
        assert post(client, headers, **body).status_code == 201
        # Names count in any case, and moments in any zone.
        again = {**body, "model": "GPT-4o", "note": "again"}
        if "valid_from" in body:
            again["valid_from"] = "2026-05-01T02:00:00+02:00"
        if "provider" in body:
            again["provider"] = "OpenAI"
        assert refusal(post(client, headers, **again)) == (409, "price_exists")
    [*_, last] = listed(client, headers)["prices"]
    path = f"{PATH}/{last['id']}"
    assert refusal(client.put(path, json=GPT, headers=headers)) == (409, "price_exists")
    # A price is not in its own way.
    assert client.put(path, json={**GPT, "model": "m"}, headers=headers).status_code == 200
    assert client.put(path, json={**GPT, "model": "M"}, headers=headers).status_code == 200


def test_an_organization_has_so_many(
    client: FlaskClient, key: Key, runtime: Runtime, org: Org
) -> None:
    headers, terms = key(), {"prices": {"input": 1, "output": 2}}
    rows = [
        {"id": new_id(), "org_id": org.uuid, "model": f"m{number:04}", "terms": terms, "note": ""}
        for number in range(service.MAX_PRICES)
    ]
    with runtime.postgres.transaction() as session:
        session.execute(insert(OwnPrice), rows)
    assert refusal(post(client, headers)) == (409, "too_many_prices")
    put = client.put(f"{PATH}/{rows[0]['id']}", json=GPT, headers=headers)
    assert put.status_code == 200
    # A page at a time, each price once.
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = listed(client, headers, limit=501, **cursor)
        assert len(page["prices"]) <= 500
        seen += [one["model"] for one in page["prices"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert seen == ["gpt-4o", *(f"m{number:04}" for number in range(1, service.MAX_PRICES))]


def test_prices_are_listed_by_model_provider_and_moment(client: FlaskClient, key: Key) -> None:
    headers = key()
    january, february = "2026-01-01T00:00:00.000000Z", "2026-02-01T00:00:00.000000Z"
    wanted = [
        *(("a", None, None), ("B", None, None), ("b", "p", None)),
        *(("b", "p", january), ("b", "p", february), ("b", "Q", None), ("c", None, None)),
    ]
    for model, provider, valid_from in wanted[::-1]:
        post(client, headers, model=model, provider=provider, valid_from=valid_from)
    rows = listed(client, headers)["prices"]
    assert [(one["model"], one["provider"], one["valid_from"]) for one in rows] == wanted


def test_models_are_searched_by_any_part_in_any_case(client: FlaskClient, key: Key) -> None:
    headers = key()
    for model in ("House-One", "house-two", "garden-*"):
        post(client, headers, model=model)
    assert models(client, headers, model="HOUSE") == ["House-One", "house-two"]
    assert models(client, headers, model="-*") == ["garden-*"]
    assert models(client, headers, model="%") == []


def test_built_in_prices_are_listed_after_own_ones(client: FlaskClient, key: Key) -> None:
    headers = key()
    post(client, headers, model="claude-sonnet-4-5")
    query = {"model": "claude-sonnet-4-5", "limit": 500}
    own = listed(client, headers, **query)["prices"]
    builtin = listed(client, headers, source="builtin", **query)["prices"]
    assert listed(client, headers, source="all", **query)["prices"] == [*own, *builtin]
    assert {one["source"] for one in builtin} == {"builtin"}
    row = next(one for one in builtin if one["provider"] == "anthropic" and one["valid_from"])
    assert row["id"].startswith("builtin:")
    assert row["id"].endswith(f"anthropic/claude-sonnet-4-5@{row['valid_from'][:10]}")
    assert (row["created_by"], row["created_at"], row["updated_at"]) == (None, None, None)
    for method in (client.delete, client.put):
        escaped = row["id"].replace("/", "%2F")
        assert refusal(method(f"{PATH}/{escaped}", json=GPT, headers=headers)) == (404, "not_found")


def test_the_built_in_table_is_described_and_has_pages(client: FlaskClient, key: Key) -> None:
    headers = key()
    answer = listed(client, headers, limit=1)
    table = BUILTIN.table
    assert answer["builtin"] == {
        "source": "genai-prices",
        "version": table.version,
        "as_of": str(table.as_of),
        "models": table.models,
    }
    ids: list[str] = []
    cursor: dict[str, str] = {}
    while len(ids) < len(BUILTIN.all):
        page = listed(client, headers, source="builtin", limit=500, **cursor)
        ids += [one["id"] for one in page["prices"]]
        cursor = {"cursor": page["next_cursor"]}
    assert page["next_cursor"] is None
    assert sorted(ids) == sorted(one.id for one in BUILTIN.all)


@pytest.mark.parametrize(
    ("query", "field"),
    [({"source": "some"}, "source"), ({"cursor": "x"}, "cursor"), ({"limit": "0"}, "limit")],
)
def test_a_bad_query_is_refused(
    client: FlaskClient, key: Key, query: dict[str, str], field: str
) -> None:
    response = client.get(PATH, query_string=query, headers=key())
    assert (response.status_code, list(response.get_json()["fields"])) == (422, [field])


def test_prices_are_the_organizations_own(client: FlaskClient, key: Key, runtime: Runtime) -> None:
    mine, theirs = key(), new_key(runtime, make_org(runtime))
    price_id = post(client, mine).get_json()["id"]
    assert listed(client, theirs)["prices"] == []
    for method in (client.delete, client.put):
        answer = method(f"{PATH}/{price_id}", json=GPT, headers=theirs)
        assert refusal(answer) == (404, "not_found")
    assert post(client, theirs).status_code == 201
    assert len(listed(client, mine)["prices"]) == 1


def test_reading_does_not_let_change(client: FlaskClient, key: Key) -> None:
    reader = key("settings:read")
    assert listed(client, reader)["prices"] == []
    assert post(client, reader).status_code == 403

"""Context windows over HTTP: set, resolve, delete."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import insert
from werkzeug.test import TestResponse

from shared.foundation.deployment.runtime import Runtime
from shared.reading.model_windows import service
from shared.reading.model_windows.models import ModelContextWindow
from tests.support.app import Headers, new_key
from tests.support.runtime import Org, make_org

Key = Callable[..., Headers]

PATH = "/v1/settings/model-context-windows"
GPT = "openai/gpt-4o-2024-08-06"


def put(client: FlaskClient, headers: Headers, model: Any, window: Any) -> TestResponse:
    body = {"model_id": model, "context_window": window}
    return client.put(PATH, json=body, headers=headers)


def listed(client: FlaskClient, headers: Headers) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(PATH, headers=headers).get_json()[
        "model_context_windows"
    ]
    return found


def resolved(client: FlaskClient, headers: Headers, model: str) -> tuple[int | None, str]:
    response = client.get(f"{PATH}/resolve", query_string={"model": model}, headers=headers)
    body = response.get_json()
    assert body["model_id"] == model
    return body["context_window"], body["source"]


def remove(client: FlaskClient, headers: Headers, model: str) -> int:
    return client.delete(PATH, query_string={"model": model}, headers=headers).status_code


def test_a_window_from_its_setting_to_its_end(client: FlaskClient, key: Key) -> None:
    headers = key("settings:read", "settings:write")
    assert listed(client, headers) == []
    assert resolved(client, headers, GPT) == (128_000, "default")
    first = put(client, headers, GPT, 1000).get_json()
    assert first.items() >= {"model_id": GPT, "context_window": 1000}.items()
    assert listed(client, headers) == [first]
    assert resolved(client, headers, GPT) == (1000, "override")
    second = put(client, headers, GPT, 2000).get_json()
    assert second["updated_at"] > first["updated_at"]
    assert listed(client, headers) == [second]
    assert remove(client, headers, GPT) == 204
    assert remove(client, headers, GPT) == 404
    assert resolved(client, headers, GPT) == (128_000, "default")


def test_only_the_exact_model_is_overridden(client: FlaskClient, key: Key) -> None:
    headers = key()
    put(client, headers, GPT, 1000)
    for model in (GPT.upper(), "gpt-4o", GPT + "-x"):
        assert resolved(client, headers, model) == (128_000, "default")
        assert remove(client, headers, model) == 404
    assert resolved(client, headers, "house-model") == (None, "unknown")


def test_zero_means_unknown(client: FlaskClient, key: Key) -> None:
    headers = key()
    assert put(client, headers, GPT, 0).get_json()["context_window"] == 0
    assert resolved(client, headers, GPT) == (None, "override")


def test_windows_are_listed_by_model(client: FlaskClient, key: Key) -> None:
    headers, models = key(), ["b", "A", "a", "ä", "a b", "a/b,c"]
    for model in models:
        assert put(client, headers, model, 5).status_code == 200
        assert resolved(client, headers, model) == (5, "override")
    assert [one["model_id"] for one in listed(client, headers)] == sorted(models)


@pytest.mark.parametrize(
    ("model", "window", "field"),
    [
        ("", 1, "model_id"),
        ("m" * 257, 1, "model_id"),
        ("m\0", 1, "model_id"),
        (7, 1, "model_id"),
        (None, 1, "model_id"),
        ("m", -1, "context_window"),
        ("m", 1_000_001, "context_window"),
        ("m", 10**30, "context_window"),
        ("m", True, "context_window"),
        ("m", 1.5, "context_window"),
        ("m", 1.0, "context_window"),
        ("m", "1", "context_window"),
        ("m", None, "context_window"),
    ],
)
def test_bad_values_are_refused(
    client: FlaskClient, key: Key, model: object, window: object, field: str
) -> None:
    headers = key()
    response = put(client, headers, model, window)
    assert (response.status_code, list(response.get_json()["fields"])) == (422, [field])
    assert listed(client, headers) == []


def test_the_edges_are_taken(client: FlaskClient, key: Key) -> None:
    assert put(client, key(), "m" * 256, 1_000_000).status_code == 200
    assert put(client, key(), "m", 0).status_code == 200


@pytest.mark.parametrize("query", ["", "?model=", "?model=" + "m" * 257, "?model=%00"])
def test_a_model_has_to_be_named(client: FlaskClient, key: Key, query: str) -> None:
    for method, path in (("DELETE", PATH), ("GET", f"{PATH}/resolve")):
        response = client.open(path + query, method=method, headers=key())
        assert (response.status_code, list(response.get_json()["fields"])) == (422, ["model"])


def test_windows_are_the_organizations_own(client: FlaskClient, key: Key, runtime: Runtime) -> None:
    mine, theirs = key(), new_key(runtime, make_org(runtime))
    put(client, mine, GPT, 1000)
    assert listed(client, theirs) == []
    assert resolved(client, theirs, GPT) == (128_000, "default")
    assert remove(client, theirs, GPT) == 404
    put(client, theirs, GPT, 2000)
    assert resolved(client, mine, GPT) == (1000, "override")


def test_an_organization_sets_so_many(
    client: FlaskClient, key: Key, runtime: Runtime, org: Org
) -> None:
    headers, models = key(), [f"m{number}" for number in range(service.MAX_OVERRIDES)]
    with runtime.postgres.transaction() as session:
        rows = [{"org_id": org.uuid, "model_id": model, "context_window": 1} for model in models]
        session.execute(insert(ModelContextWindow), rows)
    response = put(client, headers, "one more", 1)
    assert (response.status_code, response.get_json()["code"]) == (409, "too_many_windows")
    assert put(client, headers, "m0", 2).status_code == 200

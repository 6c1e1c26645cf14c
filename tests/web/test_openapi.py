"""The OpenAPI document and its page."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient


@pytest.fixture
def client(app_without_stores: Flask) -> FlaskClient:
    """A client of an application that reaches no store."""
    return app_without_stores.test_client()


@pytest.fixture
def document(client: FlaskClient) -> dict[str, Any]:
    """The document, fetched without a credential."""
    response = client.get("/v1/openapi.json")
    assert (response.status_code, response.mimetype) == (200, "application/json")
    body: dict[str, Any] = response.get_json()
    return body


def test_the_head_of_the_document(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    assert document["info"]["title"] == "Watchpost"
    assert document["info"]["version"] == "0.0.1-beta.77"
    scheme = document["components"]["securitySchemes"]["apiKey"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")


def references(node: object) -> set[str]:
    """Yields every `$ref` below a node."""
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(references(value) for value in node.values()))
    if isinstance(node, list):
        return set().union(*(references(value) for value in node))
    return set()


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    found = references(document)
    assert found
    for reference in found:
        node: Any = document
        for step in reference.removeprefix("#/").split("/"):
            assert step in node, reference
            node = node[step]


def test_every_error_is_the_one_body(document: dict[str, Any]) -> None:
    for name, response in document["components"]["responses"].items():
        schema = response["content"]["application/json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/ErrorBody"}, name


def test_exports_of_opentelemetry_have_no_429(document: dict[str, Any]) -> None:
    for path in ("/v1/traces", "/v1/logs", "/v1/metrics"):
        answers = document["paths"][path]["post"]["responses"]
        assert ("429" in answers, "503" in answers) == (False, True), path
    assert "429" in document["paths"]["/v1/events"]["post"]["responses"]


def test_operations_can_be_called_by_name(document: dict[str, Any]) -> None:
    names = [
        operation["operationId"]
        for item in document["paths"].values()
        for method, operation in item.items()
        if method != "parameters"
    ]
    assert len(names) == len(set(names)) > 20


@pytest.mark.parametrize("path", ["/v1/docs", "/v1/docs/"])
def test_the_page_is_served_whole_from_here(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    assert (response.status_code, response.mimetype) == (200, "text/html")
    page = response.get_data(as_text=True)
    assert "/v1/openapi.json" in page
    assert '"validatorUrl": null' in page
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(loaded) >= 4
    for url in loaded:
        assert url.startswith("/v1/docs/")
        assert client.get(url, buffered=True).status_code == 200
    assert re.findall(r"https?://", page) == []

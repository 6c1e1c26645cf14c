"""Fixtures of the tests for the parts of the API that clients rely on."""

import json
from typing import Any

import pytest
from flask import Flask

from tests.contracts.document import Document
from tests.web.conftest import admin, app, client, just_arrived, key, person, web_runtime
from tests.web.events.conftest import listed, post, reader, store
from tests.workers.evaluation_jobs.conftest import bench, evaluator

__all__ = [
    "admin",
    "app",
    "bench",
    "client",
    "evaluator",
    "just_arrived",
    "key",
    "listed",
    "person",
    "post",
    "reader",
    "store",
    "web_runtime",
]


@pytest.fixture(scope="session")
def document(app: Flask) -> Document:
    """The OpenAPI document as it is served."""
    body: dict[str, Any] = json.loads(app.test_client().get("/v1/openapi.json").data)
    return Document(body)

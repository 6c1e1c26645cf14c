"""Fixtures of the tests for the parts of the API that clients rely on."""

import json

import pytest

from tests.support.document import Document
from tests.web.conftest import (
    admin,
    app,
    app_without_stores,
    client,
    just_arrived,
    key,
    person,
    web_runtime,
)
from tests.web.events.conftest import listed, post, reader, store
from tests.workers.evaluation_jobs.conftest import bench, evaluator
from web.document import FILE

__all__ = [
    "admin",
    "app",
    "app_without_stores",
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
def document() -> Document:
    """The OpenAPI document, which `test_document.py` compares with the one that is served."""
    return Document(json.loads(FILE.read_text()))

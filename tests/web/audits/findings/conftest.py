"""Findings of an audit, and requests for them."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.findings import Audited
from tests.support.runtime import Org

Listing = Callable[..., list[dict[str, Any]]]
Acting = Callable[..., TestResponse]


@pytest.fixture
def audited(runtime: Runtime, org: Org) -> Audited:
    return Audited(runtime, org)


@pytest.fixture
def listed(client: FlaskClient, key: Callable[..., Headers]) -> Listing:
    """`listed(status="muted")` returns the rows of GET /audits/findings."""
    headers = key("audits:read")

    def get(**query: Any) -> list[dict[str, Any]]:
        answer = client.get("/v1/audits/findings", query_string=query, headers=headers)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        rows: list[dict[str, Any]] = answer.get_json()
        return rows

    return get


@pytest.fixture
def act(client: FlaskClient, key: Callable[..., Headers]) -> Acting:
    """`act(finding_id, action="mute")` returns the answer of POST …/status."""
    headers = key("audits:write")

    def post(finding_id: object, **body: Any) -> TestResponse:
        path = f"/v1/audits/findings/{finding_id}/status"
        return client.post(path, json=body, headers=headers)

    return post

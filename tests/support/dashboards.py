"""Saved queries, dashboards and tiles for other tests."""

import secrets
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.support.app import Headers

SQL = "SELECT count() AS n FROM events"


def save_query(client: FlaskClient, headers: Headers, **body: Any) -> TestResponse:
    """Sends POST /queries, by default with a fresh name."""
    wanted = {"name": f"query {secrets.token_hex(6)}", "sql_text": SQL, **body}
    return client.post("/v1/queries", json=wanted, headers=headers)


def make_dashboard(client: FlaskClient, headers: Headers, **body: Any) -> TestResponse:
    """Sends POST /dashboards, with the default name `board`."""
    return client.post("/v1/dashboards", json={"name": "board", **body}, headers=headers)


def put_tile(
    client: FlaskClient, headers: Headers, dashboard_id: str, query_id: str, **body: Any
) -> TestResponse:
    """Sends POST …/tiles, by default for a line chart."""
    wanted = {"query_id": query_id, "chart_type": "line", **body}
    return client.post(f"/v1/dashboards/{dashboard_id}/tiles", json=wanted, headers=headers)


def made(response: TestResponse) -> dict[str, Any]:
    """Returns the created row."""
    assert response.status_code == 201, response.get_data(as_text=True)
    row: dict[str, Any] = response.get_json()
    return row


def error(response: TestResponse) -> tuple[int, str]:
    """Returns status and code."""
    return response.status_code, response.get_json()["code"]

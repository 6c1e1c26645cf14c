"""Calls of the routes of users, and their mails in the outbox."""

from typing import Any

from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from shared.access.mail.models import Mail
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.people import new_email
from tests.support.runtime import Org


def invite(client: FlaskClient, headers: Headers, **body: Any) -> TestResponse:
    """Sends POST /users, by default for a fresh address."""
    return client.post("/v1/users", json={"email": new_email(), **body}, headers=headers)


def put(client: FlaskClient, headers: Headers, user_id: str, **body: Any) -> TestResponse:
    """Sends PUT /users/{id}."""
    return client.put(f"/v1/users/{user_id}", json=body, headers=headers)


def disable(client: FlaskClient, headers: Headers, user_id: str) -> TestResponse:
    """Sends DELETE /users/{id}."""
    return client.delete(f"/v1/users/{user_id}", headers=headers)


def enable(client: FlaskClient, headers: Headers, user_id: str) -> TestResponse:
    """Sends POST /users/{id}/enable."""
    return client.post(f"/v1/users/{user_id}/enable", headers=headers)


def row_of(client: FlaskClient, headers: Headers, email: str) -> dict[str, Any]:
    """Returns the row of an address in the list."""
    rows: list[dict[str, Any]] = client.get("/v1/users", headers=headers).get_json()
    return next(row for row in rows if row["email"] == email)


def error(response: TestResponse) -> tuple[int, str]:
    """Returns status and code."""
    return response.status_code, response.get_json()["code"]


def refused_for(response: TestResponse) -> str:
    """Returns the missing permission of a 403 answer."""
    assert response.status_code == 403, response.get_data(as_text=True)
    permission: str = response.get_json()["required_permission"]
    return permission


def mails(runtime: Runtime, org: Org) -> list[tuple[str, str, dict[str, Any]]]:
    """Returns (kind, recipient, context) of an organization's mails, oldest first."""
    query = select(Mail).where(Mail.org_id == org.uuid).order_by(Mail.created_at)
    with runtime.postgres.transaction() as session:
        return [(mail.kind, mail.recipient, mail.context) for mail in session.scalars(query)]

"""An organization with an alert, and requests about its incidents."""

from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts.models import Alert
from tests.support.app import Headers, new_key
from tests.support.incidents import add_alert
from tests.support.runtime import Org

PATH = "/v1/alerts/incidents"
NOBODYS = "00000000-0000-4000-8000-000000000000"


class Desk:
    """Requests about incidents, by default with a key that has all permissions."""

    def __init__(self, client: FlaskClient, runtime: Runtime, org: Org) -> None:
        self.client, self.runtime, self.org = client, runtime, org
        self.key = new_key(runtime, org)

    def get(self, path: str, headers: Headers | None = None, **query: Any) -> Any:
        """Returns the answer of GET below /alerts/incidents, after checking for 200."""
        answer = self.client.get(PATH + path, headers=headers or self.key, query_string=query)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return answer.get_json()

    def act(
        self, incident: str, action: str, headers: Headers | None = None, **body: Any
    ) -> TestResponse:
        """Sends POST /alerts/incidents/{id}/{action}."""
        path = f"{PATH}/{incident}/{action}"
        return self.client.post(path, json=body, headers=headers or self.key)

    def report(self, alert: Alert, headers: Headers | None = None, **body: Any) -> TestResponse:
        """Sends POST /alerts/{id}/incidents."""
        wanted = {"summary": "customers call", **body}
        path = f"/v1/alerts/{alert.id}/incidents"
        return self.client.post(path, json=wanted, headers=headers or self.key)

    def open(self, headers: Headers | None = None, **body: Any) -> str:
        """Opens an incident without an alert and returns its id."""
        wanted = {"summary": "customers call", **body}
        answer = self.client.post(PATH, json=wanted, headers=headers or self.key)
        assert answer.status_code == 201, answer.get_data(as_text=True)
        return str(answer.get_json()["id"])

    def delete_comment(
        self, incident: str, comment: str, headers: Headers | None = None
    ) -> TestResponse:
        """Sends DELETE …/comments/{cid}."""
        path = f"{PATH}/{incident}/comments/{comment}"
        return self.client.delete(path, headers=headers or self.key)

    def activity(self, incident: str) -> list[tuple[str, str]]:
        """Returns the kinds and actors of the activity."""
        return [(one["kind"], one["actor"]) for one in self.get(f"/{incident}")["activity"]]

    def subscribed(self, incident: str) -> dict[str, str]:
        """Returns the subscribers and the reasons."""
        rows = self.get(f"/{incident}/subscribers")
        assert all(row["unsubscribed_at"] is None for row in rows)
        return {row["email"]: row["source"] for row in rows}


@pytest.fixture
def desk(client: FlaskClient, runtime: Runtime, org: Org) -> Desk:
    return Desk(client, runtime, org)


@pytest.fixture
def alert(runtime: Runtime, org: Org) -> Alert:
    return add_alert(runtime, org)

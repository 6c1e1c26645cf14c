"""The deployment that browser tests visit: two organizations, their members, and some sessions."""

import json
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from devstack import StackUrls
from devstack.up.deployment import Deployment
from shared.access.permissions import ADMIN_SET, READ_ONLY_SET
from shared.foundation.core.config import Settings
from shared.foundation.deployment.runtime import Runtime
from tests.flows.api import Api
from tests.support.app import new_key
from tests.support.people import add_member, new_email, signed_in
from tests.support.processes import wait_until
from tests.support.runtime import Org, make_org, settings_for

STANDARD_SET = "standard"
SETS = {"admin": ADMIN_SET, "standard": STANDARD_SET, "reader": READ_ONLY_SET}
# This one may do nothing of what pages need.
NOBODY = ("agent:use",)


@dataclass(frozen=True)
class Person:
    """A member of both organizations. `token` is that of a session."""

    email: str
    token: str


@dataclass(frozen=True)
class Site:
    """A deployment under test.

    `org` has sessions, `other` has none. `people` are by role: admin, standard, reader, nobody.
    `api` calls with a key of `org`.
    """

    url: str
    directory: Path
    settings: Settings
    runtime: Runtime
    org: Org
    other: Org
    people: dict[str, Person]
    api: Api

    def path(self, page: str = "sessions", org: Org | None = None) -> str:
        """Returns the URL of a page."""
        return f"{self.url}/o/{(org or self.org).slug}/{page}"

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Sends a request with the key of `org` and returns the answer. Fails for an error."""
        content = None if body is None else json.dumps(body).encode()
        status, answer = self.api.request(method, path, content, Content_Type="application/json")
        assert status < 400, answer
        found: dict[str, Any] = json.loads(answer)
        return found

    def send(self, *events: dict[str, Any]) -> None:
        """Sends events and waits until they can be read."""
        self.api.deliver([json.dumps(event).encode() for event in events])
        ids = {event["session_id"] for event in events}
        wait_until(lambda: ids <= {row["session_id"] for row in self.api.rows("sessions")})


def open_site(deployment: Deployment, runtime: Runtime) -> Site:
    """Creates organizations, members and data."""
    org, other = make_org(runtime), make_org(runtime)
    people = {}
    for role in (*SETS, "nobody"):
        email = new_email()
        granted = () if role in SETS else NOBODY
        for one in (org, other):
            user_id = add_member(runtime, one, *granted, permission_set=SETS.get(role), email=email)
        token = signed_in(runtime, user_id)["Authorization"].removeprefix("Bearer ")
        people[role] = Person(email, token)
    secret = new_key(runtime, org)["Authorization"].removeprefix("Bearer ")
    api = Api(int(deployment.environ["PORT"]), secret)
    site = Site(
        deployment.url,
        deployment.stack.directory,
        runtime.settings,
        runtime,
        org,
        other,
        people,
        api,
    )
    for index in range(60):
        site.api.deliver([json.dumps(event).encode() for event in session(index)])
    # The scores come after the sessions, and the pages show both.
    wait_until(lambda: len({row["session_id"] for row in site.api.rows("evaluations")}) == 60)
    return site


def newcomer(site: Site) -> tuple[Org, Person, Api]:
    """Returns a new organization, its administrator, and a client with a key of it."""
    org, email = make_org(site.runtime), new_email()
    user_id = add_member(site.runtime, org, email=email)
    token = signed_in(site.runtime, user_id)["Authorization"].removeprefix("Bearer ")
    secret = new_key(site.runtime, org)["Authorization"].removeprefix("Bearer ")
    return org, Person(email, token), Api(site.api.port, secret)


def settings_of(deployment: Deployment) -> Settings:
    """Returns the settings by which this process reaches the deployment's stores."""
    urls = {one.name: deployment.environ[one.name.upper()] for one in fields(StackUrls)}
    return settings_for(StackUrls(**urls))


def session(index: int, start: datetime | None = None) -> list[dict[str, Any]]:
    """Returns the events of a session: a few calls, of which each fifth session's fails."""
    begun = start or datetime.now(UTC) - timedelta(minutes=20 + index)
    name = f"s-{index:03}"
    failed = index % 5 == 0

    def event(seconds: float, kind: str, **fields: object) -> dict[str, Any]:
        moment = begun + timedelta(seconds=seconds)
        return {
            "session_id": name,
            "timestamp": moment.isoformat().replace("+00:00", "Z"),
            "type": kind,
            "agent_id": "support" if index % 2 else "billing",
            "environment": "production" if index % 3 else "staging",
            **fields,
        }

    call = {"tool_name": "lookup", "tool_call_id": f"c{index}"}
    error: dict[str, object] = {"error": "no such booking"} if failed else {"output": "found"}
    return [
        event(0, "agent_start", goal=f"answer question {index}"),
        event(1, "model_request", model="m-1", request_id=f"r{index}", messages=[]),
        event(
            2,
            "model_response",
            model="m-1",
            request_id=f"r{index}",
            input_tokens=1200 + index,
            output_tokens=80,
            duration_ms=900,
        ),
        event(3, "tool_use", **call, input={"id": index}),
        event(3.5, "tool_result", **call, **error, duration_ms=500),
        event(5, "agent_end", outcome="success", summary="answered"),
    ]

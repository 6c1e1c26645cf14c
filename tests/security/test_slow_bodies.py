"""A slow body gains nothing: access that was removed meanwhile is gone at its end."""

import io
import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import update
from werkzeug.test import TestResponse

from shared.access import users
from shared.access.users import Membership
from shared.foundation.cache import at_once
from shared.foundation.core.clock import format_ts, now
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.people import add_member, signed_in
from tests.support.runtime import Org
from tests.support.streams import waiting_payloads
from web import auth

Take = Callable[[Runtime, Org, UUID], None]


class SlowBody(io.BytesIO):
    """A body with an action before its first byte, once."""

    def __init__(self, body: Any, meanwhile: Callable[[], None]) -> None:
        super().__init__(json.dumps(body).encode())
        self._meanwhile: Callable[[], None] | None = meanwhile

    def readinto(self, buffer: Any, /) -> int:
        """Runs the action. Werkzeug reads with this method."""
        self._happen()
        return super().readinto(buffer)

    def read(self, size: int | None = -1, /) -> bytes:
        """Runs the action. Werkzeug also reads with this method."""
        self._happen()
        return super().read(size)

    def _happen(self) -> None:
        happening, self._meanwhile = self._meanwhile, None
        if happening is not None:
            happening()


@pytest.fixture(autouse=True)
def no_body_is_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treats every body as slow. Otherwise each test would take a second."""
    monkeypatch.setattr(auth, "PROMPT_SECS", 0)


def disable(runtime: Runtime, org: Org, user_id: UUID) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        users.disable(session, org.uuid, str(user_id))


def take_permissions(runtime: Runtime, org: Org, user_id: UUID) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        membership = update(Membership).where(
            Membership.org_id == org.uuid, Membership.user_id == user_id
        )
        session.execute(membership.values(permission_set=None))


def keep(_runtime: Runtime, _org: Org, _user_id: UUID) -> None:
    """Removes nothing."""


@pytest.mark.parametrize(
    ("take", "expected"), [(keep, 201), (disable, 401), (take_permissions, 403)]
)
def test_no_key_is_made_with_what_was_taken_meanwhile(
    client: FlaskClient, runtime: Runtime, org: Org, admin: Headers, take: Take, expected: int
) -> None:
    """Otherwise a disabled user could still create a key, without any hurry."""
    user_id = add_member(runtime, org)
    headers = signed_in(runtime, user_id)
    body = SlowBody(
        {"name": "left behind", "key": "x" * 40 + org.slug, "permissions": ["events:read"]},
        lambda: take(runtime, org, user_id),
    )
    answer = send(client, "POST", "/v1/keys", headers, body)
    assert answer.status_code == expected
    names = [row["name"] for row in client.get("/v1/keys", headers=admin).get_json()]
    assert names == (["left behind"] if expected == 201 else [])


@pytest.mark.parametrize(("take", "expected"), [(keep, 200), (disable, 401)])
def test_nor_is_a_conversation_written(
    client: FlaskClient, runtime: Runtime, org: Org, take: Take, expected: int
) -> None:
    """Its messages are read in another way."""
    user_id = add_member(runtime, org)
    headers = signed_in(runtime, user_id)
    made = client.post("/v1/agent/conversations", json={}, headers=headers).get_json()
    path = f"/v1/agent/conversations/{made['id']}/messages"
    body = SlowBody(
        {"messages": [{"role": "user", "content": "?"}]}, lambda: take(runtime, org, user_id)
    )
    assert send(client, "PUT", path, headers, body).status_code == expected


@pytest.mark.parametrize(("take", "expected"), [(keep, 202), (disable, 401)])
def test_nor_are_events_taken(
    client: FlaskClient, runtime: Runtime, org: Org, take: Take, expected: int
) -> None:
    user_id = add_member(runtime, org)
    headers = signed_in(runtime, user_id)
    body = SlowBody([], lambda: take(runtime, org, user_id))
    assert send(client, "POST", "/v1/events", headers, body).status_code == expected


@pytest.mark.parametrize(("take", "status"), [(keep, 200), (disable, 401)])
def test_nor_is_a_tool_called(
    client: FlaskClient, runtime: Runtime, org: Org, take: Take, status: int
) -> None:
    user_id = add_member(runtime, org)
    accepts = {"Accept": "application/json, text/event-stream"}
    headers = {**signed_in(runtime, user_id), **accepts}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    body = SlowBody(call, lambda: take(runtime, org, user_id))
    assert send(client, "POST", "/v1/mcp", headers, body).status_code == status


def test_a_key_listed_while_a_body_arrives_is_redacted(
    client: FlaskClient, runtime: Runtime, org: Org, admin: Headers
) -> None:
    def redact() -> None:
        path = "/v1/settings/redaction.payload_keys"
        assert client.put(path, json={"value": ["a"]}, headers=admin).status_code == 200

    event = {"session_id": "s", "timestamp": format_ts(now()), "type": "note", "a": "hush"}
    answer = send(client, "POST", "/v1/events", admin, SlowBody([event], redact))
    assert (answer.status_code, answer.get_json()["accepted"]) == (202, 1)
    assert [json.loads(one) for one in waiting_payloads(runtime, org)] == [
        {**event, "a": "[redacted]"}
    ]


def send(
    client: FlaskClient, method: str, path: str, headers: Headers, body: SlowBody
) -> TestResponse:
    """Sends a request with this body."""
    return client.open(
        path,
        method=method,
        headers=headers,
        input_stream=body,
        content_length=len(body.getvalue()),
        content_type="application/json",
    )

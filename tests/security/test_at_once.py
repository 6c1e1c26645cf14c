"""A change through one web process takes effect in the other with the very next request."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest

from devstack import DevStack
from devstack.ports import free_port
from shared.foundation.core.clock import format_ts, now
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import ADMIN_KEY, Headers, new_key
from tests.support.databases import environment
from tests.support.otlp import make_span, traces
from tests.support.people import new_email, new_member
from tests.support.runtime import Org
from tests.support.server import PROJECT, Server
from tests.support.streams import waiting_payloads
from web.otlp.grpc.exports import SERVICES

PROBE = "/v1/events/tool_names"


class Deployment:
    """Both servers. Changes go to the first, as the instance's administrator."""

    def __init__(self, servers: list[Server], org: Org) -> None:
        self.servers = servers
        self.org = org

    def change(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """Makes a change, which has to succeed, and returns the decoded answer."""
        answered, _, content = self.servers[0].request(
            method,
            f"/v1{path}",
            None if body is None else json.dumps(body).encode(),
            Authorization=f"Bearer {ADMIN_KEY}",
            X_Service_Org=self.org.slug,
            Content_Type="application/json",
        )
        assert answered == status, content
        return json.loads(content)

    def statuses(self, headers: Headers) -> set[int]:
        """Returns both servers' status for one request each, the unchanged server first."""
        named = {name.replace("-", "_"): value for name, value in headers.items()}
        return {server.request("GET", PROBE, None, **named)[0] for server in reversed(self.servers)}


@pytest.fixture
def deployment(servers: list[Server], org: Org) -> Deployment:
    """The two servers with a separate organization."""
    return Deployment(servers, org)


@pytest.fixture(scope="module")
def grpc_channel(
    migrated_stack: DevStack, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[grpc.Channel]:
    """A channel to a running `otlp-grpc`."""
    port = free_port()
    with (tmp_path_factory.mktemp("grpc") / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "web.otlp.grpc"],
            cwd=PROJECT,
            env={
                "PATH": os.environ["PATH"],
                **environment(migrated_stack.urls),
                "OTLP_GRPC_PORT": str(port),
            },
            stderr=log,
        )
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            grpc.channel_ready_future(channel).result(60)
            yield channel
    finally:
        process.terminate()
        assert process.wait(20) == 0


def user_of(deployment: Deployment, email: str) -> dict[str, Any]:
    """Returns the row of a member."""
    rows: list[dict[str, Any]] = deployment.change("GET", "/users")
    return next(row for row in rows if row["email"] == email)


def disable_key(deployment: Deployment, key_id: str) -> None:
    deployment.change("POST", f"/keys/{key_id}/disable")


def regenerate_key(deployment: Deployment, key_id: str) -> None:
    deployment.change("POST", f"/keys/{key_id}/regenerate")


@pytest.mark.parametrize("change", [disable_key, regenerate_key])
def test_a_key(
    runtime: Runtime, deployment: Deployment, change: Callable[[Deployment, str], None]
) -> None:
    headers = new_key(runtime, deployment.org, {"events:read"})
    assert deployment.statuses(headers) == {200}
    [row] = deployment.change("GET", "/keys")
    change(deployment, row["id"])
    assert deployment.statuses(headers) == {401}


@pytest.mark.parametrize("change", [disable_key, regenerate_key])
def test_a_key_over_mcp_and_grpc(
    runtime: Runtime,
    deployment: Deployment,
    grpc_channel: grpc.Channel,
    change: Callable[[Deployment, str], None],
) -> None:
    """`otlp-grpc` is a process of its own, with a cache of its own."""
    headers = new_key(runtime, deployment.org, {"events:read", "events:add"})
    export = grpc_channel.unary_unary(f"/{next(iter(SERVICES))}/Export")
    sent = [("authorization", headers["Authorization"])]
    body = traces(make_span(1)).SerializeToString()
    for _ in range(2):
        export(body, metadata=sent, timeout=20)
        assert mcp_statuses(deployment, headers) == {200}
    [row] = deployment.change("GET", "/keys")
    change(deployment, row["id"])
    with pytest.raises(grpc.RpcError) as refused:
        export(body, metadata=sent, timeout=20)
    assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED
    assert mcp_statuses(deployment, headers) == {401}


def mcp_statuses(deployment: Deployment, headers: Headers) -> set[int]:
    """Returns both servers' status for a list of MCP's tools."""
    ask = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    sent = {
        "Content_Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **headers,
    }
    return {server.request("POST", "/v1/mcp", ask, **sent)[0] for server in deployment.servers}


def test_the_permissions_of_a_key(runtime: Runtime, deployment: Deployment) -> None:
    """Only a person can change them, so the administrator's key acts for one."""
    headers = new_key(runtime, deployment.org, {"events:read"})
    email = new_email()
    new_member(runtime, deployment.org, email=email)
    assert deployment.statuses(headers) == {200}
    [row] = deployment.change("GET", "/keys")
    status, _, content = deployment.servers[0].request(
        "PATCH",
        f"/v1/keys/{row['id']}",
        b'{"permissions": ["events:add"]}',
        Authorization=f"Bearer {ADMIN_KEY}",
        X_Service_Org=deployment.org.slug,
        X_Service_Actor=email,
        Content_Type="application/json",
    )
    assert status == 200, content
    assert deployment.statuses(headers) == {403}


def disable_user(deployment: Deployment, user_id: str) -> int:
    deployment.change("DELETE", f"/users/{user_id}")
    return 401


def take_permissions(deployment: Deployment, user_id: str) -> int:
    deployment.change("PUT", f"/users/{user_id}", {"permission_added": ["events:add"]})
    return 403


def edit_the_set(deployment: Deployment, _user_id: str) -> int:
    deployment.change("PUT", "/permission-sets/readers", {"permissions": ["events:add"]})
    return 403


def delete_the_set(deployment: Deployment, _user_id: str) -> int:
    deployment.change("DELETE", "/permission-sets/readers")
    return 403


def close_the_door(deployment: Deployment, _user_id: str) -> int:
    deployment.change("PUT", "/settings/allowed_sign_ins", {"value": ["*@elsewhere.example"]})
    return 401


@pytest.mark.parametrize(
    "change", [disable_user, take_permissions, edit_the_set, delete_the_set, close_the_door]
)
def test_a_person(
    runtime: Runtime, deployment: Deployment, change: Callable[[Deployment, str], int]
) -> None:
    readers = {"name": "readers", "permissions": ["events:read"]}
    deployment.change("POST", "/permission-sets", readers, status=201)
    email = new_email()
    headers = new_member(runtime, deployment.org, permission_set="readers", email=email)
    assert deployment.statuses(headers) == {200}
    expected = change(deployment, user_of(deployment, email)["id"])
    assert deployment.statuses(headers) == {expected}


def test_a_grant_takes_effect_at_once(runtime: Runtime, deployment: Deployment) -> None:
    email = new_email()
    headers = new_member(runtime, deployment.org, "events:add", email=email)
    assert deployment.statuses(headers) == {403}
    user_id = user_of(deployment, email)["id"]
    deployment.change("PUT", f"/users/{user_id}", {"permission_added": ["events:read"]})
    assert deployment.statuses(headers) == {200}


def test_a_session_that_ends(runtime: Runtime, deployment: Deployment) -> None:
    headers = new_member(runtime, deployment.org, "events:read")
    assert deployment.statuses(headers) == {200}
    status, _, _ = deployment.servers[0].request(
        "POST", "/v1/auth/logout", Authorization=headers["Authorization"]
    )
    assert status == 200
    assert deployment.statuses(headers) == {401}


def test_redacted_keys(runtime: Runtime, deployment: Deployment) -> None:
    """Each server is used before a change, and each change applies to its very next event."""
    headers = new_key(runtime, deployment.org, {"events:add"})
    event = {"session_id": "s", "timestamp": format_ts(now()), "type": "note", "a": "1", "b": "2"}
    for step, names in enumerate(([], ["a"], ["b"], [])):
        deployment.change("PUT", "/settings/redaction.payload_keys", {"value": names})
        for place, server in enumerate(reversed(deployment.servers)):
            status, _, content = server.request(
                "POST",
                "/v1/events",
                json.dumps({**event, "step": step, "place": place}).encode(),
                Content_Type="application/x-ndjson",
                **headers,
            )
            assert status == 202, content
    sent = [json.loads(payload) for payload in waiting_payloads(runtime, deployment.org)]
    hidden = "[redacted]"
    assert [(one["a"], one["b"]) for one in sent] == [
        *[("1", "2")] * 2,
        *[(hidden, "2")] * 2,
        *[("1", hidden)] * 2,
        *[("1", "2")] * 2,
    ]

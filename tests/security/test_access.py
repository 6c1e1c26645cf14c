"""Access to every route: without its permission, and with its permission alone.

The OpenAPI document supplies all attempts, so a new route is covered automatically. A route
declares its further needs: `x-requires-user`, several permissions, `x-grants` where a body can
grant permissions that the caller must hold, `x-permission-for-others` where other people's things
need one more permission, `x-further-permissions` where the route or its body needs one in addition.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from shared.access.permissions import ALL, FOR_KEYS
from shared.foundation.deployment.runtime import Runtime
from tests.security.world import Operation, World
from tests.support.app import ADMIN_KEY, Headers, bearer, new_key
from tests.support.document import Document
from tests.support.people import new_member
from tests.support.routes import EXPORTS, UNUSED_ID, require_error

# Where the tests are of the success of routes that need more than a request with a good body.
SUCCEED_ELSEWHERE = {
    "DELETE /v1/settings/model-context-windows": "web/model_windows",
    "GET /v1/auth/introspect": "web/identity",
    "GET /v1/dimensions/values": "web/dimensions",
    "GET /v1/prices/resolve": "web/prices",
    "GET /v1/ready": "web/health",
    "GET /v1/settings/model-context-windows/resolve": "web/model_windows",
    "POST /v1/agent/chat": "web/conversations",
    "POST /v1/alerts/incidents/{incident_id}/assign": "web/incidents",
    "POST /v1/auth/otp/verify": "web/users/sign_in",
    "POST /v1/evaluations/re-evaluate": "web/evaluation_jobs",
    "POST /v1/events/import": "web/events",
    "POST /v1/keys/{key_id}/regenerate": "web/keys",
    "POST /v1/mcp": "web/mcp",
    "POST /v1/sessions/{session_id}/re-evaluate": "contracts",
    "POST /v1/users/{user_id}/enable": "web/users",
    "PUT /v1/settings/{key}": "web/settings",
}
OF_CALLERS = ("/v1/auth", "/v1/users")
# Bodies of other protocols, those that are read later than refused, and a bare value.
NOT_AN_OBJECT = {*EXPORTS, "/v1/agent/chat", "/v1/mcp", "/v1/settings/{key}"}


def permissions_of(operation: dict[str, Any]) -> list[str]:
    """Returns the permissions of which a caller needs one."""
    declared = operation.get("x-required-permission", [])
    return [declared] if isinstance(declared, str) else list(declared)


def bare(template: str) -> str:
    """Returns the path with unused ids."""
    return re.sub(r"\{\w+\}", UNUSED_ID, template)


def attempts(world: World, template: str, operation: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields a request with an unused id and no body, and a good one about a resource.

    Refusals that differ would reveal which ids exist and which bodies are valid.
    """
    yield bare(template), None
    for path in list(world.paths(template))[:1]:
        yield path, world.body(operation)


def test_without_a_credential(ours: World, guarded: list[Operation]) -> None:
    for method, template, operation in guarded:
        for path, body in attempts(ours, template, operation):
            answer = ours.call(method, path, {}, body)
            require_error(answer, 401, "unauthorized")
            assert answer.headers["WWW-Authenticate"] == "Bearer", f"{method} {template}"


@pytest.mark.parametrize(
    "credential", ["Bearer nobody-knows-this-secret", "Basic YTpi", "Bearer \xff\xfe"]
)
def test_with_a_credential_that_is_not_known(
    ours: World, guarded: list[Operation], credential: str
) -> None:
    for method, template, _ in guarded:
        require_error(ours.call(method, bare(template), {"Authorization": credential}), 401)


def test_with_every_permission_but_the_one_that_is_needed(
    runtime: Runtime, ours: World, guarded: list[Operation]
) -> None:
    for method, template, operation in guarded:
        needed = permissions_of(operation)
        if not needed:
            continue
        person = new_member(runtime, ours.org, *(ALL - set(needed)))
        for headers in (person, new_key(runtime, ours.org, FOR_KEYS - set(needed))):
            for path, body in attempts(ours, template, operation):
                refusal = require_error(ours.call(method, path, headers, body), 403)
                assert refusal["required_permission"] == needed[0], f"{method} {template}"


def test_with_the_needed_permission_alone(
    runtime: Runtime, new_world: Callable[[], World], guarded: list[Operation]
) -> None:
    spent = new_world()
    for method, template, operation in guarded:
        for permission in permissions_of(operation):
            # List the paths before there are callers, so that no caller disables itself.
            todo = list(attempts(spent, template, operation))
            callers: list[Headers] = [new_member(runtime, spent.org, permission)]
            if not operation.get("x-requires-user"):
                callers.append(new_key(runtime, spent.org, {permission}))
            for headers in callers:
                for number, (path, body) in enumerate(todo):
                    answer = spent.call(method, path, headers, body)
                    further = operation.get("x-further-permissions", [])
                    if further and answer.status_code == 403:
                        assert answer.get_json()["required_permission"] in further
                        continue
                    if number == 1 and answer.status_code == 403:
                        # The route is open, but the body grants a permission that the caller lacks,
                        # or another person made the resource.
                        named = answer.get_json()["required_permission"]
                        if not operation.get("x-grants"):
                            assert named == operation["x-permission-for-others"]
                        assert named != permission
                        continue
                    assert answer.status_code not in (401, 403), (
                        f"{method} {template}: {answer.get_data(as_text=True)}"
                    )


def test_every_route_succeeds(
    runtime: Runtime, new_world: Callable[[], World], document: Document
) -> None:
    """Each answer is compared with the document by `CheckedClient`."""
    spent = new_world()
    missing: dict[str, list[int]] = {}
    for method, template, operation in sorted(document.operations(), key=what_ends_access_last):
        if template.startswith(OF_CALLERS):
            spent.person = new_member(runtime, spent.org)
        caller: Headers | None = {} if template == "/v1/auth/logout" else None
        paths = list(spent.paths(template))
        statuses = [
            spent.call(method, path, caller, body).status_code
            for path in (*paths[:1], bare(template))
            for body in (spent.body(operation), None)
        ]
        if min(statuses) >= 300:
            missing[f"{method} {template}"] = statuses
    assert missing.keys() == SUCCEED_ELSEWHERE.keys(), missing


def what_ends_access_last(operation: Operation) -> tuple[bool, bool]:
    method, template, _ = operation
    return template.startswith(OF_CALLERS), method == "DELETE"


def test_a_body_that_is_no_object_is_a_bad_body(ours: World, document: Document) -> None:
    for method, template, operation in document.operations():
        content = operation.get("requestBody", {}).get("content", {})
        schema = document.resolve(content.get("application/json", {}).get("schema", {}))
        if schema.get("type") != "object" or template in NOT_AN_OBJECT:
            continue
        for body in ([], "text", 1, True, [1]):
            answer = ours.call(method, bare(template), body=body)
            refusal = require_error(answer, 422, "invalid")
            assert refusal["fields"].keys() == {"body"}, f"{method} {template} {body}"


def test_head_is_get_without_the_body(ours: World, document: Document) -> None:
    for method, template, operation in document.operations():
        if method != "GET" or "{" in template:
            continue
        read, told = ours.call("GET", template), ours.call("HEAD", template)
        assert (told.status_code, told.data) == (read.status_code, b""), template
        assert told.content_type == read.content_type, template
        if operation["security"]:
            assert ours.call("HEAD", template, {}).status_code == 401, template


def test_routes_for_people_refuse_keys(ours: World, guarded: list[Operation]) -> None:
    for method, template, operation in guarded:
        if not operation.get("x-requires-user"):
            continue
        for headers in (ours.key, bearer(ADMIN_KEY, ours.org.slug)):
            for path, body in attempts(ours, template, operation):
                answer = ours.call(method, path, headers, body)
                refusal = require_error(answer, 403, "user_required")
                needed = next(iter(permissions_of(operation)), None)
                assert refusal.get("required_permission") == needed


def test_a_key_in_another_organization(ours: World, guarded: list[Operation]) -> None:
    headers = {**ours.key, "X-Service-Org": "default"}
    for method, template, _ in guarded:
        require_error(ours.call(method, bare(template), headers), 403, "foreign_org")


def test_an_instance_key_in_an_unknown_organization(ours: World, guarded: list[Operation]) -> None:
    headers = bearer(ADMIN_KEY, "no-such-organization")
    for method, template, _ in guarded:
        require_error(ours.call(method, bare(template), headers), 404, "org_not_found")


def test_the_scheme_is_case_insensitive(ours: World) -> None:
    secret = ours.key["Authorization"].removeprefix("Bearer ")
    path = "/v1/auth/introspect"
    assert ours.call("GET", path, {"Authorization": f"bearer  {secret} "}).status_code == 200
    assert ours.call("GET", path, bearer(secret + "x")).status_code == 401

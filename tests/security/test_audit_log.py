"""Every route that writes, and every export, leaves a line in the audit log.

The OpenAPI document supplies the routes, so a new one is covered automatically: it records a line,
or it is listed here with the reason why it needs none.
"""

import json
import re
import secrets
from collections.abc import Callable, Iterator
from typing import Any

from shared.access.settings.catalogue import CATALOGUE
from shared.foundation.core.ids import new_request_id
from tests.security.world import Operation, World

_INGEST = "receipts count what arrives"
_READS = "it changes nothing"
_OWN = "a person's own conversation, which nobody else sees"
_HISTORY = "an incident has a history of its own"
_WORK = "work and no change, with a job and a result of its own"
_LAYOUT = "the content of a dashboard, which gives no access"
EXEMPT = {
    "POST /v1/events": _INGEST,
    "POST /v1/events/import": _INGEST,
    "POST /v1/traces": _INGEST,
    "POST /v1/logs": _INGEST,
    "POST /v1/metrics": _INGEST,
    "POST /v1/queries/run": _READS,
    "POST /v1/prices/quote": _READS,
    "POST /v1/alerts/preview": _READS,
    "POST /v1/deletions/preview": _READS,
    "POST /v1/mcp": _READS,
    "POST /v1/dashboards/{dashboard_id}/tiles/{tile_id}/run": _READS,
    "POST /v1/sessions/{session_id}/re-evaluate": _WORK,
    "POST /v1/evaluations/re-evaluate": _WORK,
    "POST /v1/agent/chat": _OWN,
    "POST /v1/agent/conversations": _OWN,
    "PATCH /v1/agent/conversations/{conversation_id}": _OWN,
    "DELETE /v1/agent/conversations/{conversation_id}": _OWN,
    "PUT /v1/agent/conversations/{conversation_id}/messages": _OWN,
    "DELETE /v1/users/me": "the caller leaves, and the line is tested with that",
    "POST /v1/alerts/{alert_id}/incidents": _HISTORY,
    "POST /v1/alerts/incidents": _HISTORY,
    "POST /v1/alerts/incidents/{incident_id}/ack": _HISTORY,
    "POST /v1/alerts/incidents/{incident_id}/assign": _HISTORY,
    "POST /v1/alerts/incidents/{incident_id}/resolve": _HISTORY,
    "POST /v1/alerts/incidents/{incident_id}/send-again": _WORK,
    "POST /v1/alerts/incidents/{incident_id}/comments": _HISTORY,
    "DELETE /v1/alerts/incidents/{incident_id}/comments/{comment_id}": _HISTORY,
    "POST /v1/alerts/incidents/{incident_id}/subscribe": _HISTORY,
    "POST /v1/alerts/incidents/{incident_id}/unsubscribe": _HISTORY,
    "POST /v1/dashboards/{dashboard_id}/tiles": _LAYOUT,
    "PUT /v1/dashboards/{dashboard_id}/tiles/layout": _LAYOUT,
    "PUT /v1/dashboards/{dashboard_id}/tiles/{tile_id}": _LAYOUT,
    "DELETE /v1/dashboards/{dashboard_id}/tiles/{tile_id}": _LAYOUT,
}
# What is deleted goes last, so that the other routes find it.
_ORDER = ("GET", "PUT", "PATCH", "POST", "DELETE")
# A route that succeeds only after another one for the same resource.
AFTER = {"/v1/users/{user_id}/enable": ("DELETE", "/enable")}


def is_recorded(method: str, template: str) -> bool:
    is_list = template.endswith("/exports/files")
    return method != "GET" or (re.search("/exports?(/|$)", template) is not None and not is_list)


def test_every_write_and_export_leaves_a_line(
    new_world: Callable[[], World], guarded: list[Operation]
) -> None:
    world = new_world()
    wanted = [one for one in guarded if is_recorded(*one[:2])]
    assert EXEMPT.keys() <= {f"{method} {template}" for method, template, _ in wanted}
    for method, template, operation in sorted(wanted, key=lambda one: _ORDER.index(one[0])):
        name = f"{method} {template}"
        if name not in EXEMPT:
            assert recorded(world, method, template, operation), f"{name} left no line"


def recorded(world: World, method: str, template: str, operation: dict[str, Any]) -> bool:
    """Sends a request until one succeeds; returns whether that one left a line with a caller."""
    refusals = []
    query = query_of(world, template, operation)
    for path, body in tries(world, template, operation):
        if template in AFTER:
            first, tail = AFTER[template]
            world.call(first, path.removesuffix(tail))
        request_id = new_request_id()
        headers = {**world.person, "X-Request-Id": request_id}
        answer = world.call(method, path, headers, body, query)
        if answer.status_code < 300:
            lines = [line for line in log_of(world) if line["request_id"] == request_id]
            assert all(line["actor"] == caller_of(world) for line in lines)
            assert all(line["address"] == "127.0.0.1" for line in lines)
            return bool(lines)
        refusals.append((path, answer.get_data(as_text=True)))
    raise AssertionError(f"{method} {template} never succeeded: {refusals}")


def tries(world: World, template: str, operation: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    me = next(row["id"] for row in world.rows("/v1/users") if row["email"] == caller_of(world))
    for path in sorted(world.own_paths(template)) or list(world.paths(template)):
        # The caller must not disable itself.
        if me not in path:
            yield path, world.body(operation)


def query_of(world: World, template: str, operation: dict[str, Any]) -> dict[str, str]:
    """Returns the required parameters, with values of a row of the list at the same path."""
    named = [one["name"] for one in operation["parameters"] if one["in"] == "query"]
    required = {one["name"] for one in operation["parameters"] if one.get("required")}
    wanted = required.intersection(named)
    [row, *_] = world.rows(template) if wanted else [{}]
    return {name: str(row.get(name, row.get(f"{name}_id"))) for name in wanted}


def test_no_secret_is_in_the_log(new_world: Callable[[], World]) -> None:
    world, marked = new_world(), f"hush{secrets.token_hex(8)}"
    for key, setting in CATALOGUE.items():
        if setting.kind in ("secret", "url"):
            value = (
                marked if setting.kind == "secret" else f"https://hooks.test/{marked}?t={marked}"
            )
            for one in (value, f"{value}2", None):
                answer = world.call("PUT", f"/v1/settings/{key}", body={"value": one})
                assert answer.status_code == 200
    secret_fields = 0
    for method, template, operation in world.document.operations():
        body = world.body(operation)
        # An evaluator has a key that names it.
        is_secret = isinstance(body, dict) and "key" in body and template != "/v1/evaluators"
        if method == "POST" and is_secret:
            sent = {**body, "key": f"{marked}-{template.count('/')}-0123456789"}
            assert world.call(method, template, body=sent).status_code == 201
            secret_fields += 1
    assert secret_fields == 1
    [path, *_] = world.own_paths("/v1/keys/{key_id}/regenerate")
    regenerated = world.call("POST", path).get_json()["key"]
    exported = world.call("GET", "/v1/audit-log/export")
    assert exported.content_type == "application/x-ndjson"
    lines = [json.loads(line) for line in exported.get_data(as_text=True).splitlines()]
    assert {"setting.update", "setting.reset", "key.create", "key.regenerate"} <= {
        line["action"] for line in lines
    }
    for said in (json.dumps(lines), json.dumps(log_of(world))):
        assert marked not in said
        assert regenerated not in said


def caller_of(world: World) -> str:
    return f"{world.mark}@example.org"


def log_of(world: World) -> list[dict[str, Any]]:
    answer = world.call("GET", "/v1/audit-log", query={"limit": "200"})
    lines: list[dict[str, Any]] = answer.get_json()["lines"]
    return lines

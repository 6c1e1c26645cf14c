"""One organization with one resource of every kind, each with the organization's mark."""

import json
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from flask.testing import FlaskClient
from sqlalchemy import text
from werkzeug.test import TestResponse

from shared.foundation.core.clock import now, to_us
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from shared.reading.evaluations import store as evaluations
from tests.security.bodies import Maker, body_of
from tests.support.app import Headers, new_key
from tests.support.document import Document
from tests.support.evaluations import evaluation
from tests.support.findings import Audited, candidate
from tests.support.jobs import insert_job
from tests.support.people import new_member
from tests.support.runtime import Org, make_org

_ALL_TIME = {"ts_from": "2000-01-01T00:00:00Z", "ts_to": "2100-01-01T00:00:00Z"}
_TEXTS = (
    "agent_id",
    "environment",
    "tool_name",
    "hook_name",
    "trigger_event",
    "error_type",
    "model",
    "tool_call_id",
    "goal",
)
# A value that follows the clock.
_MOVING = re.compile(rb'"watermark":"[^"]*"')
# The events of a session have no list at their own path.
_EVENTS_OF_SESSION = re.compile(r"/v1/sessions/([^/]+)/events")


# The method, the path of the document, and the operation as the document describes it.
Operation = tuple[str, str, dict[str, Any]]


@dataclass
class World:
    """`person` has all permissions in the organization, and `key` all that a key can have.

    `given` are the paths that existed from the start, such as built-in sets.
    """

    client: FlaskClient
    document: Document
    org: Org
    mark: str
    person: Headers
    key: Headers
    made: list[tuple[str, str]] = field(default_factory=list)
    given: set[str] = field(default_factory=set)

    def call(
        self,
        method: str,
        path: str,
        headers: Headers | None = None,
        body: Any = None,
        query: dict[str, str] | None = None,
    ) -> TestResponse:
        """Sends one request, by default as the person."""
        return self.client.open(
            path,
            method=method,
            # A fixed id, so that equal answers are equal byte for byte.
            headers={"X-Request-Id": "0" * 32, **(self.person if headers is None else headers)},
            json=body,
            query_string=query,
        )

    def body(self, operation: dict[str, Any]) -> Any:
        """Returns a body for an operation with this organization's mark."""
        return body_of(Maker(self.document, self.mark, self.id_from), operation)

    def id_from(self, path: str) -> str | None:
        """Returns the id of a row of the list at this path, for a body that refers to one."""
        return next((row["id"] for row in self.rows(path)), None)

    def rows(self, path: str) -> list[dict[str, Any]]:
        """Returns the rows of a list, empty if there is no such list."""
        events = _EVENTS_OF_SESSION.fullmatch(path)
        if events:
            query = {"session_id": unquote(events[1])}
            return rows_of(self.call("GET", "/v1/events", query=query).get_json())
        answer = self.call("GET", path)
        return rows_of(answer.get_json()) if answer.status_code == 200 else []

    def paths(self, template: str) -> Iterator[str]:
        """Returns the template's paths with every id that this organization has for them.

        Those of built-in things, which cannot be changed, come last.
        """
        [static, *rest] = re.split(r"(\{\w+\}[^{]*)", template)
        filled = self._filled(static, [part for part in rest if part])
        yield from sorted(filled, key=lambda path: path in self.given)

    def own_paths(self, template: str) -> set[str]:
        """Returns those of `paths` that no other organization has.

        It does not compare with another organization: if a list shows too much, both would have
        them.
        """
        return set(self.paths(template)) - self.given

    def _filled(self, prefix: str, rest: list[str]) -> Iterator[str]:
        if not rest:
            yield prefix
            return
        parameter, tail = rest[0].split("}", 1)
        for row in self.rows(prefix.rstrip("/")):
            value = row.get(parameter.lstrip("{"), row.get("id", row.get("key", row.get("name"))))
            if value is not None:
                yield from self._filled(prefix + quote(str(value), safe="") + tail, rest[1:])

    def values(self) -> dict[str, set[str]]:
        """Returns the values in the rows of all lists, by field, as values for filters."""
        found: dict[str, set[str]] = {}
        for method, template, _ in self.document.operations():
            if method == "GET" and "{" not in template:
                for row in self.rows(template):
                    for name, value in row.items():
                        if isinstance(value, str) and self.mark in value:
                            found.setdefault(name, set()).add(value)
        return found

    def snapshot(self) -> dict[str, Any]:
        """Returns all readable data of the organization, except values that change on their own."""
        seen: dict[str, Any] = {}
        for method, template, operation in self.document.operations():
            # An export adds a line to the log, so reading everything changes it. The values of an
            # open incident reach to the present.
            if template.startswith("/v1/audit-log") or template.endswith("{incident_id}/values"):
                continue
            if method == "GET" and operation["security"]:
                # With the widest range, because some reads end now by default.
                named = {parameter["name"] for parameter in operation["parameters"]}
                query = _ALL_TIME if named >= _ALL_TIME.keys() else None
                for path in self.paths(template):
                    seen[path] = _MOVING.sub(b"", self.call("GET", path, query=query).get_data())
        return {path: body for path, body in seen.items() if b"calculated_at" not in body}


def make_world(runtime: Runtime, client: FlaskClient, document: Document) -> World:
    """Makes an organization with events, an evaluation, a job and all that the API can create."""
    org = make_org(runtime)
    mark = f"mark{secrets.token_hex(5)}"
    world = World(
        client=client,
        document=document,
        org=org,
        mark=mark,
        person=new_member(runtime, org, email=f"{mark}@example.org"),
        key=new_key(runtime, org),
    )
    for _, template, _ in document.operations():
        world.given.update(world.paths(template))
    _store_session(runtime, world)
    _file_finding(runtime, world)
    _configure(world)
    _create(world)
    return world


def rows_of(answer: Any) -> list[dict[str, Any]]:
    """Returns the rows of a list's answer, bare, in an envelope or in columns.

    Empty bins are left out.
    """
    if isinstance(answer, dict) and isinstance(answer.get("columns"), dict):
        columns = answer["columns"]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if isinstance(answer, dict):
        answer = next((value for value in answer.values() if isinstance(value, list)), [])
    return [row for row in answer or [] if isinstance(row, dict) and row.get("count") != 0]


def _store_session(runtime: Runtime, world: World) -> None:
    """Stores a session whose events, evaluation and job carry the mark in every text."""
    event = {
        "session_id": f"{world.mark}-session",
        "timestamp": now().isoformat(),
        **{name: f"{world.mark}-{name}" for name in _TEXTS},
    }
    types = ("agent_start", "tool_use", "model_response", "hook_triggered", "error", "agent_end")
    lines = "\n".join(json.dumps({**event, "type": one}) for one in (*types, ""))
    answer = world.client.post(
        "/v1/events",
        data=lines,
        content_type="application/x-ndjson",
        headers={**world.key, "User-Agent": f"{world.mark}-sender"},
    )
    assert answer.get_json()["accepted"] == len(types)
    Drain(runtime, "security", IngestRulesCache(runtime)).run()
    result = evaluation(
        world.org.id,
        f"{world.mark}-session",
        to_us(now()),
        environment=f"{world.mark}-environment",
        agent_id=f"{world.mark}-agent_id",
        scores={f"{world.mark}-score": 1.0},
        summary=f"{world.mark}-summary",
    )
    evaluations.insert(runtime.clickhouse, [result])
    with runtime.postgres.transaction() as session:
        insert_job(
            session,
            world.org,
            f"{world.mark}-session",
            agent_id=f"{world.mark}-agent_id",
            environment=f"{world.mark}-environment",
        )


def _file_finding(runtime: Runtime, world: World) -> None:
    """Files a finding, which only a run of an audit can do."""
    audited = Audited(runtime, world.org, f"{world.mark}-audit")
    texts = ("title", "category", "failure_type", "description")
    audited.file(candidate(world.mark, **{name: f"{world.mark}-{name}" for name in texts}))
    # The run and its audit have texts at separate paths.
    told = {"org_id": world.org.uuid, "report": f"{world.mark}-report"}
    with runtime.postgres.transaction() as session:
        for statement in (
            (
                "UPDATE audit_runs SET started_at = now(), finished_at = now(), report = :report"
                " WHERE org_id = :org_id"
            ),
            "UPDATE audits SET context_text = :report WHERE org_id = :org_id",
        ):
            session.execute(text(statement), told)


def _configure(world: World) -> None:
    """Changes a setting. Settings exist already, so `_create` makes none."""
    path, body = "/v1/settings/alerts.webhook_default_url", {"value": f"https://{world.mark}.test/"}
    assert world.call("PUT", path, body=body).status_code == 200


def _create(world: World) -> None:
    """Creates one of everything in the API, each below the resources created before it."""
    operations = [
        (method, template, operation)
        for method, template, operation in world.document.operations()
        if operation["security"] and _creates(method, template, operation)
    ]
    for method, template, operation in sorted(operations, key=lambda one: one[1].count("/")):
        for path in list(world.paths(template))[:1]:
            answer = world.call(method, path, body=world.body(operation))
            assert answer.status_code in (200, 201), (path, answer.get_data(as_text=True))
            world.made.append((method, template))


def _creates(method: str, template: str, operation: dict[str, Any]) -> bool:
    """Returns whether it is a POST that answers 201, or a PUT on a collection."""
    return (method == "POST" and "201" in operation["responses"]) or (
        method == "PUT" and "{" not in template
    )

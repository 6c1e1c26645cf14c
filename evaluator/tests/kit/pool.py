"""A pool of Watchpost's that speaks the protocol of workers strictly, in memory.

Requests have exactly the fields of the protocol. A lease ends after `lease_secs` without a
heartbeat; its runs are then due again, under the next generation.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Callable
from urllib.parse import unquote

from kit.serving import Reply, Request

TOKEN = "wpw_test"
_ROUTES = [
    ("POST", r"/workers/register", "register"),
    ("POST", r"/assignments/claim", "claim"),
    ("GET", r"/assignments/([^/]+)/transcript", "transcript"),
    ("GET", r"/assignments/([^/]+)/definitions", "definitions"),
    ("POST", r"/assignments/([^/]+)/plan", "plan"),
    ("POST", r"/runs/heartbeat", "heartbeat"),
    ("POST", r"/runs/([^/]+)/result", "result"),
]
_STATUSES = {
    "invalid_credentials": 401,
    "assignment_not_found": 404,
    "run_not_found": 404,
    "catalog_mismatch": 409,
    "lease_lost": 409,
    "plan_conflict": 409,
    "submission_conflict": 409,
    "transcript_too_large": 413,
    "invalid_request": 422,
    "incomplete_plan": 422,
    "unsupported_protocol_version": 426,
    "internal_error": 503,
}
_TEXT, _WHOLE, _LIST, _NULL = str, int, list, type(None)
_LEASE = {"protocol_version": _TEXT, "worker_id": _TEXT, "lease_generation": _WHOLE}
_SHAPES: dict[str, dict[str, Any]] = {
    "register": {
        "protocol_version": _TEXT,
        "worker_id": _TEXT,
        "sdk_version": _TEXT,
        "catalog_revision": _TEXT,
        "max_concurrency": _WHOLE,
        "definitions": _LIST,
    },
    "definition": {
        "eval_key": _TEXT,
        "display_name": _TEXT,
        "eval_version": _TEXT,
        "result_kind": _TEXT,
        "labels": _LIST,
    },
    "claim": {
        "protocol_version": _TEXT,
        "worker_id": _TEXT,
        "catalog_revision": _TEXT,
        "capacity": _WHOLE,
    },
    "plan": {**_LEASE, "selected": _LIST, "skipped": _LIST},
    "selected": {"eval_key": _TEXT, "eval_version": _TEXT},
    "skipped": {"eval_key": _TEXT, "eval_version": _TEXT, "reason_code": _TEXT},
    "heartbeat": {**_LEASE, "runs": _LIST},
    "run": {"evaluation_run_id": _TEXT, "state": _TEXT, "progress": (float, _NULL)},
    "result": {
        **_LEASE,
        "result_schema_version": _TEXT,
        "submission_id": _TEXT,
        "status": _TEXT,
        "started_at": _TEXT,
        "finished_at": _TEXT,
        "duration_ms": _WHOLE,
        "summary": (_TEXT, _NULL),
        "results": _LIST,
        "error_code": (_TEXT, _NULL),
        "error_message": (_TEXT, _NULL),
    },
    "item": {
        "result_key": _TEXT,
        "result_kind": _TEXT,
        "numeric_value": (float, _NULL),
        "bool_value": (bool, _NULL),
        "text_value": (_TEXT, _NULL),
        "unit": _TEXT,
        "display_value": (_TEXT, _NULL),
        "description": (_TEXT, _NULL),
        "reasoning": (_TEXT, _NULL),
        "labels": _LIST,
    },
}
_KINDS = {"score", "metric", "assertion", "category", "text"}


class Refusal(Exception):
    """An error of the protocol."""

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


@dataclass
class SessionDue:
    """A session with runs, each `{key@version: what became of it}`."""

    export: dict[str, Any]
    runs: dict[str, Any]
    generation: int = 0
    worker: str | None = None
    lease_ends: float = 0.0
    plan: dict[str, Any] | None = None
    submissions: dict[str, Any] = field(default_factory=dict)

    @property
    def left(self) -> list[str]:
        return [name for name, ended in self.runs.items() if ended is None]


class Pool:
    """The sessions that are due, by their ids, and everything that workers asked."""

    def __init__(self, lease_secs: float = 60, poll_secs: float = 1) -> None:
        self.due: dict[str, SessionDue] = {}
        self.lease_secs, self.poll_secs = lease_secs, poll_secs
        self.disabled: list[str] = []
        self.workers: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.faults: list[str] = []
        # Called with the name of each request, before its answer.
        self.before: Callable[[str], object] = str
        self._lock = threading.Lock()

    def add(self, export: dict[str, Any], *names: str) -> SessionDue:
        """Makes runs of a session due."""
        added = SessionDue(export, dict.fromkeys(names))
        self.due[export["session_id"]] = added
        return added

    @property
    def is_done(self) -> bool:
        return not any(one.left for one in self.due.values())

    def answer(self, request: Request) -> Reply:
        """Answers a request; one of another shape is a fault."""
        found = (
            (name, re.fullmatch("/v1/evaluator" + pattern, request.path))
            for method, pattern, name in _ROUTES
            if method == request.method
        )
        name, match = next(((one, match) for one, match in found if match), ("", None))
        if match is None:
            self.faults.append(f"{request.method} {request.path}")
            return Reply(404, {})
        self.before(name)
        try:
            with self._lock:
                self.asked.append(name)
                check_token(request)
                answer: Any = getattr(self, f"_{name}")(request, *map(unquote, match.groups()))
        except Refusal as refusal:
            return self._refused(refusal, request)
        return Reply(200, {"protocol_version": "2", **answer})

    def _refused(self, refusal: Refusal, request: Request) -> Reply:
        if refusal.code == "invalid_request":
            self.faults.append(f"{request.path}: {refusal.message}")
        error = {
            "code": refusal.code,
            "message": refusal.message or refusal.code,
            "retryable": refusal.code == "internal_error",
            "request_id": request.headers.get("x-request-id", ""),
        }
        return Reply(_STATUSES[refusal.code], {"protocol_version": "2", "error": error})

    def _register(self, request: Request) -> dict[str, Any]:
        asked = shaped("register", request.document)
        for one in asked["definitions"]:
            if shaped("definition", one)["result_kind"] not in _KINDS:
                raise Refusal("invalid_request", "result_kind")
        self.workers[asked["worker_id"]] = asked
        return {
            "evaluator_instance_id": "pool-1",
            "evaluator_kind": "customer",
            "heartbeat_interval_seconds": self.lease_secs / 4,
            "lease_duration_seconds": self.lease_secs,
            "poll_interval_seconds": self.poll_secs,
            "claim_limit": asked["max_concurrency"],
            "disabled_definitions": self.disabled,
        }

    def _claim(self, request: Request) -> dict[str, Any]:
        asked = shaped("claim", request.document)
        worker = self.workers.get(asked["worker_id"])
        if worker is None or worker["catalog_revision"] != asked["catalog_revision"]:
            raise Refusal("catalog_mismatch")
        has = {f"{one['eval_key']}@{one['eval_version']}" for one in worker["definitions"]}
        free = [
            one
            for one in self.due.values()
            if one.left and {*one.left} <= has and time.monotonic() >= one.lease_ends
        ]
        return {"assignments": [self._lease(o, worker) for o in free[: asked["capacity"]]]}

    def _lease(self, due: SessionDue, worker: Mapping[str, Any]) -> dict[str, Any]:
        due.generation += 1
        due.worker, due.plan = worker["worker_id"], None
        due.lease_ends = time.monotonic() + self.lease_secs
        session_id = due.export["session_id"]
        return {
            "assignment_id": f"a-{session_id}",
            "lease_generation": due.generation,
            "lease_expires_at": "2026-11-01T08:00:00Z",
            "session_id": session_id,
            "session_revision_id": "7",
            "agent_id": due.export["agent_id"],
            "environment": due.export["environment"],
            "trigger_reason": "agent_end",
            "event_count": len(due.export["events"]),
            "transcript_url": f"/v1/evaluator/assignments/a-{session_id}/transcript",
            "definitions_url": f"/v1/evaluator/assignments/a-{session_id}/definitions",
        }

    def _held(self, assignment_id: str, worker: object, generation: object) -> SessionDue:
        due = self.due.get(assignment_id[2:])
        if due is None:
            raise Refusal("assignment_not_found")
        is_over = time.monotonic() >= due.lease_ends
        if is_over or (due.worker, due.generation) != (worker, generation):
            raise Refusal("lease_lost")
        return due

    def _read(self, request: Request, assignment_id: str) -> SessionDue:
        worker = request.headers.get("x-failproofai-worker-id")
        generation = int(request.headers["x-failproofai-lease-generation"])
        return self._held(assignment_id, worker, generation)

    def _transcript(self, request: Request, assignment_id: str) -> dict[str, Any]:
        export = self._read(request, assignment_id).export
        if export.get("too_large"):
            raise Refusal("transcript_too_large")
        return {
            **export,
            "schema_version": "2",
            "assignment_id": assignment_id,
            "session_revision_id": "7",
            "ended_at": export["ended_at"] or export["events"][-1]["ts"],
            "event_count": len(export["events"]),
            "events": [{**one, "id": str(one["id"])} for one in export["events"]],
        }

    def _definitions(self, request: Request, assignment_id: str) -> dict[str, Any]:
        due = self._read(request, assignment_id)
        definitions: list[dict[str, Any]] = [
            {
                "eval_key": name.partition("@")[0],
                "display_name": name,
                "eval_version": name.partition("@")[2],
                "result_kind": "score",
                "labels": [],
                "execution_mode": "local",
                "condition_source": None,
                "source_checksum": None,
                "timeout_seconds": None,
            }
            for name in due.left
        ]
        revision = self.workers[str(due.worker)]["catalog_revision"]
        return {
            "assignment_id": assignment_id,
            "catalog_revision": revision,
            "definitions": definitions,
        }

    def _plan(self, request: Request, assignment_id: str) -> dict[str, Any]:
        asked = shaped("plan", request.document)
        due = self._held(assignment_id, asked["worker_id"], asked["lease_generation"])
        if due.plan is not None and due.plan != asked:
            raise Refusal("plan_conflict")
        is_replay, due.plan = due.plan is not None, asked
        selected = [_name(shaped("selected", one)) for one in asked["selected"]]
        skipped = {_name(shaped("skipped", o)): o["reason_code"] for o in asked["skipped"]}
        if not is_replay and sorted([*selected, *skipped]) != sorted(due.left):
            raise Refusal("incomplete_plan")
        for reason in skipped.values():
            if not re.fullmatch(r"[a-z][a-z0-9_]*", reason):
                raise Refusal("invalid_request", "reason_code")
        due.runs.update({name: {"skipped": reason} for name, reason in skipped.items()})
        return {
            "assignment_id": assignment_id,
            "assignment_status": "planned" if selected else "skipped",
            "idempotent_replay": is_replay,
            "runs": [
                {
                    "evaluation_run_id": f"r-{due.export['session_id']}-{name}",
                    "eval_key": name.partition("@")[0],
                    "eval_version": name.partition("@")[2],
                    "execution_mode": "local",
                    "evaluator_source": None,
                    "source_checksum": None,
                    "timeout_seconds": None,
                }
                for name in selected
            ],
        }

    def _heartbeat(self, request: Request) -> dict[str, Any]:
        asked = shaped("heartbeat", request.document)
        accepted = []
        for one in asked["runs"]:
            due, name = self._run(shaped("run", one)["evaluation_run_id"])
            self._held(
                f"a-{due.export['session_id']}", asked["worker_id"], asked["lease_generation"]
            )
            if due.runs[name] is None:
                accepted.append(one["evaluation_run_id"])
                due.lease_ends = time.monotonic() + self.lease_secs
        return {"lease_expires_at": "2026-11-01T08:00:00Z", "accepted_run_ids": accepted}

    def _run(self, run_id: str) -> tuple[SessionDue, str]:
        for session_id, due in self.due.items():
            name = run_id[len(f"r-{session_id}-") :]
            if run_id.startswith(f"r-{session_id}-") and name in due.runs:
                return due, name
        raise Refusal("run_not_found")

    def _result(self, request: Request, run_id: str) -> dict[str, Any]:
        asked = shaped("result", request.document)
        due, name = self._run(run_id)
        earlier = due.submissions.get(name)
        if earlier is not None and earlier != asked:
            raise Refusal("submission_conflict")
        if earlier is None:
            due = self._held(
                f"a-{due.export['session_id']}", asked["worker_id"], asked["lease_generation"]
            )
            if due.plan is None or name not in [_name(one) for one in due.plan["selected"]]:
                raise Refusal("run_not_found")
            check_result(asked)
        due.submissions[name], due.runs[name] = asked, asked
        return {
            "evaluation_run_id": run_id,
            "submission_id": asked["submission_id"],
            "status": asked["status"],
            "idempotent_replay": earlier is not None,
            "result_count": len(asked["results"]),
            "result_checksum": "sha256:0",
        }


def check_token(request: Request) -> None:
    """Raises `Refusal` for another token."""
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        raise Refusal("invalid_credentials")


def _name(one: Mapping[str, Any]) -> str:
    return f"{one['eval_key']}@{one['eval_version']}"


def shaped(name: str, document: Any) -> dict[str, Any]:
    """Returns a document with exactly these fields of these types."""
    shape = dict(_SHAPES[name])
    if name == "item" and isinstance(document, dict) and "evidence" in document:
        shape["evidence"] = _LIST  # more than the protocol has
    if not isinstance(document, dict) or document.keys() != shape.keys():
        raise Refusal("invalid_request", f"the fields of {name}: {json.dumps(document)[:500]}")
    for one, types in shape.items():
        value = document[one]
        kinds = types if isinstance(types, tuple) else (types,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise Refusal("invalid_request", f"{one} of {name}: {value!r}")
    if document.get("protocol_version", "2") != "2":
        raise Refusal("unsupported_protocol_version")
    return document


def check_result(asked: Mapping[str, Any]) -> None:
    """Raises `Refusal` for values that do not fit their kinds."""
    is_good = asked["status"] == "succeeded"
    if asked["result_schema_version"] != "2" or (asked["error_code"] is None) != is_good:
        raise Refusal("invalid_request", "status and error_code")
    fields = {
        "score": "numeric_value",
        "metric": "numeric_value",
        "assertion": "bool_value",
        "category": "text_value",
        "text": "text_value",
    }
    for one in asked["results"]:
        item = shaped("item", one)
        if item[fields[item["result_kind"]]] is None:
            raise Refusal("invalid_request", f"no value of {item['result_key']}")

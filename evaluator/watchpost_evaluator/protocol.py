"""The routes of a pool's workers: protocol "2" of failproofai-sdk, below `/v1/evaluator`."""

from __future__ import annotations

import hashlib
import json
import random
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple
from urllib.parse import quote

from watchpost_evaluator.connection import Answer, Target, exchange
from watchpost_evaluator.definition import Evaluator
from watchpost_evaluator.errors import KitError, Unreachable
from watchpost_evaluator.outcome import Outcome
from watchpost_evaluator.values import Value, cut

VERSION = "2"
MOST_DEFINITIONS, MOST_CONCURRENCY = 100, 32
_ROOT = "/v1/evaluator"
_TRIES = 4
_FIRST_WAIT_SECS, _LONGEST_WAIT_SECS = 0.25, 2.0
_RETRYABLE = (429, 500, 502, 503, 504)
_SUMMARY_BYTES, _ERROR_BYTES = 4 * 1024, 4 * 1024
_WIRE_KINDS = {"number": "metric"}


class ProtocolError(KitError):
    """Watchpost refused a request. `code`: see the protocol; `http_error` without one."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.problem)
        error = answer.document.get("error")
        named = error if isinstance(error, dict) else {}
        self.code = str(named.get("code", "http_error"))
        self.http_status = answer.status
        self.retryable = bool(named.get("retryable", answer.status in _RETRYABLE))


class NotTheProtocol(KitError):
    """An answer has no shape of the protocol."""


class Timings(NamedTuple):
    """The pool's times for its workers, in seconds, and the most assignments of a claim."""

    heartbeat_secs: float
    lease_secs: float
    poll_secs: float
    claim_limit: int
    disabled: frozenset[str]


class Assignment(NamedTuple):
    """Due runs of a session, under a lease that began at `claimed_at` (monotonic)."""

    id: str
    generation: int
    session_id: str
    revision: str
    transcript_url: str
    definitions_url: str
    claimed_at: float


class PlannedRun(NamedTuple):
    """A run that Watchpost waits for."""

    id: str
    key: str
    version: str


def catalogue(evaluators: Iterable[Evaluator]) -> list[dict[str, Any]]:
    """Returns the definitions as workers register them."""
    return [
        {
            "eval_key": one.key,
            "display_name": one.title,
            "eval_version": one.version,
            "result_kind": _WIRE_KINDS.get(one.result, one.result),
            "labels": list(one.labels),
        }
        for one in sorted(evaluators, key=lambda one: one.key)
    ]


def revision_of(definitions: Sequence[Mapping[str, Any]]) -> str:
    """Returns an id of a catalogue's content."""
    canonical = json.dumps(definitions, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


class WorkerClient:
    """A worker's requests. Each raises `ProtocolError`, `NotTheProtocol` or `Unreachable`."""

    def __init__(
        self, target: Target, worker_id: str, sdk: str, evaluators: Sequence[Evaluator]
    ) -> None:
        self._target = target
        self._worker = {"worker_id": worker_id}
        self._sdk = sdk
        self._catalogue = catalogue(evaluators)
        self._revision = revision_of(self._catalogue)

    def register(self, concurrency: int) -> Timings:
        """Tells the pool what this worker can run."""
        document = self._post(
            "/workers/register",
            {
                **self._worker,
                "sdk_version": self._sdk,
                "catalog_revision": self._revision,
                "max_concurrency": concurrency,
                "definitions": self._catalogue,
            },
        )
        with _reading("register"):
            return Timings(
                float(document["heartbeat_interval_seconds"]),
                float(document["lease_duration_seconds"]),
                float(document["poll_interval_seconds"]),
                int(document["claim_limit"]),
                frozenset(map(str, document.get("disabled_definitions", ()))),
            )

    def claim(self, capacity: int) -> list[Assignment]:
        """Takes due work. Is sent once: an answer that was lost may have leased work already."""
        asked = {**self._worker, "catalog_revision": self._revision, "capacity": capacity}
        document = self._post("/assignments/claim", asked, tries=1)
        now = time.monotonic()
        with _reading("claim"):
            return [
                Assignment(
                    str(one["assignment_id"]),
                    int(one["lease_generation"]),
                    str(one["session_id"]),
                    str(one["session_revision_id"]),
                    str(one["transcript_url"]),
                    str(one.get("definitions_url") or ""),
                    now,
                )
                for one in document["assignments"]
            ]

    def transcript(self, assignment: Assignment) -> dict[str, Any]:
        """Returns the session at the assignment's revision."""
        document = self._get(assignment.transcript_url, assignment)
        if document.get("session_revision_id") != assignment.revision:
            raise NotTheProtocol("the transcript has another revision than its assignment")
        if document.get("event_count") != len(document.get("events", ())):
            raise NotTheProtocol("the transcript has not as many events as it says")
        return document

    def definitions(self, assignment: Assignment) -> list[tuple[str, str]]:
        """Returns the keys and versions that the session is due for."""
        own = f"{_ROOT}/assignments/{quote(assignment.id, safe='')}/definitions"
        document = self._get(assignment.definitions_url or own, assignment)
        with _reading("definitions"):
            return [(one["eval_key"], one["eval_version"]) for one in document["definitions"]]

    def plan(
        self,
        assignment: Assignment,
        selected: Iterable[Evaluator],
        skipped: Iterable[tuple[str, str, str]],
    ) -> list[PlannedRun]:
        """Says what will run, and the reasons of what will not; returns the runs."""
        document = self._post(
            f"/assignments/{quote(assignment.id, safe='')}/plan",
            {
                **self._lease(assignment),
                "selected": [{"eval_key": o.key, "eval_version": o.version} for o in selected],
                "skipped": [
                    {"eval_key": key, "eval_version": version, "reason_code": reason}
                    for key, version, reason in skipped
                ],
            },
        )
        with _reading("plan"):
            return [
                PlannedRun(one["evaluation_run_id"], one["eval_key"], one["eval_version"])
                for one in document["runs"]
            ]

    def heartbeat(self, assignment: Assignment, run_ids: Iterable[str]) -> set[str]:
        """Renews the lease, and returns the runs that are still this worker's."""
        runs = [{"evaluation_run_id": one, "state": "running", "progress": None} for one in run_ids]
        document = self._post("/runs/heartbeat", {**self._lease(assignment), "runs": runs})
        with _reading("heartbeat"):
            return set(document["accepted_run_ids"])

    def submit(self, assignment: Assignment, run_id: str, outcome: Outcome) -> None:
        """Sends what became of a run; Watchpost takes the same submission once."""
        path = f"/runs/{quote(run_id, safe='')}/result"
        self._post(path, {**self._lease(assignment), **_result(outcome)})

    def _lease(self, assignment: Assignment) -> dict[str, Any]:
        return {**self._worker, "lease_generation": assignment.generation}

    def _get(self, path: str, assignment: Assignment) -> dict[str, Any]:
        if not path.startswith("/v1/") or "//" in path:
            raise NotTheProtocol(f"{path!r} is no path of Watchpost's")
        headers = {
            "X-FailproofAI-Worker-Id": self._worker["worker_id"],
            "X-FailproofAI-Lease-Generation": str(assignment.generation),
        }
        return self._call("GET", path, None, headers, _TRIES)

    def _post(self, path: str, body: dict[str, Any], tries: int = _TRIES) -> dict[str, Any]:
        document = self._call(
            "POST", _ROOT + path, {"protocol_version": VERSION, **body}, {}, tries
        )
        if document.get("protocol_version") != VERSION:
            raise NotTheProtocol(
                f"Watchpost speaks no version {VERSION} of the protocol of workers"
            )
        return document

    def _call(
        self, method: str, path: str, body: object, headers: Mapping[str, str], tries: int
    ) -> dict[str, Any]:
        headers = {**headers, "X-Request-Id": uuid.uuid4().hex}
        for attempt in range(tries):
            is_last = attempt + 1 == tries
            try:
                answer = exchange(self._target, method, path, body, headers, timeout_secs=30)
            except Unreachable:
                if is_last:
                    raise
            else:
                if 200 <= answer.status < 300:
                    return answer.document
                error = ProtocolError(answer)
                if is_last or not error.retryable:
                    raise error
            longest = min(_LONGEST_WAIT_SECS, _FIRST_WAIT_SECS * 2.0**attempt)
            time.sleep(random.uniform(longest / 2, longest))  # noqa: S311 spreads many workers
        raise AssertionError  # the last try returns or raises


class _reading:  # noqa: N801 a context manager
    """Turns what a wrong shape raises into `NotTheProtocol`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (KeyError, TypeError, ValueError)):
            raise NotTheProtocol(f"the answer to {self._name} has another shape: {error!r}")


def _result(outcome: Outcome) -> dict[str, Any]:
    """Returns the fields of a submission."""
    status, code = {
        "done": ("succeeded", None),
        "skipped": ("succeeded", None),
        "error": ("failed", "eval_error"),
        "timeout": ("timed_out", "eval_timeout"),
    }[outcome.status]
    summary = outcome.summary if outcome.reason is None else f"skipped: {outcome.reason}"
    ended_at = outcome.started_at + timedelta(milliseconds=outcome.duration_ms)
    return {
        "submission_id": str(uuid.uuid4()),
        "result_schema_version": VERSION,
        "status": status,
        "started_at": _moment(outcome.started_at),
        "finished_at": _moment(ended_at),
        "duration_ms": outcome.duration_ms,
        "summary": None if summary is None else cut(summary, _SUMMARY_BYTES),
        "results": [_item(key, value) for key, value in outcome.results.items()],
        "error_code": code,
        "error_message": None if code is None else cut(outcome.error or code, _ERROR_BYTES),
    }


def _item(key: str, value: Value) -> dict[str, Any]:
    is_number = value.kind in ("score", "number")
    item = {
        "result_key": key,
        "result_kind": _WIRE_KINDS.get(value.kind, value.kind),
        "numeric_value": value.value if is_number else None,
        "bool_value": value.passed,
        "text_value": value.value if value.kind in ("category", "text") else None,
        "unit": getattr(value, "unit", ""),
        "display_value": None,
        "description": None,
        "reasoning": value.reasoning,
        "labels": list(value.labels),
    }
    return {**item, "evidence": list(value.evidence)} if value.evidence else item


def _moment(at: datetime) -> str:
    return at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

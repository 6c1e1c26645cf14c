"""The answers of `serve`: the push contract, for all evaluators of a module."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from watchpost_evaluator.definition import Evaluator
from watchpost_evaluator.errors import BadSession
from watchpost_evaluator.outcome import Outcome, late_runs, run, wire
from watchpost_evaluator.session import Session

HEADER = "X-Watchpost-Evaluator"
# A request waits for its answer this long. Then it gets a job to poll, because Watchpost ends a
# call after `timeout_ms`, which may be shorter than the evaluator needs.
WAIT_SECS = 5.0
_POLL_SECS = 2
_MOST_JOBS, _LONGEST_KEPT_SECS = 1000, 3600.0
_MOST_LATE = 32


class Headers(Protocol):
    """The headers of a request; names have no case."""

    def get(self, name: str, /) -> str | None:
        """Returns a value, None without one."""


class Reply(NamedTuple):
    """An answer: its status and JSON body. `retry_after`: seconds."""

    status: int
    document: dict[str, Any]
    retry_after: int | None = None


@dataclass
class Job:
    """A run, and its outcome once it is there."""

    evaluator: Evaluator
    session: Session
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    done: threading.Event = field(default_factory=threading.Event)
    outcome: Outcome | None = None
    ended_at: float = 0.0

    def work(self) -> None:
        """Runs the evaluator."""
        self.outcome = run(self.evaluator, self.session)
        self.ended_at = time.monotonic()
        self.done.set()
        took = f"{self.outcome.status}, {self.outcome.duration_ms} ms"
        sys.stderr.write(f"{self.evaluator.name} on {self.session.id}: {took}\n")

    def reply(self) -> Reply:
        """Returns the answer, or that the job is to be polled."""
        if self.outcome is None:
            return Reply(202, {"job_id": self.id, "next_poll_secs": _POLL_SECS})
        return Reply(200, answer_of(self.outcome))


class Service:
    """The evaluators and their jobs. `wait_secs`: see `WAIT_SECS`."""

    def __init__(self, evaluators: Sequence[Evaluator], wait_secs: float = WAIT_SECS) -> None:
        self._evaluators = list(evaluators)
        self._wait_secs = wait_secs
        self._jobs: OrderedDict[str, Job] = OrderedDict()  # by what makes a request the same
        self._lock = threading.Lock()

    def evaluate(self, headers: Headers, body: bytes) -> Reply:
        """Answers `POST /evaluate`. The same request again gets the job that it began."""
        if late_runs() >= _MOST_LATE:
            error = (
                f"{_MOST_LATE} functions run on after their time; restart this, or make them end"
            )
            return Reply(503, {"error": error}, retry_after=60)
        try:
            document = json.loads(body)
            session = _session(document)
        except BadSession as error:
            return Reply(422, {"error": f"the body is no session: {error}"})
        except ValueError:
            return Reply(400, {"error": "the body is not JSON"})
        wanted = _wanted(headers, document)
        found = [one for one in self._evaluators if wanted in (None, one.key, one.name)]
        if len(found) != 1:
            return Reply(200, {"status": "error", "error": self._misses(wanted)})
        job = self._job(found[0], session, headers.get("Idempotency-Key"), body)
        job.done.wait(self._wait_secs)
        return job.reply()

    def poll(self, job_id: str) -> Reply:
        """Answers `GET /evaluate/{job_id}`."""
        with self._lock:
            job = next((one for one in self._jobs.values() if one.id == job_id), None)
        return Reply(404, {"error": "there is no such job"}) if job is None else job.reply()

    def _job(self, evaluator: Evaluator, session: Session, key: str | None, body: bytes) -> Job:
        digest = hashlib.sha256(body).hexdigest()
        same = f"{key or uuid.uuid4()} {evaluator.name} {digest}"
        with self._lock:
            job = self._jobs.get(same)
            if job is not None:
                return job
            job = self._jobs[same] = Job(evaluator, session)
            self._forget()
        threading.Thread(target=job.work, daemon=True).start()
        return job

    def _forget(self) -> None:
        """Drops the oldest jobs that ended."""
        now = time.monotonic()
        ended = [(same, job) for same, job in self._jobs.items() if job.done.is_set()]
        for place, (same, job) in enumerate(reversed(ended)):
            if place >= _MOST_JOBS or now - job.ended_at > _LONGEST_KEPT_SECS:
                del self._jobs[same]

    def _misses(self, wanted: str | None) -> str:
        there = ", ".join(sorted(one.name for one in self._evaluators))
        if wanted is None:
            return f"the header {HEADER} does not say which of {there} is wanted"
        return f"there is no evaluator {wanted} here, but {there}: run the module that has it"


def answer_of(outcome: Outcome) -> dict[str, Any]:
    """Returns the body of the answer.

    Scores, numbers and assertions are in `scores` too, which is all that a deployment reads of its
    built-in evaluator. A session that was skipped has no values.
    """
    if outcome.status in ("error", "timeout"):
        return {"status": "error", "error": f"{outcome.evaluator.key}: {outcome.error}"}
    results = outcome.results.items()
    answer: dict[str, Any] = {
        "status": "done",
        "scores": {key: float(one.value) for key, one in results if not isinstance(one.value, str)},
        "reasoning": {key: one.reasoning for key, one in results if one.reasoning},
        "results": [wire(key, one) for key, one in results],
    }
    summary = outcome.summary if outcome.reason is None else f"skipped: {outcome.reason}"
    return answer if summary is None else {**answer, "summary": summary}


def _session(document: Any) -> Session:
    if not isinstance(document, dict):
        raise BadSession("it is no object")
    if document.get("view") == "turns" or "next" in document:
        raise BadSession("it is not whole: let the version get large sessions as `cut`")
    return Session(document)


def _wanted(headers: Headers, document: Mapping[str, Any]) -> str | None:
    """Returns `key@version`, or a key, or None."""
    named = headers.get(HEADER)
    if named:
        return named.encode("latin-1", "replace").decode(errors="replace")
    key, version = document.get("evaluator"), document.get("evaluator_version")
    return f"{key}@{version}" if key and version else key or None

"""Evaluators that get a session by POST, as the deployment's evaluator does."""

from datetime import datetime

import msgspec
from aiohttp.abc import AbstractResolver

from shared.evaluation.evaluation_jobs.answers import Answer, NoEvaluatorAnswer, Reading
from shared.evaluation.runs import reading
from shared.evaluation.runs.claims import HeldRun
from workers.call_loop import CallLoop
from workers.evaluation_jobs.client import CallTarget, EvaluatorClient
from workers.evaluation_jobs.source import Call
from workers.http import Check


class PushCalls:
    """The calls of these evaluators; `check` and `resolver` guard the addresses."""

    def __init__(
        self, loop: CallLoop, *, resolver: AbstractResolver | None, check: Check | None
    ) -> None:
        self._loop = loop
        self._resolver = resolver
        self._check = check

    def request(self, run: HeldRun, session: bytes) -> bytes:
        """Returns the request: the session, with what a run is of before its other fields."""
        about = msgspec.json.encode(
            {
                "evaluator": run.definition.key,
                "evaluator_version": run.definition.version,
                "trigger": run.row.trigger,
                "revision": run.row.revision,
            }
        )
        return about[:-1] + b"," + session[1:]

    def deliver(self, run: HeldRun, body: bytes) -> Call:
        """Sends a request."""
        return self._client(run).evaluate(
            body, job_id=str(run.row.id), request_id=run.row.request_id
        )

    def poll(self, run: HeldRun, evaluator_job_id: str) -> Call:
        """Asks for the result of a run that was delivered."""
        return self._client(run).poll(
            evaluator_job_id, job_id=str(run.row.id), request_id=run.row.request_id
        )

    def read(self, run: HeldRun, answer: Answer | NoEvaluatorAnswer, now: datetime) -> Reading:
        """Classifies an answer."""
        return reading.read(run.definition, answer, now)

    def _client(self, run: HeldRun) -> EvaluatorClient:
        definition = run.definition
        target = CallTarget(
            definition.spec["url"].rstrip("/"),
            {
                **definition.spec.get("headers", {}),
                "X-Watchpost-Evaluator": f"{definition.key}@{definition.version}",
            },
            definition.limits.timeout_secs,
            check=self._check,
            resolver=self._resolver,
        )
        return EvaluatorClient(target, self._loop)

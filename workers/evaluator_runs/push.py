"""Evaluators that get a session by POST, as the deployment's evaluator does."""

from dataclasses import replace
from datetime import datetime
from urllib.parse import urlsplit

import aiohttp
import msgspec

from shared.evaluation.evaluation_jobs.answers import Answer, NoEvaluatorAnswer, Reading
from shared.evaluation.evaluators.addresses import EvaluatorAddresses
from shared.evaluation.evaluators.secrets import SecretValues
from shared.evaluation.runs import reading
from shared.evaluation.runs.claims import HeldRun
from workers.call_loop import CallLoop
from workers.deliveries.addresses import NotPublic
from workers.evaluation_jobs.client import CallTarget, EvaluatorClient
from workers.evaluation_jobs.source import Call
from workers.http import Check, bearer

# Stands for a secret in an answer that repeats it.
HIDDEN = b"[secret]"


class PushCalls:
    """The calls of these evaluators, to `allowed` addresses alone."""

    def __init__(self, loop: CallLoop, allowed: EvaluatorAddresses) -> None:
        self._loop = loop
        self._allowed = allowed

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
        """Classifies an answer; a secret that it repeats is hidden."""
        if isinstance(answer, Answer) and answer.body is not None:
            answer = replace(answer, body=_hidden(run.definition.secrets, answer.body))
        return reading.read(run.definition, answer, now)

    def _client(self, run: HeldRun) -> EvaluatorClient:
        definition = run.definition
        url = definition.spec["url"]
        target = CallTarget(
            url.rstrip("/"),
            {
                **definition.spec.get("headers", {}),
                **definition.secrets.headers,
                **bearer(definition.secrets.token),
                "X-Watchpost-Evaluator": f"{definition.key}@{definition.version}",
            },
            definition.limits.timeout_secs,
            check=guard(self._allowed, urlsplit(url).hostname or ""),
        )
        return EvaluatorClient(target, self._loop)


def guard(allowed: EvaluatorAddresses, host: str) -> Check:
    """Returns the check of each address that a connection to this host would use."""

    def check(address: aiohttp.AddrInfoType) -> None:
        if not allowed.admits(str(address[4][0]), host):
            raise NotPublic

    return check


def _hidden(secrets: SecretValues, body: bytes) -> bytes:
    """Hides secrets as they are, and as JSON writes them."""
    for secret in (secrets.token, *secrets.headers.values()):
        if secret:
            for written in (secret.encode(), msgspec.json.encode(secret)[1:-1]):
                body = body.replace(written, HIDDEN)
    return body

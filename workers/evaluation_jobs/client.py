"""A client of an evaluator, which may hang, drip, redirect or flood; nothing outlasts a call."""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from urllib.parse import quote

import aiohttp

from shared.evaluation.evaluation_jobs.answers import (
    MAX_ANSWER_BYTES,
    NOT_ADMITTED,
    Answer,
    NoEvaluatorAnswer,
)
from shared.foundation.core.config import Settings
from workers.call_loop import CallLoop
from workers.deliveries.addresses import NotPublic
from workers.http import Check, Request, answer_to, bearer, read_bounded


@dataclass(frozen=True)
class CallTarget:
    """Where an evaluator is called: below `base`, for at most `timeout_secs` a call.

    No error shows one of `secrets`. `has_config`: it may serve /config. `check` sees each address
    before the connection.
    """

    base: str
    headers: Mapping[str, str]
    timeout_secs: float
    secrets: Sequence[str] = ()
    has_config: bool = False
    check: Check | None = None


def default_client(settings: Settings) -> "EvaluatorClient":
    """Returns a client of the evaluator that the variables EVALUATOR_* describe."""
    if settings.evaluator_endpoint is None:
        raise ValueError("EVALUATOR_ENDPOINT is not set")
    token = settings.evaluator_token
    target = CallTarget(
        settings.evaluator_endpoint.rstrip("/"),
        bearer(token),
        settings.evaluator_request_timeout_ms / 1000,
        [token] if token else [],
        has_config=True,
    )
    return EvaluatorClient(target, CallLoop("evaluator-client"))


class EvaluatorClient:
    """A client of one evaluator that makes many calls at once, on a loop; thread-safe.

    No call raises: one that failed is a `NoEvaluatorAnswer`.
    """

    def __init__(self, target: CallTarget, loop: CallLoop) -> None:
        self._target = target
        self._loop = loop

    def evaluate(
        self, body: bytes, *, job_id: str, request_id: str
    ) -> Future[Answer | NoEvaluatorAnswer]:
        """Sends POST /evaluate with an EvalRequest; its Idempotency-Key makes repeating safe."""
        headers = {"Content-Type": "application/json", **_job_headers(job_id, request_id)}
        return self._start("POST", "/evaluate", "/evaluate", headers, body)

    def poll(
        self, evaluator_job_id: str, *, job_id: str, request_id: str
    ) -> Future[Answer | NoEvaluatorAnswer]:
        """Sends GET /evaluate/{job_id} with the id from the answer to an earlier delivery."""
        path = f"/evaluate/{quote(evaluator_job_id, safe='')}"
        template = "/evaluate/{job_id}"
        return self._start("GET", path, template, _job_headers(job_id, request_id))

    def config(self, *, request_id: str) -> Answer | NoEvaluatorAnswer:
        """Sends GET /config and waits for the answer."""
        return self._loop.start(self._call(self._for_config(request_id))).result()

    def close(self) -> None:
        """Stops the event loop."""
        self._loop.close()

    def _start(
        self,
        method: str,
        path: str,
        template: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
    ) -> Future[Answer | NoEvaluatorAnswer]:
        request = self._request(method, path, template, headers, body)
        return self._loop.start(self._call_for_session(request))

    def _for_config(self, request_id: str) -> Request:
        return self._request("GET", "/config", "/config", {"X-Request-Id": request_id})

    def _request(
        self,
        method: str,
        path: str,
        template: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
    ) -> Request:
        headers = {"Accept": "application/json", **self._target.headers, **headers}
        return Request(method, self._target.base + path, headers, body, template)

    async def _call_for_session(self, request: Request) -> Answer | NoEvaluatorAnswer:
        """Calls; if the call is not admitted, asks in its remaining time whether any is."""
        ends = asyncio.get_running_loop().time() + self._target.timeout_secs
        answer = await self._call(request)
        if not isinstance(answer, Answer) or answer.status not in NOT_ADMITTED:
            return answer
        if not self._target.has_config:
            return answer
        try:
            async with asyncio.timeout_at(ends):
                config = await self._call(self._for_config(request.headers["X-Request-Id"]))
        except TimeoutError:
            return answer
        return replace(answer, is_outage=getattr(config, "status", None) in NOT_ADMITTED)

    async def _call(self, request: Request) -> Answer | NoEvaluatorAnswer:
        try:
            async with asyncio.timeout(self._target.timeout_secs):
                return await self._exchange(request)
        except TimeoutError:
            reason = f"no complete answer within {self._target.timeout_secs:g} s"
            return NoEvaluatorAnswer(reason, timed_out=True)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return NoEvaluatorAnswer(_connection_error(error), timed_out=False)

    async def _exchange(self, request: Request) -> Answer:
        async with answer_to(request, check=self._target.check) as response:
            content = await read_bounded(response, MAX_ANSWER_BYTES)
            if response.status >= 300:
                content = self._without_secrets(content)
            return Answer(response.status, content, response.headers.get("Retry-After"))

    def _without_secrets(self, content: bytes | None) -> bytes | None:
        """Removes secrets: people see errors, and some servers quote the request in theirs."""
        if content is not None:
            for secret in self._target.secrets:
                content = content.replace(secret.encode(), b"[hidden]")
        return content


def _job_headers(job_id: str, request_id: str) -> dict[str, str]:
    return {"Idempotency-Key": job_id, "X-Request-Id": request_id}


def _connection_error(error: Exception) -> str:
    """Returns a sentence for people, without addresses, which must not become visible."""
    if isinstance(getattr(error, "os_error", error), NotPublic):
        return (
            "the evaluator's address is not public: the operator of this deployment can allow it"
            " with EVALUATOR_ALLOW_PRIVATE"
        )
    if isinstance(error, aiohttp.ClientConnectorError):
        return "the evaluator could not be reached"
    if isinstance(error, aiohttp.ClientResponseError):
        return "the evaluator's answer is not HTTP"
    return f"the connection to the evaluator broke ({type(error).__name__})"

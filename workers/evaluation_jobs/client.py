"""A client of the evaluator, which may hang, drip, redirect or flood; nothing outlasts a call."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from urllib.parse import quote

import aiohttp

from shared.core.config import Settings
from shared.evaluation_jobs.answers import MAX_ANSWER_BYTES, Answer, NoAnswer
from workers.call_loop import CallLoop
from workers.http import Request, answer_to, bearer, read_bounded


class EvaluatorClient:
    """A client of one evaluator that makes many calls at once; thread-safe.

    No call raises: one that failed is a `NoAnswer`.
    """

    def __init__(self, settings: Settings) -> None:
        if settings.evaluator_endpoint is None:
            raise ValueError("EVALUATOR_ENDPOINT is not set")
        self._base = settings.evaluator_endpoint.rstrip("/")
        self._token = settings.evaluator_token
        self._timeout = settings.evaluator_request_timeout_ms / 1000
        self._loop = CallLoop("evaluator-client")

    def evaluate(self, body: bytes, *, job_id: str, request_id: str) -> Future[Answer | NoAnswer]:
        """Sends POST /evaluate with an EvalRequest; its Idempotency-Key makes repeating safe."""
        headers = {"Content-Type": "application/json", **_job_headers(job_id, request_id)}
        return self._start("POST", "/evaluate", "/evaluate", headers, body)

    def poll(
        self, evaluator_job_id: str, *, job_id: str, request_id: str
    ) -> Future[Answer | NoAnswer]:
        """Sends GET /evaluate/{job_id} with the id from the answer to an earlier delivery."""
        path = f"/evaluate/{quote(evaluator_job_id, safe='')}"
        template = "/evaluate/{job_id}"
        return self._start("GET", path, template, _job_headers(job_id, request_id))

    def config(self, *, request_id: str) -> Answer | NoAnswer:
        """Sends GET /config and waits for the answer."""
        headers = {"X-Request-Id": request_id}
        return self._start("GET", "/config", "/config", headers).result()

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
    ) -> Future[Answer | NoAnswer]:
        headers = {"Accept": "application/json", **bearer(self._token), **headers}
        request = Request(method, self._base + path, headers, body, template)
        return self._loop.start(self._call(request))

    async def _call(self, request: Request) -> Answer | NoAnswer:
        try:
            async with asyncio.timeout(self._timeout):
                return await self._exchange(request)
        except TimeoutError:
            reason = f"no complete answer within {self._timeout:g} s"
            return NoAnswer(reason, timed_out=True)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return NoAnswer(_connection_error(error), timed_out=False)

    async def _exchange(self, request: Request) -> Answer:
        async with answer_to(request) as response:
            content = await read_bounded(response, MAX_ANSWER_BYTES)
            if response.status >= 300:
                content = self._without_token(content)
            return Answer(response.status, content, response.headers.get("Retry-After"))

    def _without_token(self, content: bytes | None) -> bytes | None:
        """Removes the token: people see errors, and some servers quote the request in theirs."""
        if content is None or not self._token:
            return content
        return content.replace(self._token.encode(), b"[hidden]")


def _job_headers(job_id: str, request_id: str) -> dict[str, str]:
    return {"Idempotency-Key": job_id, "X-Request-Id": request_id}


def _connection_error(error: Exception) -> str:
    """Returns a sentence for people, without addresses, which must not become visible."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return "the evaluator could not be reached"
    if isinstance(error, aiohttp.ClientResponseError):
        return "the evaluator's answer is not HTTP"
    return f"the connection to the evaluator broke ({type(error).__name__})"

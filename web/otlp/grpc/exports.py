"""The `Export` calls of OTLP over gRPC.

Each is declared as a stream of one message, which looks the same to a client. So credentials are
checked and a place is awaited before the message is read. Messages are worked on in threads, few at
a time, since each may unpack into many times its size.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeAlias

import grpc

from shared.access.identity import Authenticator, Credential, Identity
from shared.access.identity.exporter import secret_of
from shared.access.limits.service import Limits
from shared.foundation.core.errors import BadRequest, Unavailable, WatchpostError
from shared.foundation.core.ids import new_request_id
from shared.foundation.core.logs import get_logger, request_context
from shared.foundation.core.tracing import spans
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.accept import Ingest
from shared.intake.ingest.sender import Sender
from shared.intake.otlp.accept import ExportOutcome, OtlpIngest
from shared.intake.otlp.wire.answers import (
    code_of,
    export_answer,
    retry_secs,
    status_of,
    status_with_retry,
)
from shared.intake.otlp.wire.reading import PROTOBUF
from shared.intake.otlp.wire.signals import LOGS, METRICS, TRACES, Signal
from shared.intake.receipts.origin import Origin

log = get_logger(__name__)

Call: TypeAlias = grpc.aio.ServicerContext
Handler = Callable[[AsyncIterator[bytes], Call], Awaitable[bytes]]

SERVICES = {
    "opentelemetry.proto.collector.trace.v1.TraceService": TRACES,
    "opentelemetry.proto.collector.logs.v1.LogsService": LOGS,
    "opentelemetry.proto.collector.metrics.v1.MetricsService": METRICS,
}
# Exporters give up after 10 s altogether. A call that gets no place until then may try again.
PLACE_SECS = 2.0
RETRY_SECS = 2
_INTERNAL = grpc.StatusCode.INTERNAL
_UNAVAILABLE = grpc.StatusCode.UNAVAILABLE.value[0]
_CODES = {code.value[0]: code for code in grpc.StatusCode}
# No message of protobuf begins with these bytes: gRPC's own decompression has no bound on memory.
_GZIP = b"\x1f\x8b"
# Access may change while a message arrives, as while a body does over HTTP.
_PROMPT_SECS = 1.0


class NoPlaceForCall(Unavailable):
    """A call that found no place in time. Nothing was read of it, so it is counted here."""


class ExportCalls:
    """The calls of one process: `arriving` messages at a time, and `working` of them in threads."""

    def __init__(self, runtime: Runtime, arriving: int, working: int) -> None:
        self._authenticator = Authenticator(runtime)
        self._ingest = Ingest(runtime)
        self._otlp = OtlpIngest(runtime, self._ingest)
        self._limits = Limits(runtime)
        self._receive_secs = runtime.settings.web_receive_timeout_secs
        self._arriving = asyncio.Semaphore(arriving)
        self._working = asyncio.Semaphore(working)

    def handler(self, signal: Signal) -> Handler:
        """Returns the function for the calls of a signal."""

        async def export(messages: AsyncIterator[bytes], call: Call) -> bytes:
            with request_context(new_request_id()):
                started = time.perf_counter()
                with _span(signal, call) as span:
                    code, answer = await self._answer(signal, messages, call)
                    span.note("rpc.response.status_code", _CODES[code].name)
                milliseconds = round((time.perf_counter() - started) * 1000, 1)
                log.info("request", route=signal.path, code=code, duration_ms=milliseconds)
                return answer

        return export

    async def _answer(
        self, signal: Signal, messages: AsyncIterator[bytes], call: Call
    ) -> tuple[int, bytes]:
        """Returns the code of a call and its answer."""
        try:
            accepted = await self._export(signal, messages, call)
        except WatchpostError as error:
            return _refuse(call, error), b""
        except Exception:
            # The traceback goes to the logs only.
            log.exception("request_crashed")
            call.set_code(_INTERNAL)
            call.set_details("internal error: try again")
            return _INTERNAL.value[0], b""
        return 0, export_answer(signal, PROTOBUF, accepted.rejected, accepted.message)

    async def _export(
        self, signal: Signal, messages: AsyncIterator[bytes], call: Call
    ) -> ExportOutcome:
        credential = _credential_of(call)
        identity = await asyncio.to_thread(self._identify, credential)
        sender = self._sender(call, identity)
        try:
            async with _place(self._arriving):
                started = time.monotonic()
                body = await self._message(messages)
                if time.monotonic() - started > _PROMPT_SECS:
                    identity = await asyncio.to_thread(self._identify, credential)
                    sender = self._sender(call, identity)
                async with _place(self._working):
                    encoding = "gzip" if body.startswith(_GZIP) else ""
                    return await asyncio.to_thread(
                        self._otlp.accept, sender, signal, body, PROTOBUF, encoding
                    )
        except NoPlaceForCall as refusal:
            await asyncio.to_thread(self._ingest.count_refusal, sender, refusal)
            raise

    def _sender(self, call: Call, identity: Identity) -> Sender:
        org_id, key, epoch = identity.org_id, identity.key, identity.epoch
        origin = Origin.of_request("otlp_grpc", None if key is None else key.id, _metadata(call))
        admit = partial(self._limits.admit, org_id, origin.key_id, epoch)
        return Sender(org_id, identity.org_slug, epoch, origin, admit)

    def _identify(self, credential: Credential) -> Identity:
        identity = self._authenticator.authenticate(credential)
        identity.require_any(("events:add",))
        return identity

    async def _message(self, messages: AsyncIterator[bytes]) -> bytes:
        try:
            return await asyncio.wait_for(anext(messages), self._receive_secs)
        except TimeoutError:
            raise BadRequest("the message did not arrive in time") from None
        except StopAsyncIteration:
            raise BadRequest("the call has no message") from None


def _span(signal: Signal, call: Call) -> spans.BlockSpan:
    sent = _metadata(call).get("traceparent")
    [service] = [name for name, one in SERVICES.items() if one is signal]
    method = f"{service}/Export"
    return spans.work(
        method,
        kind="server",
        attributes={"rpc.system.name": "grpc", "rpc.method": method},
        causes=() if sent is None else (sent,),
    )


@asynccontextmanager
async def _place(places: asyncio.Semaphore) -> AsyncIterator[None]:
    """Holds one of the places. Raises `NoPlaceForCall` if none becomes free in time."""
    try:
        await asyncio.wait_for(places.acquire(), PLACE_SECS)
    except TimeoutError:
        raise NoPlaceForCall("too many exports at once", retry_after_secs=RETRY_SECS) from None
    try:
        yield
    finally:
        places.release()


def _metadata(call: Call) -> dict[str, str]:
    return {name: value for name, value in call.invocation_metadata() if isinstance(value, str)}


def _credential_of(call: Call) -> Credential:
    """Returns the credential of a call's metadata."""
    given = _metadata(call)
    secret = secret_of(given.get("authorization", ""), given.get("x-api-key", ""))
    return Credential.of(secret, given.get("x-service-org"), given.get("x-service-actor"))


def _refuse(call: Call, error: WatchpostError) -> int:
    """Ends a call with the code of an error; exporters try again if it has a delay."""
    if error.status >= 500:
        log.warning("request_failed", error_code=error.code, reason=error.message)
    code = code_of(status_of(error))
    call.set_code(_CODES[code])
    call.set_details(error.message)
    if code == _UNAVAILABLE:
        details = status_with_retry(code, error.message, retry_secs(error) or RETRY_SECS)
        call.set_trailing_metadata((("grpc-status-details-bin", details),))
    return code

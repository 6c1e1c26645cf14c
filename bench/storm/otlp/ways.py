"""Exporters of OpenTelemetry, unchanged, and one for JSON, which the SDK of Python lacks."""

import logging
import time
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from devstack.ports import LOOPBACK
from devstack.up.deployment import Deployment
from shared.intake.otlp.wire.reading import JSON
from tests.support.otlp import encoded

WAYS = ("http", "grpc", "json")
# As the exporters of OpenTelemetry do.
_GIVE_UP_SECS = 10.0
_RETRIED = frozenset({429, 502, 503, 504})


def exporter_of(way: str, deployment: Deployment) -> SpanExporter:
    """Returns a new exporter; one thread may use it at a time."""
    # Exporters report every attempt, and here most of them are expected to fail now and then.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    headers = {"authorization": f"Bearer {deployment.admin_key}"}
    if way == "grpc":
        return GrpcExporter(f"http://{deployment.grpc_address}", headers=headers, insecure=True)
    if way == "http":
        return HttpExporter(
            f"{deployment.url}/v1/traces", headers=headers, compression=Compression.Gzip
        )
    return JsonExporter(int(deployment.environ["PORT"]), headers)


class JsonExporter(SpanExporter):
    """Sends JSON, and tries again as the other exporters do."""

    def __init__(self, port: int, headers: dict[str, str]) -> None:
        self._connection = HTTPConnection(LOOPBACK, port, timeout=_GIVE_UP_SECS)
        self._headers = {**headers, "Content-Type": JSON}

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Sends a request; SUCCESS if it was answered with 200 in time."""
        body = encoded(encode_spans(spans), JSON)
        deadline, pause = time.monotonic() + _GIVE_UP_SECS, 1.0
        while True:
            status, retry_after = self._post(body)
            if status == 200:
                return SpanExportResult.SUCCESS
            wait = pause if retry_after is None else retry_after
            if status not in _RETRIED or time.monotonic() + wait > deadline:
                return SpanExportResult.FAILURE
            time.sleep(wait)
            pause *= 2

    def _post(self, body: bytes) -> tuple[int, float | None]:
        """Returns the status and `Retry-After`; 503 if there is no connection."""
        try:
            self._connection.request("POST", "/v1/traces", body, self._headers)
            answer = self._connection.getresponse()
            answer.read()
        except TimeoutError:
            self._connection.close()
            return 0, None
        except (OSError, HTTPException):
            self._connection.close()
            return 503, None
        after = answer.headers.get("Retry-After")
        return answer.status, None if after is None else float(after)

    def shutdown(self) -> None:
        """Closes the connection."""
        self._connection.close()

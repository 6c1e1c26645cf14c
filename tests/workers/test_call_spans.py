"""Spans of the calls of workers: to evaluators, to receivers of webhooks, to the mail server."""

from collections.abc import Iterator
from contextlib import closing, suppress

import pytest

from shared.access.mail.message import compose
from shared.access.mail.rendering import MailContent
from shared.foundation.core.clock import now
from shared.foundation.core.config import Settings
from shared.foundation.core.ids import new_id
from shared.foundation.core.tracing import spans
from tests.support.backend import Arrived, Backend, running_backend, traced
from tests.support.evaluator import Evaluator, hang, reply, running_evaluator
from tests.support.smtp import FROM, running_smtp
from workers.deliveries.client import DeliveryClient
from workers.evaluation_jobs.client import default_client
from workers.mail.smtp import NotSent, Refused, SmtpClient

pytestmark = pytest.mark.flow

NAMES = {"job_id": "geheim", "request_id": "geheim"}
TO = "geheim@example.net"


@pytest.fixture
def backend() -> Iterator[Backend]:
    with running_backend() as running:
        yield running


@pytest.fixture
def server() -> Iterator[Evaluator]:
    with running_evaluator() as running:
        yield running


def settings(backend: Backend, **fields: object) -> Settings:
    return Settings(
        database_url="postgresql://x",
        redis_url="redis://x",
        clickhouse_url="clickhouse://x",
        otel_exporter_otlp_endpoint=backend.url,
        **fields,  # type: ignore[arg-type] # Settings checks the fields
    )


def require_no_text(backend: Backend) -> None:
    sent = b"".join(one.body for one in backend.exports)
    assert sent
    for private in (b"geheim", b"127.0.0.1", b"example.net"):
        assert private not in sent


def only(backend: Backend, name: str) -> Arrived:
    [found] = backend.named(name)
    return found


def test_calls_to_the_evaluator(backend: Backend, server: Evaluator) -> None:
    server.script += [reply(200), reply(500), hang]
    given = {"evaluator_endpoint": server.url, "evaluator_request_timeout_ms": 300}
    config = settings(backend, **given)
    with closing(default_client(config)) as client, traced(config) as tracing:
        with spans.work("turn"):
            call = client.evaluate(b"geheim", **NAMES)
        call.result()
        client.poll("geheim", **NAMES).result()
        client.poll("geheim", **NAMES).result()
        tracing.stop()
    call_span = only(backend, "POST /evaluate")
    assert call_span.is_below(only(backend, "turn"))
    assert call_span.attributes == {
        "http.request.method": "POST",
        "url.template": "/evaluate",
        "http.response.status_code": 200,
    }
    failed, hung = backend.named("GET /evaluate/{job_id}")
    assert failed.attributes["error.type"] == "500"
    assert hung.attributes["error.type"] == "timeout"
    assert failed.span.parent_span_id == hung.span.parent_span_id == b""
    require_no_text(backend)


def test_deliveries_of_webhooks(backend: Backend, server: Evaluator) -> None:
    server.script += [reply(204)]
    config = settings(backend)
    with closing(DeliveryClient(allow_private=True)) as client, traced(config) as tracing:
        for url in (f"{server.url}/geheim?token=geheim", "http://127.0.0.1:1/geheim"):
            with spans.work("turn"):
                call = client.start(url, {"X-Geheim": "geheim"}, b"geheim")
            call.result()
        tracing.stop()
    sent, lost = backend.named("POST")
    assert sent.attributes == {"http.request.method": "POST", "http.response.status_code": 204}
    assert lost.attributes["error.type"] == "ClientConnectorError"
    assert all(any(one.is_below(turn) for turn in backend.named("turn")) for one in (sent, lost))
    require_no_text(backend)


@pytest.mark.parametrize(("answer", "failure"), [("", None), ("550 geheim", "Refused")])
def test_mails(backend: Backend, answer: str, failure: str | None) -> None:
    message = compose(
        new_id(), MailContent("geheim", "geheim", "geheim"), sender=FROM, recipient=TO, at=now()
    )
    with running_smtp() as smtp:
        if answer:
            smtp.default = {"RCPT": answer}
        config = settings(backend, **smtp.settings())
        with closing(SmtpClient(config)) as client, traced(config) as tracing:
            with spans.work("send_mail"), suppress(NotSent, Refused):
                client.send(message, TO)
            tracing.stop()
    call = only(backend, "SMTP")
    assert call.is_below(only(backend, "send_mail"))
    assert call.attributes.get("error.type") == failure
    require_no_text(backend)

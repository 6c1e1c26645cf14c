"""Spans of one process: their parents, what they may contain, and a collector that fails."""

import logging
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from shared.foundation.core.config import Settings
from shared.foundation.core.metrics.catalogue import SPANS_DROPPED
from shared.foundation.core.tracing import sending, spans
from shared.foundation.core.tracing.exporter import Tracing
from tests.support.backend import Backend
from tests.support.evaluator import hang, reply
from tests.support.processes import wait_until

pytestmark = pytest.mark.flow

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def header(trace: str = TRACE, span: str = PARENT, *, sampled: bool = True) -> str:
    return f"00-{trace}-{span}-{int(sampled):02x}"


def test_while_traces_are_off_a_span_is_always_the_same_object() -> None:
    assert spans.work("a", causes=[header()]) is spans.part("b", {}) is spans.NOTHING
    assert spans.redis("XADD") is spans.silence() is spans.NOTHING
    assert spans.traceparent() is None
    with spans.work("a") as span:
        span.note("x", 1)
        span.fail("y")


def test_parts_are_children_and_only_exist_inside(tracing: Tracing, backend: Backend) -> None:
    with spans.redis("XADD"):
        pass
    with spans.work("outer") as outer:
        outer.note("n", 1)
        with spans.redis("XADD"):
            pass
        with spans.work("inner"), spans.part("deep", {}):
            pass
    tracing.stop()
    found = {one.name: one for one in backend.spans}
    assert sorted(found) == ["XADD", "deep", "inner", "outer"]
    assert found["XADD"].is_below(found["outer"])
    assert found["inner"].is_below(found["outer"])
    assert found["deep"].is_below(found["inner"])
    assert found["outer"].attributes == {"n": 1}
    assert found["outer"].span.parent_span_id == b""


def test_one_cause_is_the_parent_and_several_are_linked(tracing: Tracing, backend: Backend) -> None:
    with spans.work("one", causes=[header(), header()]):
        pass
    with spans.work("two", causes=[header(), header("f" * 32), header("e" * 32, sampled=False)]):
        pass
    tracing.stop()
    one, two = backend.spans
    assert (one.trace, one.span.parent_span_id.hex()) == (TRACE, PARENT)
    assert not one.span.links
    assert two.span.parent_span_id == b""
    assert [link.trace_id.hex() for link in two.span.links] == [TRACE, "f" * 32]


@pytest.mark.parametrize("bad", ["", "x", "00-0-0-01", header("0" * 32), "00-\u00e9", "9" * 10_000])
def test_a_header_that_is_none_begins_a_trace(tracing: Tracing, backend: Backend, bad: str) -> None:
    with spans.work("request", kind="server", causes=[bad]):
        pass
    tracing.stop()
    [found] = backend.spans
    assert found.span.parent_span_id == b""
    assert found.trace != TRACE


def test_a_request_is_never_below_what_an_earlier_one_left(
    tracing: Tracing, backend: Backend
) -> None:
    with spans.work("left"), spans.work("request", kind="server"):
        pass
    tracing.stop()
    request, left = backend.spans
    assert request.trace != left.trace


def test_nothing_follows_from_silence(tracing: Tracing, backend: Backend) -> None:
    with spans.silence():
        assert spans.traceparent() is not None
        cause = str(spans.traceparent())
        with spans.redis("XADD"):
            pass
    with spans.work("turn", causes=[cause]), spans.redis("XDEL"):
        pass
    tracing.stop()
    assert backend.spans == []


def test_the_sampler_of_the_standard_variable_counts(
    settings: Settings, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0")
    made = Tracing(settings)
    made.start("test")
    with spans.work("dropped"), spans.redis("XADD"):
        pass
    with spans.work("kept", causes=[header()]):
        pass
    made.stop()
    assert [one.name for one in backend.spans] == ["kept"]


def test_the_standard_variables_describe_the_process(
    settings: Settings, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def described(**variables: str) -> Mapping[str, Any]:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        made = Tracing(settings)
        made.start("ingest")
        with spans.work("one"):
            pass
        made.stop()
        return backend.spans[-1].resource

    plain = described()
    assert (plain["service.name"], plain["watchpost.process"]) == ("watchpost", "ingest")
    named = described(
        OTEL_SERVICE_NAME="wp-test",
        OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=test",
        OTEL_EXPORTER_OTLP_HEADERS="x-api-key=abc",
    )
    assert (named["service.name"], named["deployment.environment.name"]) == ("wp-test", "test")
    headers = backend.exports[-1].headers
    assert headers["x-api-key"] == "abc"
    assert headers["user-agent"] == spans.USER_AGENT


def test_an_error_shows_its_kind_and_never_its_text(tracing: Tracing, backend: Backend) -> None:
    with pytest.raises(ValueError, match="geheim"), spans.work("outer"), spans.part("inner", {}):
        raise ValueError("geheim")
    tracing.stop()
    for one in backend.spans:
        assert one.has_failed
        assert one.attributes == {"error.type": "ValueError"}
        assert not one.span.events
    assert b"geheim" not in b"".join(one.body for one in backend.exports)


@pytest.mark.parametrize("broken", [hang, reply(500), reply(503), None])
def test_a_collector_that_fails_delays_nothing(
    settings: Settings, backend: Backend, monkeypatch: pytest.MonkeyPatch, broken: Any
) -> None:
    lost: list[tuple[float, str]] = []
    monkeypatch.setattr(SPANS_DROPPED, "add", lambda n, reason: lost.append((n, reason)))
    said: list[str] = []
    monkeypatch.setattr(sending.log, "warning", lambda event, **_fields: said.append(event))
    if broken is None:
        nowhere = {"otel_exporter_otlp_endpoint": "http://127.0.0.1:1"}
        settings = msgspec.structs.replace(settings, **nowhere)
    else:
        backend.answer = broken
    made = Tracing(settings)
    made.start("test")
    began = time.monotonic()
    for _ in range(5000):
        with spans.work("one"):
            pass
    assert time.monotonic() - began < 30
    if broken is hang:
        assert sum(n for n, reason in lost if reason == "queue_full") >= 5000 - sending.MAX_WAITING
    began = time.monotonic()
    made.stop()
    assert time.monotonic() - began < 3
    assert len(said) <= 1


def test_a_collector_that_comes_back_gets_spans_again(
    tracing: Tracing, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[tuple[float, str]] = []
    monkeypatch.setattr(SPANS_DROPPED, "add", lambda n, reason: lost.append((n, reason)))
    backend.answer = reply(400)
    with spans.work("lost"):
        pass
    # Threads of earlier tests may still give up what they had.
    wait_until(lambda: (1, "not_sent") in lost)
    backend.answer = reply(200)
    with spans.work("sent"):
        pass
    backend.wait_for("sent")
    # No place is lost with a span.
    for number in range(2 * sending.MAX_WAITING):
        with spans.work(f"number {number}"):
            pass
        if number % 500 == 0:
            backend.wait_for(f"number {number}")
    backend.wait_for(f"number {2 * sending.MAX_WAITING - 1}")
    assert lost.count((1, "not_sent")) == 1
    assert "queue_full" not in {reason for _, reason in lost}


def test_a_line_in_the_log_hides_the_query_of_the_url(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(sending.log, "warning", lambda _event, reason: said.append(reason))
    logger = logging.getLogger("opentelemetry")
    before = logger.handlers[:], logger.propagate
    try:
        sending.say_rarely("https://otel.example/v1/traces?token=geheim")
        for _ in range(3):
            logging.getLogger("opentelemetry.exporter").error("no /v1/traces?token=geheim")
    finally:
        logger.handlers[:], logger.propagate = before
    assert said == ["no /v1/traces?[hidden]"]


WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
from shared.foundation.core.config import load_settings
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.core.tracing.exporter import Tracing
try:
    Tracing(load_settings())
except ConfigurationError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [("OTEL_EXPORTER_OTLP_ENDPOINT", "pip install .[tracing]"), ("OTEL_TRACES_EXPORTER", "")],
)
def test_without_the_extra_traces_are_refused(name: str, said: str) -> None:
    variables = {
        "DATABASE_URL": "postgresql://x",
        "REDIS_URL": "redis://x",
        "CLICKHOUSE_URL": "clickhouse://x",
        name: "http://127.0.0.1:4318",
    }
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], env=variables, capture_output=True, text=True, check=True
    )
    assert said in done.stdout
    assert bool(said) == bool(done.stdout)

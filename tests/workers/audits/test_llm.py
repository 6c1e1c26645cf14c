"""Reports by a misbehaving language model behind a real socket. No run fails because of it."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
import pytest
from sqlalchemy import RowMapping
from structlog.testing import capture_logs

from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits.runs.report import ModelMessage
from tests.support import evaluator as server
from tests.support.audits import AuditBench, finding
from tests.support.evaluator import Answer, Evaluator, reply, running_evaluator
from tests.support.processes import wait_until
from tests.support.runtime import Org, make_org
from workers.audits import llm
from workers.audits.llm import LanguageModel

KEY = "sk-of-the-tests-0123456789"

TIMED_OUT = "no answer within 1 s"


@pytest.fixture
def model_server() -> Iterator[Evaluator]:
    """A server whose answers the test chooses."""
    with running_evaluator() as running:
        yield running


@pytest.fixture
def model(runtime: Runtime, model_server: Evaluator) -> Iterator[Callable[..., LanguageModel]]:
    """`model()` returns a patient client of the server; `model(audit_llm_…=…)` another one."""
    made: list[LanguageModel] = []

    def make(*, timeout_secs: float = 30.0, **settings: Any) -> LanguageModel:
        values = {
            "audit_llm_base_url": f"{model_server.url}/v1",
            "audit_llm_model": "small",
            "audit_llm_api_key": KEY,
            **settings,
        }
        changed = msgspec.structs.replace(runtime.settings, **values)
        made.append(LanguageModel(changed, timeout_secs=timeout_secs))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def bench(runtime: Runtime, org: Org) -> AuditBench:
    """The audits of the test's organization, which has the session `s1`."""
    bench = AuditBench(runtime, org)
    bench.store("s1")
    return bench


def completion(content: object) -> Answer:
    """Returns the answer of a chat."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}}
    return reply(200, {"id": "c1", "choices": [choice], "usage": {"total_tokens": 7}})


def saying(*claims: Mapping[str, Any], summary: str = "In short.") -> Answer:
    """A model with a fixed answer."""
    return completion(json.dumps({"summary": summary, "claims": claims}))


def claim(text: str, *session_ids: str) -> dict[str, Any]:
    """Returns one claim."""
    return {"text": text, "session_ids": session_ids}


def run(bench: AuditBench, model: LanguageModel, *found: str, **fields: Any) -> RowMapping:
    """Carries out one run of a new audit."""
    bench.make(**fields)
    bench.schedule()
    bench.run({"test": finding(*(found or ("timeout",)))}, ask=model)
    return bench.last_run()


@pytest.mark.parametrize("ending", ["/v1", "/v1/", ""])
def test_the_chat_of_an_openai_compatible_server_is_asked(
    model_server: Evaluator, model: Callable[..., LanguageModel], ending: str
) -> None:
    model_server.default = completion("hello")
    made = model(audit_llm_base_url=model_server.url + ending)
    assert made([ModelMessage("system", "be brief"), ModelMessage("user", "ö")]) == "hello"
    [asked] = model_server.requests
    assert (asked.method, asked.path) == ("POST", f"{ending.rstrip('/')}/chat/completions")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["content-type"] == "application/json"
    assert json.loads(asked.body) == {
        "model": "small",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "ö"},
        ],
        "temperature": 0,
        "response_format": {"type": "json_object"},
    }


def test_a_server_without_a_key_is_sent_none(
    model_server: Evaluator, model: Callable[..., LanguageModel]
) -> None:
    model_server.default = completion([{"type": "text", "text": "in "}, {"text": "parts"}])
    assert model(audit_llm_api_key=None)([]) == "in parts"
    assert "authorization" not in model_server.requests[0].headers


def test_a_report_says_only_what_sessions_of_the_organization_show(
    bench: AuditBench, model_server: Evaluator, model: Callable[..., LanguageModel]
) -> None:
    other = AuditBench(bench.runtime, make_org(bench.runtime))
    other.store("foreign")
    model_server.default = saying(
        claim("It times out.", "s1", "ghost"),
        claim("A ghost did it.", "ghost"),
        claim("Somebody else did it.", "foreign"),
        claim("Nobody did it."),
        summary="It is <b>slow</b>.",
    )
    found = run(bench, model())
    assert (found["status"], found["findings_count"]) == ("succeeded", 1)
    assert found["report"] == (
        "# Summary\n\nIt is &lt;b>slow&lt;/b>.\n\n# Observations\n\n"
        "- It times out. (session `s1`)\n"
    )
    assert "report_error" not in found["stats"]


def test_the_model_gets_the_findings_and_the_context(
    bench: AuditBench, model_server: Evaluator, model: Callable[..., LanguageModel]
) -> None:
    model_server.default = saying(claim("It times out.", "s1"))
    bench.make(name="nightly")
    context = {"text": "They book flights.", "urls": ["https://docs.test/agents"]}
    bench.sql(
        "UPDATE audits SET context_text = :text, context_urls = :urls WHERE org_id = :org_id",
        **context,
    )
    bench.schedule()
    bench.run({"test": finding("timeout", numbers={"errors": 3})}, ask=model())
    [asked] = model_server.requests
    told = json.loads(json.loads(asked.body)["messages"][1]["content"])
    assert (told["audit"], told["context"]) == ("nightly", context["text"])
    assert told["reference_urls"] == context["urls"]
    [only] = told["findings"]
    assert (only["title"], only["numbers"]) == ("Errors: timeout", {"errors": 3})
    assert only["session_ids"] == ["s1"]


FAILURES: dict[str, tuple[Answer, str]] = {
    "500": (reply(500, b"oops"), "the language model answered with status 500"),
    "401 that quotes": (reply(401, KEY.encode()), "the language model answered with status 401"),
    "redirect": (
        reply(307, headers={"Location": "http://127.0.0.1:1/"}),
        "the language model answered with status 307",
    ),
    "not http": (server.garbage, "the connection to the language model broke"),
    "not json": (reply(200, b"<html>"), "is not a chat completion"),
    "nested": (reply(200, b"[" * 100_000), "is not a chat completion"),
    "another json": (reply(200, {"error": "busy"}), "is not a chat completion"),
    "no choice": (reply(200, {"choices": []}), "answer is empty"),
    "nothing said": (completion(None), "answer is empty"),
    "refusal": (completion("I cannot do that."), "is not the requested JSON"),
    "ghosts": (saying(claim("A ghost did it.", "ghost")), "cites no session that exists"),
    "hang": (server.hang, TIMED_OUT),
    "drip header": (server.drip_header, TIMED_OUT),
    "drip body": (server.drip_body, TIMED_OUT),
    "endless headers": (server.endless_headers, "the connection to the language model broke"),
    "flood": (server.flood(4 * llm.MAX_ANSWER_BYTES), "has more than 1048576 bytes"),
    "gzip bomb": (server.gzip_bomb(64 * 1024 * 1024), "has more than 1048576 bytes"),
    "closed midway": (server.close_midway, "the connection to the language model broke"),
    "closed at once": (server.close_at_once, "the connection to the language model broke"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_model_that_fails_costs_the_report_and_never_the_run(
    bench: AuditBench, model_server: Evaluator, model: Callable[..., LanguageModel], name: str
) -> None:
    model_server.default, reason = FAILURES[name]
    made = model(timeout_secs=1.0) if reason == TIMED_OUT else model()
    with capture_logs() as lines:
        found = run(bench, made)
    assert (found["status"], found["error"], found["report"]) == ("succeeded", None, None)
    assert (found["findings_count"], len(bench.findings())) == (1, 1)
    assert reason in found["stats"]["report_error"]
    assert bench.audit()["last_error"] is None
    # The server may read a request after the client has given up.
    wait_until(lambda: bool(model_server.requests))
    assert len(model_server.requests) == 1
    assert KEY not in f"{lines} {dict(found)}"


def test_an_unreachable_model_costs_the_report_and_never_the_run(
    bench: AuditBench, model: Callable[..., LanguageModel]
) -> None:
    found = run(bench, model(audit_llm_base_url="http://127.0.0.1:1/v1"))
    assert (found["status"], found["report"]) == ("succeeded", None)
    assert found["stats"]["report_error"] == "the language model could not be reached"


def test_a_key_that_no_header_can_hold_is_never_shown(
    bench: AuditBench, model: Callable[..., LanguageModel]
) -> None:
    with capture_logs() as lines:
        found = run(bench, model(audit_llm_api_key=f"{KEY}\nX-More: 1"))
    assert found["status"] == "succeeded"
    assert "the connection to the language model broke" in found["stats"]["report_error"]
    assert KEY not in f"{lines} {dict(found)}"


def test_a_model_that_repeats_the_key_does_not_get_it_into_the_report(
    bench: AuditBench, model_server: Evaluator, model: Callable[..., LanguageModel]
) -> None:
    model_server.default = saying(claim(f"The key is {KEY}.", "s1"))
    found = run(bench, model())
    assert "The key is \\[hidden\\]." in found["report"]


@pytest.mark.parametrize(
    ("found", "fields"), [(("timeout",), {"llm_enabled": False}), ((), {"signals": ["tool_loop"]})]
)
def test_no_report_is_requested_without_a_wish_or_findings(
    bench: AuditBench,
    model_server: Evaluator,
    model: Callable[..., LanguageModel],
    found: tuple[str, ...],
    fields: dict[str, Any],
) -> None:
    ended = run(bench, model(), *found, **fields)
    assert (ended["status"], ended["report"]) == ("succeeded", None)
    assert "report_error" not in ended["stats"]
    assert model_server.requests == []

"""One call of the evaluator, for any behaviour of it."""

import gzip
import socket
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

from shared.evaluation.evaluation_jobs.answers import MAX_ANSWER_BYTES, Answer, NoEvaluatorAnswer
from shared.foundation.core.config import Settings
from tests.support import evaluator as behave
from tests.support.evaluator import Evaluator
from workers.evaluation_jobs.client import EvaluatorClient, default_client

pytestmark = pytest.mark.flow

# For calls with an answer, and for calls that never get one.
PATIENT_MS, IMPATIENT_MS = 30_000, 400


@pytest.fixture
def client(evaluator: Evaluator) -> Iterator[EvaluatorClient]:
    with_token = default_client(_settings(evaluator.url + "/base/"))
    yield with_token
    with_token.close()


def _settings(endpoint: str | None, timeout_ms: int = PATIENT_MS) -> Settings:
    return Settings(
        database_url="postgresql://",
        redis_url="redis://",
        clickhouse_url="clickhouse://",
        evaluator_endpoint=endpoint,
        evaluator_token="secret-token",
        evaluator_request_timeout_ms=timeout_ms,
    )


def evaluate(client: EvaluatorClient, body: bytes = b"{}") -> Answer | NoEvaluatorAnswer:
    return client.evaluate(body, job_id="our-job", request_id="0" * 32).result()


def test_a_delivery_carries_body_and_headers(client: EvaluatorClient, evaluator: Evaluator) -> None:
    body = b'{"session_id": "s", "events": [' + b" " * 3_000_000 + b"]}"
    answer = evaluate(client, body)
    assert answer == Answer(200, b'{"scores": {"task_success": 1.0}}')
    [request] = evaluator.requests
    assert (request.method, request.path) == ("POST", "/base/evaluate")
    assert request.body == body
    assert request.headers["content-type"] == "application/json"
    assert request.headers["authorization"] == "Bearer secret-token"
    assert request.headers["user-agent"].startswith("watchpost/")
    assert request.headers["x-request-id"] == "0" * 32
    assert request.headers["idempotency-key"] == "our-job"
    assert request.headers["accept-encoding"] == "identity"


def test_a_poll_names_the_evaluators_job(client: EvaluatorClient, evaluator: Evaluator) -> None:
    client.poll("a/b c%2F?é..", job_id="our-job", request_id="1" * 32).result()
    [request] = evaluator.requests
    assert (request.method, request.path) == ("GET", "/base/evaluate/a%2Fb%20c%252F%3F%C3%A9..")
    assert request.headers["authorization"] == "Bearer secret-token"
    assert request.headers["x-request-id"] == "1" * 32
    assert request.headers["idempotency-key"] == "our-job"


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(("config", "is_outage"), [(401, True), (403, True), (404, False)])
def test_a_refusal_is_an_outage_if_config_is_refused_too(
    client: EvaluatorClient, evaluator: Evaluator, status: int, config: int, is_outage: bool
) -> None:
    evaluator.default = behave.reply(status)
    evaluator.config = behave.reply(config)
    assert evaluate(client) == Answer(status, b"", is_outage=is_outage)


def test_without_a_token_none_is_sent(evaluator: Evaluator) -> None:
    settings = Settings(
        database_url="postgresql://",
        redis_url="redis://",
        clickhouse_url="clickhouse://",
        evaluator_endpoint=evaluator.url,
    )
    client = default_client(settings)
    evaluate(client)
    client.close()
    assert "authorization" not in evaluator.requests[0].headers


def test_statuses_and_retry_after_come_back(client: EvaluatorClient, evaluator: Evaluator) -> None:
    evaluator.default = behave.reply(429, b"slow down", {"Retry-After": "7"})
    assert evaluate(client) == Answer(429, b"slow down", "7")


def test_redirects_are_not_followed(client: EvaluatorClient, evaluator: Evaluator) -> None:
    evaluator.default = behave.reply(307, b"", {"Location": evaluator.url + "/elsewhere"})
    assert evaluate(client) == Answer(307, b"")
    assert len(evaluator.requests) == 1


@pytest.mark.parametrize(
    "behaviour",
    [
        behave.hang,
        behave.drip_header,
        behave.drip_body,
        behave.drip_informational,
    ],
)
def test_no_call_outlasts_the_timeout(evaluator: Evaluator, behaviour: behave.Answer) -> None:
    evaluator.default = behaviour
    client = default_client(_settings(evaluator.url, IMPATIENT_MS))
    began = time.monotonic()
    answer = evaluate(client)
    assert time.monotonic() - began < 30
    client.close()
    assert answer == NoEvaluatorAnswer("no complete answer within 0.4 s", timed_out=True)


def test_a_port_that_accepts_but_never_reads_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=1) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        client = default_client(_settings(url, IMPATIENT_MS))
        began = time.monotonic()
        answer = evaluate(client, b" " * 25 * 1024 * 1024)
        assert time.monotonic() - began < 30
        client.close()
    assert isinstance(answer, NoEvaluatorAnswer)
    assert answer.timed_out


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files in /proc")
def test_a_call_that_timed_out_leaves_no_socket_behind() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=8) as silent:
        client = default_client(
            _settings(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_ms=50)
        )
        before = _open_files()
        for _ in range(5):
            evaluate(client, b" " * 25 * 1024 * 1024)
        client.close()
        assert _open_files() <= before


@pytest.mark.parametrize(
    "behaviour",
    [behave.close_midway, behave.close_at_once, behave.garbage, behave.endless_headers],
)
def test_a_broken_connection_is_no_answer(
    client: EvaluatorClient, evaluator: Evaluator, behaviour: behave.Answer
) -> None:
    evaluator.default = behaviour
    answer = evaluate(client)
    assert isinstance(answer, NoEvaluatorAnswer)
    assert not answer.timed_out


@pytest.mark.parametrize("host", ["127.0.0.1:1", "evaluator.invalid", "127.0.0.1:99999"])
def test_an_evaluator_that_is_not_there_is_no_answer(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up = socket.getaddrinfo

    def without_name_servers(name: str, *rest: Any, **more: Any) -> Any:
        if name == "evaluator.invalid":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return look_up(name, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", without_name_servers)
    client = default_client(_settings(f"http://{host}"))
    answer = evaluate(client)
    client.close()
    assert isinstance(answer, NoEvaluatorAnswer)
    assert not answer.timed_out
    assert host not in answer.error


def test_the_largest_answer_is_read_and_no_larger_one(
    client: EvaluatorClient, evaluator: Evaluator
) -> None:
    evaluator.default = behave.reply(200, b"x" * MAX_ANSWER_BYTES)
    answer = evaluate(client)
    assert isinstance(answer, Answer)
    assert answer.body is not None
    assert len(answer.body) == MAX_ANSWER_BYTES
    evaluator.default = behave.reply(200, b"x" * (MAX_ANSWER_BYTES + 1))
    assert evaluate(client) == Answer(200, None)
    evaluator.default = behave.flood(100 * 1024 * 1024)
    assert evaluate(client) == Answer(200, None)


@pytest.mark.parametrize("status", [200, 500])
def test_gzip_is_unpacked(client: EvaluatorClient, evaluator: Evaluator, status: int) -> None:
    scores = b'{"scores": {"a": 1}, "by": "secret-token"}'
    evaluator.default = behave.reply(status, gzip.compress(scores), {"Content-Encoding": "GZIP"})
    shown = scores if status == 200 else scores.replace(b"secret-token", b"[hidden]")
    assert evaluate(client) == Answer(status, shown)


def test_gzip_that_unpacks_to_too_much_is_too_large(
    client: EvaluatorClient, evaluator: Evaluator
) -> None:
    headers = {"Content-Encoding": "gzip"}
    evaluator.default = behave.reply(200, gzip.compress(b"x" * MAX_ANSWER_BYTES), headers)
    assert evaluate(client) == Answer(200, b"x" * MAX_ANSWER_BYTES)
    evaluator.default = behave.gzip_bomb(50 * 1024 * 1024)
    assert evaluate(client) == Answer(200, None)


@pytest.mark.parametrize("body", [b"", b"plain", gzip.compress(b"x" * 1000)[:-9]])
def test_a_body_that_only_claims_to_be_gzip_stays_unchanged(
    client: EvaluatorClient, evaluator: Evaluator, body: bytes
) -> None:
    evaluator.default = behave.reply(200, body, {"Content-Encoding": "gzip"})
    assert evaluate(client) == Answer(200, body)


def test_an_error_that_quotes_the_token_loses_it(
    client: EvaluatorClient, evaluator: Evaluator
) -> None:
    evaluator.default = behave.reply(500, b"bad header: Bearer secret-token")
    assert evaluate(client) == Answer(500, b"bad header: Bearer [hidden]")


def test_a_hanging_call_does_not_hold_up_another(
    client: EvaluatorClient, evaluator: Evaluator
) -> None:
    evaluator.script = [behave.hang]
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(evaluate, client) for _ in range(2)]
        answered, hanging = wait(calls, return_when=FIRST_COMPLETED)
        assert [type(call.result()) for call in answered] == [Answer]
        evaluator.stopping.set()
        assert [type(call.result()) for call in hanging] == [NoEvaluatorAnswer]


def test_cookies_are_not_kept(client: EvaluatorClient, evaluator: Evaluator) -> None:
    evaluator.default = behave.reply(200, b"{}", {"Set-Cookie": "a=b"})
    evaluate(client)
    evaluate(client)
    assert "cookie" not in evaluator.requests[1].headers


def test_a_client_needs_an_endpoint() -> None:
    with pytest.raises(ValueError, match="EVALUATOR_ENDPOINT"):
        default_client(_settings(None))


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))

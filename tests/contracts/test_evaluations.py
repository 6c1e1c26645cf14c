"""Lists of results and of jobs, and the contract with the evaluator (docs/use/evaluator.md)."""

import json
from collections.abc import Callable
from datetime import datetime

import pytest
from flask.testing import FlaskClient

from shared.foundation.core.config import load_settings
from tests.support import evaluator as behave
from tests.support.app import Headers
from tests.support.document import Document
from tests.support.jobs import Bench
from workers.evaluation_jobs.client import default_client
from workers.evaluation_jobs.config_refresh import refresh_if_due

Key = Callable[..., Headers]

# Variables of the operator and their defaults, which deployments rely on.
DEFAULTS = {
    "evaluator_endpoint": None,
    "evaluator_token": None,
    "evaluator_workers": 2,
    "evaluator_claim_batch": 4,
    "evaluator_polling_interval_secs": 10,
    "evaluator_request_timeout_ms": 30000,
    "evaluator_max_attempts": 5,
    "evaluator_config_refresh_secs": 300,
    "evaluator_max_poll_duration_secs": 3600,
    "evaluator_orgs": None,
    "ingest_max_body_bytes": 16 * 1024 * 1024,
    "ingest_max_unpacked_bytes": 128 * 1024 * 1024,
    "ingest_max_event_bytes": 1024 * 1024,
}


def test_the_variables_have_their_defaults() -> None:
    stores = {
        "DATABASE_URL": "postgresql://x@x/x",
        "REDIS_URL": "redis://x",
        "CLICKHOUSE_URL": "clickhouse://x",
    }
    settings = load_settings(stores)
    assert {name: getattr(settings, name) for name in DEFAULTS} == DEFAULTS


def test_the_aggregate_takes_the_filters_of_the_list_and_what_to_draw(document: Document) -> None:
    def parameters(path: str) -> set[str]:
        told = document.operation("GET", path)["parameters"]
        return {one["name"] for one in told if one["in"] == "query"}

    filters = parameters("/v1/evaluations") - {"cursor", "limit", "lowest"}
    drawn = {"featured_keys", "bucket", "series", "histogram"}
    assert parameters("/v1/evaluations/aggregate") == filters | drawn


@pytest.mark.parametrize("path", ["/v1/evaluations", "/v1/evaluations/aggregate", "/v1/sessions"])
@pytest.mark.parametrize(
    ("filters", "status"),
    [
        ("x:0..1", 200),
        ("x:..1,y:0..", 200),
        ("x:..", 200),
        (",".join(["x:0.."] * 20), 200),
        (",".join(["x:0.."] * 21), 422),
        ("x", 422),
        ("x:1", 422),
        ("x:a..b", 422),
        ("x:nan..", 422),
        (":0..1", 422),
    ],
)
def test_score_filters_are_key_min_max_and_at_most_twenty(
    client: FlaskClient, key: Key, path: str, filters: str, status: int
) -> None:
    query = {"score_filters": filters}
    answer = client.get(path, query_string=query, headers=key("evaluations:read"))
    assert answer.status_code == status, answer.data
    if status == 422:
        assert list(answer.get_json()["fields"]) == ["score_filters"]


@pytest.mark.parametrize("token", [None, "a-token-of-ours"])
def test_every_call_names_who_calls_and_for_what(bench: Bench, token: str | None) -> None:
    """Bearer token when set, User-Agent, X-Request-Id, Idempotency-Key, on polls as well."""
    bench.configure(evaluator_token=token)
    bench.evaluator.script = [behave.reply(503), behave.pending("j", 1)]
    bench.enqueue("s")
    bench.run()
    bench.run_later()
    bench.run_later()
    requests = bench.evaluator.requests
    assert [request.method for request in requests] == ["POST", "POST", "GET"]
    for request in requests:
        expected = None if token is None else f"Bearer {token}"
        assert request.headers.get("authorization") == expected
        assert request.headers["user-agent"]
        assert request.headers["x-request-id"] == bench.job()["request_id"]
        assert request.headers["idempotency-key"] == str(bench.job()["id"])
    assert requests[0].headers["content-type"] == "application/json"


def test_an_evaluator_is_sent_what_the_document_calls_an_eval_request(
    bench: Bench, document: Document
) -> None:
    bench.enqueue("s")
    bench.run()
    body = json.loads(bench.evaluator.requests[0].body)
    document.check(body, {"$ref": "#/components/schemas/EvalRequest"}, "request")
    assert body["schema_version"] == "1"
    moments = [datetime.fromisoformat(one["ts"]) for one in body["events"]]
    assert moments == sorted(moments)
    assert body["started_at"] == body["events"][0]["ts"]
    assert body["ended_at"] == body["events"][-1]["ts"]


def test_a_session_without_an_end_has_a_null_one(bench: Bench) -> None:
    bench.config(inactivity_timeout_secs=30)
    bench.store("s", "agent_start", "tool_use")
    bench.pass_time(31)
    bench.promote()
    bench.run()
    assert json.loads(bench.evaluator.requests[0].body)["ended_at"] is None
    assert bench.job()["trigger"] == "inactivity"


# (next_poll_secs of the answer, default_poll_interval_secs of /config, the platform's) → seconds
INTERVALS = [
    (7, 20, 40, 7),
    (None, 20, 40, 20),
    (None, None, 40, 40),
    (0, 20, 40, 1),
    (None, 0, 40, 1),
    (None, 0.2, 40, 1),
    (None, None, 0.2, 1),
    (100_000, 20, 40, 3600),
    (None, 100_000, 40, 3600),
    (None, None, 100_000, 3600),
]


@pytest.mark.parametrize(("answered", "configured", "platform", "seconds"), INTERVALS)
def test_the_polling_interval_in_order_of_precedence_and_clamped(
    bench: Bench,
    answered: float | None,
    configured: float | None,
    platform: float,
    seconds: float,
) -> None:
    bench.configure(
        evaluator_polling_interval_secs=platform, evaluator_max_poll_duration_secs=1_000_000
    )
    bench.evaluator.config = behave.reply(200, {"default_poll_interval_secs": configured})
    caller = default_client(bench.runtime.settings)
    refresh_if_due(bench.runtime, caller, force=True)
    caller.close()
    bench.evaluator.default = behave.pending("j", answered)
    bench.enqueue("s")
    _, delivered = bench.timed(bench.run)
    assert delivered.planned(bench.job()["next_attempt_at"], seconds)

"""GET /evaluation-jobs and POST /sessions/{id}/re-evaluate."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient

from shared.evaluation.evaluation_jobs import listing, requests
from shared.foundation.deployment.runtime import Runtime
from shared.reading.sessions import facts as session_facts
from tests.support import evaluator as behave
from tests.support.app import Headers
from tests.support.evaluator import running_evaluator
from tests.support.jobs import Bench
from tests.support.runtime import Org, make_org
from web.app import create_app

MakeKey = Callable[..., Headers]


@dataclass
class Api:
    """The application with an evaluator, called with a key that has all permissions."""

    bench: Bench
    headers: Headers

    def client(self) -> FlaskClient:
        """Returns a client of an application with the bench's present settings."""
        return create_app(self.bench.runtime).test_client()

    def re_evaluate(self, session_id: str) -> tuple[int, dict[str, Any]]:
        """Sends the request and returns status and body. A slash in the id is sent as %2F."""
        path = f"/v1/sessions/{session_id.replace('/', '%2F')}/re-evaluate"
        answer = self.client().post(path, headers=self.headers, environ_overrides={"RAW_URI": path})
        return answer.status_code, answer.get_json()

    def jobs(self, **query: str) -> list[dict[str, Any]]:
        """Returns the listed jobs."""
        answer = self.client().get("/v1/evaluation-jobs", query_string=query, headers=self.headers)
        assert answer.status_code == 200, answer.get_json()
        found: list[dict[str, Any]] = answer.get_json()["jobs"]
        return found


@pytest.fixture
def api(runtime: Runtime, org: Org, key: MakeKey) -> Iterator[Api]:
    with running_evaluator() as evaluator:
        bench = Bench(runtime, org, evaluator)
        yield Api(bench, key("evaluations:read", "evaluations:trigger"))
        bench.clean_up()


def test_a_session_that_ended_is_queued(api: Api) -> None:
    api.bench.store("s", "agent_start", "agent_end", environment="staging")
    status, body = api.re_evaluate("s")
    assert status == 202
    assert body == {"session_id": "s", "status": "queued", "job_id": str(api.bench.job()["id"])}
    [job] = api.jobs()
    assert job == {
        "id": body["job_id"],
        "session_id": "s",
        "agent_id": "main",
        "environment": "staging",
        "status": "pending",
        "trigger": "manual",
        "attempt_count": 0,
        "evaluator_job_id": None,
        "enqueued_at": job["enqueued_at"],
        "next_attempt_at": job["enqueued_at"],
        "poll_deadline_at": None,
        "last_error": None,
    }
    assert job["enqueued_at"].endswith("Z")
    assert len(job["enqueued_at"]) == len("2026-11-01T08:00:33.587000Z")


def test_results_are_appended(api: Api) -> None:
    api.bench.enqueue("s")
    api.bench.run()
    for _ in range(2):
        status, body = api.re_evaluate("s")
        assert status == 202
        api.bench.run()
        assert body["job_id"] in {result.evaluation_id for result in api.bench.results()}
    assert len(api.bench.results()) == 3
    assert api.jobs() == []


def test_an_id_with_a_slash_is_one_session(api: Api) -> None:
    api.bench.store("a/b,c", "agent_start", "agent_end")
    assert api.re_evaluate("a/b,c")[0] == 202
    assert api.bench.job()["session_id"] == "a/b,c"


def test_the_request_id_reaches_the_evaluator(api: Api) -> None:
    api.bench.store("s", "agent_start", "agent_end")
    path, request_id = "/v1/sessions/s/re-evaluate", "0123456789abcdef" * 2
    api.client().post(path, headers={**api.headers, "X-Request-Id": request_id})
    api.bench.run()
    assert api.bench.evaluator.requests[0].headers["x-request-id"] == request_id


def test_an_unknown_session_is_not_found(api: Api) -> None:
    assert api.re_evaluate("unknown")[0] == 404


def test_another_organizations_session_is_not_found(api: Api, runtime: Runtime) -> None:
    other = Bench(runtime, make_org(runtime), api.bench.evaluator)
    other.store("theirs", "agent_start", "agent_end")
    assert api.re_evaluate("theirs")[0] == 404
    other.clean_up()


def test_one_live_job_a_session(api: Api) -> None:
    api.bench.store("s", "agent_start", "agent_end")
    api.re_evaluate("s")
    status, body = api.re_evaluate("s")
    assert (status, body["code"]) == (409, "evaluation_live")
    api.bench.evaluator.default = behave.pending()
    api.bench.run()
    assert api.re_evaluate("s")[1]["code"] == "evaluation_live"
    api.bench.evaluator.default = behave.scored()
    api.bench.run_later()
    assert api.re_evaluate("s")[0] == 202


def test_an_open_session_is_refused(api: Api, just_arrived: None) -> None:
    api.bench.store("s", "agent_start", "tool_use")
    status, body = api.re_evaluate("s")
    assert (status, body["code"]) == (409, "session_open")
    assert api.bench.jobs() == []


def test_an_open_session_that_was_evaluated_before_is_queued(api: Api, just_arrived: None) -> None:
    api.bench.config(inactivity_timeout_secs=30)
    api.bench.store("s", "agent_start")
    api.bench.pass_time(31)
    api.bench.promote()
    api.bench.evaluator.default = behave.reply(400)
    api.bench.run()
    api.bench.sql("DELETE FROM evaluator_config")
    assert api.re_evaluate("s")[0] == 202


@pytest.mark.parametrize(("timeout", "secs"), [(None, 60), (30, 30), (1e12, 60)])
def test_a_session_is_quiet_after_the_shorter_of_timeout_and_60_s(
    api: Api, monkeypatch: pytest.MonkeyPatch, timeout: float | None, secs: int
) -> None:
    if timeout is not None:
        api.bench.config(inactivity_timeout_secs=timeout)
    api.bench.store("s", "agent_start")
    facts = session_facts.find(api.bench.runtime.clickhouse, api.bench.org.id, "s")
    assert facts is not None
    quiet_at = (facts.last_arrival_ms + secs * 1000) * 1000
    monkeypatch.setattr(requests, "now_us", lambda: quiet_at - 1000)
    assert api.re_evaluate("s")[1]["code"] == "session_open"
    monkeypatch.setattr(requests, "now_us", lambda: quiet_at)
    assert api.re_evaluate("s")[0] == 202


def test_without_an_evaluator_nothing_is_queued(api: Api) -> None:
    api.bench.store("s", "agent_start", "agent_end")
    api.bench.configure(evaluator_endpoint=None)
    status, body = api.re_evaluate("s")
    assert (status, body["code"]) == (409, "evaluator_disabled")
    assert api.bench.jobs() == []


def test_an_organization_that_is_left_out_is_refused(api: Api) -> None:
    api.bench.store("s", "agent_start", "agent_end")
    api.bench.configure(evaluator_orgs="some-other")
    assert api.re_evaluate("s")[0] == 403
    assert api.bench.jobs() == []


@pytest.mark.parametrize(
    ("method", "path", "permission"),
    [
        ("POST", "/v1/sessions/s/re-evaluate", "evaluations:trigger"),
        ("GET", "/v1/evaluation-jobs", "evaluations:read"),
    ],
)
def test_each_route_needs_its_permission(
    client: FlaskClient, key: MakeKey, method: str, path: str, permission: str
) -> None:
    answer = client.open(path, method=method, headers=key("events:add"))
    assert answer.status_code == 403
    assert answer.get_json()["required_permission"] == permission
    assert client.open(path, method=method).status_code == 401


def test_jobs_are_listed_newest_first_by_status(api: Api) -> None:
    api.bench.evaluator.script = [behave.pending("j", 30)]
    api.bench.enqueue("polled")
    api.bench.run()
    api.bench.pass_time(5)
    api.bench.enqueue("waiting")
    assert [job["session_id"] for job in api.jobs()] == ["waiting", "polled"]
    assert [job["session_id"] for job in api.jobs(status="pending")] == ["waiting"]
    assert [job["session_id"] for job in api.jobs(status="pending,polling", limit="1")] == [
        "waiting"
    ]
    assert [job["session_id"] for job in api.jobs(session_id="polled,other")] == ["polled"]
    [polled] = api.jobs(status="polling")
    assert polled["evaluator_job_id"] == "j"
    assert polled["poll_deadline_at"].endswith("Z")
    assert polled["trigger"] == "agent_end"


def test_a_job_stays_listed_until_its_result_is_there(api: Api) -> None:
    api.bench.enqueue("s")
    api.bench.sql(
        "UPDATE evaluation_jobs SET status = 'storing', completed_at = now(), result = ''"
        " WHERE org_id = :org_id"
    )
    assert [job["status"] for job in api.jobs()] == ["pending"]


@pytest.mark.parametrize("query", [{"status": "done"}, {"limit": "0"}, {"limit": "x"}])
def test_bad_parameters_are_named(api: Api, query: dict[str, str]) -> None:
    answer = api.client().get("/v1/evaluation-jobs", query_string=query, headers=api.headers)
    assert answer.status_code == 422
    assert list(answer.get_json()["fields"]) == list(query)


def test_other_organizations_jobs_are_not_listed(api: Api, org: Org, runtime: Runtime) -> None:
    api.bench.enqueue("s")
    with runtime.postgres.transaction() as session:
        elsewhere = UUID("00000000-0000-4000-8000-000000000001")
        listed = listing.live_jobs(session, elsewhere, statuses=["pending"], limit=500)
    assert api.bench.job()["id"] not in {job.id for job in listed}


def test_the_oldest_due_job_is_known_until_it_is_called(api: Api) -> None:
    def oldest() -> float:
        with api.bench.runtime.postgres.transaction() as session:
            return listing.oldest_due_secs(session, api.bench.runtime.settings)

    assert oldest() == 0.0
    api.bench.enqueue("s")
    api.bench.pass_time(100)
    assert 100 <= oldest() < 110
    api.bench.configure(evaluator_endpoint=None)
    assert oldest() == 0.0
    api.bench.configure(evaluator_orgs="some-other")
    assert oldest() == 0.0
    api.bench.configure()
    api.bench.evaluator.default = behave.pending(next_poll_secs=60)
    api.bench.run()
    assert oldest() == 0.0

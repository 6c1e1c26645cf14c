"""GET /sessions/{id}: the row of the list, and the reason for the session's score or its lack."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from tests.support import evaluator as behave
from tests.support.app import Headers
from tests.support.document import Document
from tests.support.jobs import Bench
from web.app import create_app

Key = Callable[..., Headers]
Seen = Callable[..., dict[str, Any]]

SESSION = "/v1/sessions/{session_id}"
ENDED = ("agent_start", "agent_end")


@pytest.fixture
def seen(bench: Bench, document: Document, key: Key) -> Seen:
    """Returns the state of the session `s` with the present settings."""
    headers = key("evaluations:read")
    # Making an application takes a second on a busy machine, and a session settles in three.
    client_of = cache(lambda runtime: create_app(runtime).test_client())

    def ask() -> dict[str, Any]:
        answer = client_of(bench.runtime).get("/v1/sessions/s", headers=headers)
        state: dict[str, Any] = document.require(answer, "GET", SESSION)["evaluation_state"]
        assert state["sentence"].endswith(".")
        return state

    return ask


def test_the_session_is_the_row_of_the_list(bench: Bench, document: Document, key: Key) -> None:
    bench.store("a/b", *ENDED)
    bench.store("other", "agent_start")
    client, headers = create_app(bench.runtime).test_client(), key("evaluations:read")
    answer = client.get(
        "/v1/sessions/a%2Fb", headers=headers, environ_overrides={"RAW_URI": "/v1/sessions/a%2Fb"}
    )
    found = document.require(answer, "GET", SESSION)
    found.pop("evaluation_state")
    [default] = found.pop("evaluation_states")
    assert default["evaluator"] == "default"
    assert found.pop("costs") == []
    listed = client.get("/v1/sessions?session_id=a/b", headers=headers).get_json()["sessions"]
    assert [found] == listed
    for unknown in ("unknown", "a%00b", "x" * 300):
        answer = client.get(f"/v1/sessions/{unknown}", headers=headers)
        assert answer.status_code == 404
        assert document.require(answer, "GET", SESSION)["code"] == "not_found"


def test_the_states_of_a_session_on_its_way_to_a_score(bench: Bench, seen: Seen) -> None:
    bench.evaluator.script = [behave.pending("theirs", 5)]
    bench.store("s", "agent_start")
    state = seen()
    assert (state["code"], state["job"]) == ("not_ended", None)
    assert "inactivity_timeout_secs" in state["sentence"]
    bench.store("s", *ENDED)
    assert seen()["code"] == "settling"
    bench.pass_time(3)
    assert seen()["code"] == "waiting", "due, and no worker has looked yet"
    bench.promote()
    state = seen()
    assert (state["code"], state["job"]["status"]) == ("queued", "pending")
    assert state["since"] == state["job"]["enqueued_at"]
    bench.run()
    state = seen()
    assert (state["code"], state["job"]["evaluator_job_id"]) == ("polling", "theirs")
    assert state["job"]["poll_deadline_at"] in state["sentence"]
    bench.run_later()
    state = seen()
    assert (state["code"], state["job"]) == ("scored", None)


def test_a_call_and_its_failures_are_told(bench: Bench, seen: Seen) -> None:
    """A job that failed waits for its next attempt; while it is called, that is the state."""
    bench.evaluator.default = behave.reply(503, b"out of memory")
    bench.enqueue("s")
    held = "UPDATE evaluation_jobs SET lease_expires_at = {} WHERE org_id = :org_id"
    bench.sql(held.format("now() + interval '1 minute'"))
    assert seen()["code"] == "calling"
    bench.sql(held.format("NULL"))
    bench.run()
    state = seen()
    assert (state["code"], state["job"]["attempt_count"]) == ("queued", 1)
    assert "out of memory" in state["sentence"]
    assert state["job"]["next_attempt_at"] in state["sentence"]
    bench.configure(evaluator_max_attempts=2)
    bench.run_later()
    state = seen()
    assert (state["code"], state["job"]) == ("error", None)
    assert "out of memory" in state["sentence"]


def test_jobs_that_wait_behind_the_breaker(bench: Bench, seen: Seen, key: Key) -> None:
    """The sentence names the failure and the next call, as `health` beside the jobs does."""
    # Its own words may quote a session of another organization.
    bench.evaluator.default = behave.reply(503, b"out of memory: zoe@example.org")
    bench.enqueue("s")
    for _ in range(10):
        bench.configure(evaluator_max_attempts=20)
        bench.run_later()
    state = seen()
    assert (state["code"], state["job"]["attempt_count"]) == ("queued", 9)
    assert "the evaluator answered 503" in state["sentence"].lower()
    assert "zoe" not in state["sentence"]
    headers = key("evaluations:read")
    client = create_app(bench.runtime).test_client()
    health = client.get("/v1/evaluation-jobs?health=true", headers=headers).get_json()["health"]
    assert (health["state"], health["failures"]) == ("open", 10)
    assert health["last_error"] == "the evaluator answered 503"
    assert health["retry_at"] in state["sentence"]
    bench.evaluator.default = behave.scored()
    bench.pass_time(31)
    bench.run_later()
    assert seen()["code"] == "scored"
    health = client.get("/v1/evaluation-jobs?health=true", headers=headers).get_json()["health"]
    assert health == {
        "state": "ok",
        "since": None,
        "failures": 0,
        "last_error": None,
        "retry_at": None,
    }


def test_an_evaluation_that_ran_out_of_time(bench: Bench, seen: Seen) -> None:
    bench.evaluator.default = behave.pending("theirs", 1)
    bench.configure(evaluator_max_poll_duration_secs=1)
    bench.enqueue("s")
    bench.run()
    bench.pass_time(60)
    bench.run()
    assert seen()["code"] == "timeout"


def test_sessions_that_end_by_idleness(bench: Bench, seen: Seen) -> None:
    bench.config(inactivity_timeout_secs=900)
    bench.store("s", "agent_start")
    state = seen()
    assert state["code"] == "not_ended"
    assert "900 s" in state["sentence"]
    bench.pass_time(901)
    assert seen()["code"] == "waiting"
    bench.promote()
    assert seen()["code"] == "queued"


def test_a_session_of_many_turns_settles_until_it_is_idle(bench: Bench, seen: Seen) -> None:
    bench.store("s", *ENDED)
    bench.watch("s", has_end=True, idle_only=True)
    state = seen()
    assert state["code"] == "settling"
    assert "60 s" in state["sentence"]
    bench.pass_time(61)
    assert seen()["code"] == "waiting"


def test_states_without_an_evaluator_for_the_session(bench: Bench, seen: Seen) -> None:
    bench.store("s", *ENDED)
    bench.configure(evaluator_endpoint=None)
    assert seen()["code"] == "disabled"
    bench.configure(evaluator_orgs="others")
    state = seen()
    assert state["code"] == "not_for_organization"
    assert "EVALUATOR_ORGS" in state["sentence"]
    bench.configure()
    bench.sql("DELETE FROM watched_sessions WHERE org_id = :org_id")
    assert seen()["code"] == "before_evaluator"


def test_a_queued_job_without_an_evaluator_names_the_cause(bench: Bench, seen: Seen) -> None:
    bench.enqueue("s")
    bench.configure(evaluator_endpoint=None)
    state = seen()
    assert (state["code"], state["job"] is None) == ("queued", False)
    assert "EVALUATOR_ENDPOINT" in state["sentence"]


def test_a_live_job_counts_more_than_an_earlier_result(bench: Bench, seen: Seen) -> None:
    bench.enqueue("s")
    bench.run()
    assert seen()["code"] == "scored"
    bench.sql(
        "INSERT INTO evaluation_jobs (id, org_id, session_id, agent_id, environment, trigger,"
        " request_id, enqueued_at, next_attempt_at) VALUES (gen_random_uuid(), :org_id,"
        " 's', 'main', 'e', 'manual', '', now(), now())"
    )
    assert seen()["code"] == "queued"
    bench.sql("DELETE FROM evaluation_jobs WHERE org_id = :org_id AND trigger = 'manual'")
    assert seen()["code"] == "scored"

"""POST /evaluations/re-evaluate: many sessions, by the filters of their newest results."""

from collections.abc import Callable
from typing import Any

import pytest

from shared.evaluation.evaluation_jobs import bulk
from tests.support import evaluator as behave
from tests.support.app import Headers
from tests.support.jobs import Bench
from tests.workers.evaluation_jobs.conftest import bench, evaluator
from web.app import create_app

__all__ = ["bench", "evaluator"]

Ask = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def ask(bench: Bench, key: Callable[..., Headers]) -> Ask:
    """Sends the request and returns status and body."""
    headers = key("evaluations:trigger")

    def send(**body: object) -> tuple[int, dict[str, Any]]:
        client = create_app(bench.runtime).test_client()
        answer = client.post("/v1/evaluations/re-evaluate", json=body, headers=headers)
        return answer.status_code, answer.get_json()

    return send


@pytest.fixture
def failed(bench: Bench) -> Bench:
    """Three sessions, of which two failed, and one of these succeeded later."""
    bench.evaluator.script = [behave.reply(400)] * 2
    for name in ("failed", "mended"):
        bench.enqueue(name)
        bench.run()
    bench.enqueue("fine")
    bench.run()
    return bench


def test_sessions_whose_newest_result_matches_are_queued(failed: Bench, ask: Ask) -> None:
    assert ask(status="error")[1] == {"sessions": 2, "queued": 2, "dry_run": False}
    failed.sql("DELETE FROM evaluation_jobs WHERE session_id = 'failed' AND status = 'pending'")
    failed.run()
    assert ask(status="error", dry_run=True) == (
        202,
        {"sessions": 1, "queued": 0, "dry_run": True},
    )
    assert ask(status="error,timeout")[1] == {"sessions": 1, "queued": 1, "dry_run": False}
    assert ask(status="error")[1] == {"sessions": 1, "queued": 0, "dry_run": False}, "it is live"
    failed.run()
    assert {one.session_id for one in failed.results() if one.status == "done"} == {
        "failed",
        "mended",
        "fine",
    }


@pytest.mark.parametrize(
    ("body", "sessions"),
    [
        ({}, 3),
        ({"session_id": "failed,fine"}, 2),
        ({"ts_to": "2020-01-01T00:00:00Z"}, 0),
        ({"environment": "elsewhere"}, 0),
        ({"score_filters": "task_success:0.5..2"}, 1),
    ],
)
def test_the_filters_of_the_list_choose(
    failed: Bench, ask: Ask, body: dict[str, str], sessions: int
) -> None:
    assert ask(**body, dry_run=True)[1]["sessions"] == sessions
    assert not [job for job in failed.jobs() if job["status"] == "pending"]


def test_refused_requests(failed: Bench, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(status="bad")[0] == 422
    assert ask(dry_run="yes")[0] == 422
    monkeypatch.setattr(bulk, "MAX_SESSIONS", 2)
    status, body = ask()
    assert (status, list(body["fields"])) == (422, ["ts_from"])
    failed.configure(evaluator_endpoint=None)
    assert ask()[1]["code"] == "evaluator_disabled"
    failed.configure(evaluator_orgs="others")
    assert ask()[0] == 403

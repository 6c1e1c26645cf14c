"""Push evaluators, from the end of a session to the stored result."""

import json
from uuid import UUID

from tests.support import evaluator as behave
from tests.support.runs import RunBench


def test_each_evaluator_gets_a_session_that_ended_once(bench: RunBench) -> None:
    for key in ("policy", "tone"):
        bench.add(key)
    bench.end("s")
    assert bench.run() == 2
    bench.end("s")
    assert bench.run() == 0
    found = {one.evaluator: one for one in bench.results()}
    assert found.keys() == {"policy", "tone"}
    one = found["policy"]
    assert (one.evaluator_version, one.trigger, one.status) == ("1", "agent_end", "done")
    assert one.scores == {"task_success": 1.0}
    assert one.covered_events == 2
    assert {run["id"] for run in map(dict, bench.runs())} == {
        UUID(one.evaluation_id) for one in found.values()
    }


def test_a_request_names_what_it_is_for(bench: RunBench) -> None:
    bench.add("policy")
    bench.end("s")
    bench.run()
    [request] = bench.server.requests
    assert request.headers["x-watchpost-evaluator"] == "policy@1"
    [run] = bench.runs()
    assert request.headers["idempotency-key"] == str(run["id"])
    body = json.loads(request.body)
    assert body["evaluator"] == "policy"
    assert body["evaluator_version"] == "1"
    assert body["trigger"] == "agent_end"
    assert body["revision"] == run["revision"]
    assert len(body["events"]) == 2


def test_events_after_the_trigger_are_not_sent(bench: RunBench) -> None:
    bench.add("policy")
    bench.end("s")
    bench.store("s", "agent_start", at=5)
    bench.run()
    [request] = bench.server.requests
    assert len(json.loads(request.body)["events"]) == 2


def test_a_failure_is_tried_again(bench: RunBench) -> None:
    bench.add("policy", max_attempts=2)
    bench.server.default = behave.reply(503)
    bench.end("s")
    bench.run()
    [run] = bench.runs()
    assert (run["status"], run["attempt_count"]) == ("pending", 1)
    bench.pass_time(60)
    bench.run()
    [found] = bench.results()
    assert (found.status, found.attempt_count) == ("error", 2)


def test_an_answer_has_results_of_all_kinds(bench: RunBench) -> None:
    bench.add("policy")
    answer = {
        "results": [
            {"key": "refund", "kind": "assertion", "value": False, "reasoning": "none was asked"},
            {"key": "tone", "kind": "category", "value": "warm", "labels": ["a"]},
            {"key": "seconds", "value": 2.5, "unit": "s"},
            {"key": "note", "kind": "text", "value": "écrit"},
        ],
        "summary": "four",
        "usage": {"input_tokens": 10, "output_tokens": 2, "cost_usd": 0.25},
    }
    bench.server.default = behave.reply(200, answer)
    bench.end("s")
    bench.run()
    [found] = bench.results()
    assert [(one.key, one.kind, one.value) for one in found.results] == [
        ("refund", "assertion", False),
        ("tone", "category", "warm"),
        ("seconds", "number", 2.5),
        ("note", "text", "écrit"),
    ]
    assert found.results[0].passed is False
    assert found.results[0].reasoning == "none was asked"
    assert found.results[1].labels == ("a",)
    assert found.results[2].unit == "s"
    assert found.scores == {"refund": 0.0, "seconds": 2.5}
    assert (found.input_tokens, found.output_tokens, found.cost_usd) == (10, 2, 0.25)
    [month] = bench.sql("SELECT tokens, usd FROM evaluator_months WHERE org_id = :org_id")
    assert (month["tokens"], float(month["usd"])) == (12, 0.25)


def test_a_value_outside_of_its_kind_keeps_none(bench: RunBench) -> None:
    bench.add("policy")
    values = [{"key": "a", "value": 1}, {"key": "b", "kind": "score", "value": 2}]
    bench.server.default = behave.reply(200, {"results": values})
    bench.end("s")
    bench.run()
    [found] = bench.results()
    assert (found.status, found.results, found.scores) == ("error", (), None)
    assert '"b"' in (found.error or "")


def test_secrets_are_sent_and_never_stored(bench: RunBench) -> None:
    evaluator_id = bench.add("policy")
    bench.set_secrets(evaluator_id, {"token": "hush-1", "header:X-Key": 'a"b'})
    bench.server.default = behave.reply(200, {"results": [], "summary": 'hush-1 and a"b were sent'})
    bench.end("s")
    bench.run()
    [request] = bench.server.requests
    assert request.headers["authorization"] == "Bearer hush-1"
    assert request.headers["x-key"] == 'a"b'
    [found] = bench.results()
    assert found.summary == "[secret] and [secret] were sent"


def test_secrets_of_another_address_stay(bench: RunBench) -> None:
    evaluator_id = bench.add("policy")
    bench.set_secrets(evaluator_id, {"token": "hush-1"}, origin="https://elsewhere.example")
    bench.end("s")
    bench.run()
    [request] = bench.server.requests
    assert "authorization" not in request.headers


def test_an_address_that_is_not_public_is_not_called(bench: RunBench) -> None:
    bench.add("policy", max_attempts=1)
    bench.allow_private = None
    bench.end("s")
    bench.run()
    assert bench.server.requests == []
    [found] = bench.results()
    assert "EVALUATOR_ALLOW_PRIVATE" in (found.error or "")

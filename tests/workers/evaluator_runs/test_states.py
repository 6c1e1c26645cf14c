"""The states of a session for each evaluator."""

from shared.evaluation.runs.state.reading import EvaluatorState, states_of
from shared.reading.sessions import facts
from tests.support import evaluator as behave
from tests.support.runs import RunBench


def states(bench: RunBench, session_id: str = "s") -> dict[str, EvaluatorState]:
    found = facts.find(bench.runtime.clickhouse, bench.org.id, session_id)
    assert found is not None
    return {one.evaluator: one for one in states_of(bench.runtime, bench.org.uuid, found)}


def test_each_evaluator_has_a_reason_and_its_newest_result(bench: RunBench) -> None:
    bench.add("applies")
    bench.add("errors", condition={"field": "error_count", "op": ">", "value": 0})
    bench.add("none", sample=0)
    bench.end("s")
    before = states(bench)
    assert {key: one.reason.code for key, one in before.items()} == {
        "applies": "queued",
        "errors": "not_applicable",
        "none": "not_sampled",
    }
    assert before["applies"].job is not None
    bench.run()
    scored = states(bench)["applies"]
    assert scored.reason.code == "scored"
    assert scored.job is None
    assert scored.latest is not None
    assert not scored.stale


def test_a_result_is_stale_once_there_are_newer_events(bench: RunBench) -> None:
    bench.add("policy")
    bench.end("s")
    bench.run()
    bench.end("s")  # the same events again
    assert not states(bench)["policy"].stale
    bench.store("s", "tool_use", at=7)
    assert states(bench)["policy"].stale


def test_a_failure_says_why(bench: RunBench) -> None:
    bench.add("policy", max_attempts=1)
    bench.server.default = behave.reply(400, {"error": "no such policy"})
    bench.end("s")
    bench.run()
    reason = states(bench)["policy"].reason
    assert reason.code == "error"
    assert "no such policy" in reason.sentence

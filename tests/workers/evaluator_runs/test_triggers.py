"""From the events of a session to its runs."""

from collections.abc import Sequence

import pytest

from shared.evaluation.runs import triggers
from shared.foundation.core.errors import QueryTimeout
from tests.support.runs import RunBench


def keys_of(bench: RunBench) -> Sequence[str]:
    return [run["key"] for run in bench.runs()]


def test_nothing_is_watched_without_an_evaluator(bench: RunBench) -> None:
    bench.store("s", "agent_start", "agent_end")
    assert not bench.watch("s", has_end=True)
    assert bench.sql("SELECT 1 FROM session_triggers WHERE org_id = :org_id") == []
    bench.add("off", enabled=False)
    assert not bench.watch("s", has_end=True)


def test_an_end_that_settled_makes_a_run_of_each_evaluator(bench: RunBench) -> None:
    bench.add("a")
    bench.add("b")
    bench.store("s", "agent_start", "agent_end")
    assert bench.trigger() == 0
    bench.pass_time(2)
    assert bench.trigger() == 2
    assert keys_of(bench) == ["a", "b"]
    bench.watch("s", has_end=True)
    bench.pass_time(60)
    assert bench.trigger() == 0


def test_each_evaluator_has_its_own_time_of_idleness(bench: RunBench) -> None:
    bench.add("soon", idle_secs=60)
    bench.add("late", idle_secs=600)
    bench.add("at_the_end")
    bench.store("s", "agent_start")
    bench.pass_time(60)
    assert bench.trigger() == 1
    assert keys_of(bench) == ["soon"]
    bench.pass_time(540)
    assert bench.trigger() == 1
    assert keys_of(bench) == ["late", "soon"]
    assert {run["trigger"] for run in bench.runs()} == {"inactivity"}


def test_a_condition_decides(bench: RunBench) -> None:
    bench.add("errors", condition={"field": "error_count", "op": ">", "value": 0})
    bench.add("ends", condition={"field": "ended", "op": "is", "value": True})
    bench.end("s")
    assert keys_of(bench) == ["ends"]


def test_a_sample_holds_some_sessions(bench: RunBench) -> None:
    bench.add("none", sample=0)
    bench.add("half", sample=50)
    bench.end(*(f"s{number}" for number in range(40)))
    sampled = [run["session_id"] for run in bench.runs() if run["key"] == "half"]
    assert 5 < len(sampled) < 35
    assert set(keys_of(bench)) == {"half"}


def test_a_budget_ends_runs(bench: RunBench) -> None:
    bench.add("two", budget={"evaluations": 2, "tokens": None, "usd": None})
    bench.end("a", "b", "c")
    assert len(bench.runs()) == 2
    [month] = bench.sql("SELECT evaluations FROM evaluator_months WHERE org_id = :org_id")
    assert month["evaluations"] == 2


def test_later_events_are_evaluated_where_they_should_be(bench: RunBench) -> None:
    bench.add("once")
    bench.add("each", rescore="each_end")
    bench.end("s")
    assert bench.run() == 2
    bench.store("s", "agent_start", "agent_end", at=5)
    bench.pass_time(60)
    assert bench.trigger() == 1
    first, second = (run for run in bench.runs() if run["key"] == "each")
    assert (first["covered_events"], second["covered_events"]) == (2, 4)


def test_events_that_are_sent_again_are_not_evaluated_again(bench: RunBench) -> None:
    bench.add("each", rescore="each_end")
    bench.end("s")
    bench.run()
    bench.end("s")
    assert len(bench.runs()) == 1


def test_a_trigger_during_a_run_is_kept_for_its_end(bench: RunBench) -> None:
    bench.add("each", rescore="each_end")
    bench.end("s")
    bench.store("s", "agent_start", "agent_end", at=5)
    bench.pass_time(60)
    assert bench.trigger() == 0
    bench.run()
    bench.pass_time(60)
    assert bench.trigger() == 1


def test_a_condition_that_takes_too_long_delays_its_session(
    bench: RunBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.add("errors", condition={"field": "ended", "op": "is", "value": True})

    def slow(*_: object) -> dict[str, None]:
        raise QueryTimeout("the query ran longer than its limit")

    with monkeypatch.context() as patched:
        patched.setattr(triggers, "decide", slow)
        bench.end("s")
    assert bench.runs() == []
    assert bench.trigger() == 0
    bench.pass_time(triggers.DELAY_SECS)
    assert bench.trigger() == 1

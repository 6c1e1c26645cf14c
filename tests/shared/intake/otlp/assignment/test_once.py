"""Nothing that is sent again, or announced before, is stored twice."""

import json

import msgspec
import pytest

from shared.intake.otlp.records import SpanEvent
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.evaluations.listing import page
from tests.support.assignment_desk import ROOT, START_NS, Desk, model_call, of
from tests.support.otlp_samples import sample
from tests.support.records import make_span


@pytest.mark.parametrize("finished_first", [False, True])
def test_the_finished_span_wins_over_its_pending_one(desk: Desk, finished_first: bool) -> None:
    started = make_span(
        span=9,
        parent_id=ROOT.span_id,
        start_ns=ROOT.start_ns,
        attributes={
            "session.id": "turns",
            "gen_ai.operation.name": "invoke_agent",
            "logfire.span_type": "pending_span",
            "logfire.pending_parent_id": "0" * 16,
        },
    )
    order = [of(started), of(ROOT)]
    for one in reversed(order) if finished_first else order:
        desk.send(one)
        desk.assign()
    [start, end] = desk.finish()
    assert (start[2], end[2]) == ("agent_start", "agent_end")
    assert json.loads(str(start[5]))["goal"] == "find it"
    rows = desk.runtime.clickhouse.rows(
        "SELECT payload FROM events WHERE org_id = {org_id:String} AND event_type = 'agent_start'"
        " ORDER BY arrival LIMIT 1",
        {"org_id": desk.org.id},
    )
    assert rows == [(start[5],)], "every reader that takes the first arrival sees it"


def test_a_pending_span_is_visible_before_its_end(desk: Desk) -> None:
    [started, *_] = sample("pydantic-ai-logfire-native")
    desk.send(started)
    desk.assign()
    desk.store()
    assert {event[2] for event in desk.events()} == {"agent_start", "model_request"}


def test_a_request_three_times_is_stored_once(desk: Desk) -> None:
    request = of(ROOT, model_call(2, ROOT.span_id))
    for _ in range(3):
        desk.send(request)
        desk.assign()
    desk.finish()
    assert desk.counted() == (4, 4)


def test_a_resend_after_everything_was_forgotten_is_stored_once(desk: Desk) -> None:
    request = of(ROOT, model_call(2, ROOT.span_id))
    # A merge would leave one copy of each event.
    desk.runtime.clickhouse.execute("SYSTEM STOP MERGES events")
    try:
        desk.send(request)
        desk.finish()
        desk.runtime.redis.flushdb()
        desk.send(request)
        desk.finish()
        assert desk.counted() == (8, 4), "twice in the stream, once for readers"
    finally:
        desk.runtime.clickhouse.execute("SYSTEM START MERGES events")


def test_evaluations_become_results_once(desk: Desk) -> None:
    event = SpanEvent(
        "gen_ai.evaluation.result",
        START_NS + 5000,
        {"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.value": 0.5},
    )
    judged = msgspec.structs.replace(ROOT, events=[event])
    for _ in range(2):
        desk.send(of(judged))
        desk.finish()
        desk.runtime.redis.flushdb()
    wanted = EvaluationFilters()
    [result] = page(desk.runtime.clickhouse, desk.org.id, wanted, limit=10, cursor=None).rows
    assert (result.session_id, result.status, result.scores) == ("turns", "done", {"tone": 0.5})
    assert result.attempt_count == 1


def test_results_have_no_redacted_values(desk: Desk) -> None:
    desk.choose("redaction.payload_keys", ["explanation", "label"])
    attributes = {
        "gen_ai.evaluation.name": "tone",
        "gen_ai.evaluation.score.value": 0.5,
        "gen_ai.evaluation.score.label": "calm",
        "gen_ai.evaluation.explanation": "a secret",
    }
    event = SpanEvent("gen_ai.evaluation.result", START_NS + 5000, attributes)
    desk.send(of(msgspec.structs.replace(ROOT, events=[event])))
    desk.finish()
    wanted = EvaluationFilters()
    [result] = page(desk.runtime.clickhouse, desk.org.id, wanted, limit=10, cursor=None).rows
    assert result.scores == {"tone": 0.5}
    assert (result.summary, result.reasoning) == ("[redacted]", {"tone": "[redacted]"})

"""Evaluations that come as events of spans."""

from typing import Any

from shared.intake.otlp.mapping import Assignment, span_evaluations
from tests.support.otlp_spans import (
    ORG,
    RESOURCE,
    SPAN_ID,
    START_NS,
    assignment_of,
    payloads_of,
    span,
    span_event,
)

EVALUATED: dict[str, Any] = {
    "gen_ai__evaluation__name": "relevance",
    "gen_ai__evaluation__score__value": 0.75,
    "gen_ai__evaluation__score__label": "good",
    "gen_ai__evaluation__explanation": "it answers",
    "gen_ai__evaluation__model": "judge",
}


def test_an_evaluation_is_an_event_and_a_row() -> None:
    at = START_NS + 5_000_000
    evaluated = span(events=[span_event("gen_ai.evaluation.result", at, **EVALUATED)])
    _, result, end = payloads_of(evaluated, "model")
    assert result["type"] == "evaluation_result"
    names = ("evaluation_name", "score", "label", "explanation", "request_id")
    assert [result[name] for name in names] == ["relevance", 0.75, "good", "it answers", SPAN_ID]
    assert "error" not in result
    assert end["otel"]["events"][0]["attributes"] == {"gen_ai.evaluation.model": "judge"}
    [row] = span_evaluations(ORG, evaluated, RESOURCE, assignment_of(evaluated, "model"))
    assert (row.status, row.scores, row.summary) == ("done", {"relevance": 0.75}, "good")
    assert (row.reasoning, row.error) == ({"relevance": "it answers"}, None)
    assert (row.attempt_count, row.completed_at) == (1, at // 1000)
    assert (row.org_id, row.session_id, row.agent_id) == (ORG, "a session", "shop")
    assert row.environment == "default"


def test_the_row_of_an_evaluation_has_an_id_of_its_own() -> None:
    event = span_event("gen_ai.evaluation.result", **EVALUATED)
    both = span(events=[event, event])
    where = Assignment("a session", "bot")
    rows = span_evaluations(ORG, both, RESOURCE, where)
    elsewhere = span_evaluations(ORG, both, RESOURCE, Assignment("another", "cat"))
    assert len({row.evaluation_id for row in rows}) == 2
    assert [row.evaluation_id for row in rows] == [row.evaluation_id for row in elsewhere]
    assert span_evaluations(ORG, span(events=[span_event("other")]), RESOURCE, where) == []


def test_an_evaluation_that_failed() -> None:
    failed: dict[str, Any] = {"error__type": "timeout", "gen_ai__evaluation__score__value": "x"}
    evaluated = span(events=[span_event("gen_ai.evaluation.result", **failed)])
    result = payloads_of(evaluated, "model")[1]
    assert (result["error"], result["error_type"]) == ("timeout", "timeout")
    assert not {"score", "label", "explanation", "evaluation_name"} & result.keys()
    [row] = span_evaluations(ORG, evaluated, RESOURCE, assignment_of(evaluated, "model"))
    assert (row.status, row.error, row.scores) == ("error", "timeout", None)
    assert (row.reasoning, row.summary) == (None, None)

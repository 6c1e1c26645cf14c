"""The meaning of the evaluator's answers."""

import json
from datetime import UTC, datetime

import pytest

from shared.evaluation.evaluation_jobs.answers import (
    Answer,
    AttemptFailure,
    NoEvaluatorAnswer,
    Pending,
    Reading,
    Refusal,
    read,
)
from shared.evaluation.evaluation_jobs.result import JobResult

NOW = datetime(2026, 11, 1, 8, 0, 0, tzinfo=UTC)


def reading(body: object, status: int = 200) -> Reading:
    packed = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read(Answer(status, packed), NOW)


def scored(
    scores: dict[str, float] | None, reasoning: dict[str, str] | None, summary: str | None
) -> JobResult:
    return JobResult(status="done", scores=scores, reasoning=reasoning, summary=summary)


def test_a_synchronous_answer_is_the_result() -> None:
    body = {"scores": {"a": 1, "b": 0.25}, "reasoning": {"a": "why"}, "summary": "fine", "x": [1]}
    assert reading(body) == scored({"a": 1.0, "b": 0.25}, {"a": "why"}, "fine")


@pytest.mark.parametrize("field", ["scores", "reasoning", "summary"])
def test_each_field_of_a_result_may_be_missing_or_null(field: str) -> None:
    body = {"scores": {"a": 1.0}, "reasoning": {"a": "r"}, "summary": "s"}
    without = {name: value for name, value in body.items() if name != field}
    result = reading(without)
    assert isinstance(result, JobResult)
    assert getattr(result, field) is None
    assert reading({**without, field: None}) == result


def test_all_null_is_a_result_without_scores() -> None:
    assert reading({"scores": None}) == scored(None, None, None)


def test_empty_maps_and_text_are_null() -> None:
    assert reading({"scores": {}, "reasoning": {}, "summary": ""}) == scored(None, None, None)


def test_a_job_id_means_pending() -> None:
    assert reading({"job_id": "j/1", "next_poll_secs": 2.5}) == Pending("j/1", 2.5)
    assert reading({"job_id": "j"}) == Pending("j", None)
    assert reading({"job_id": "j", "next_poll_secs": None}) == Pending("j", None)
    assert reading({"job_id": "j", "next_poll_secs": 3}, status=202) == Pending("j", 3.0)


def test_a_null_job_id_means_nothing() -> None:
    assert reading({"job_id": None, "scores": {"a": 1}}) == scored({"a": 1.0}, None, None)


def test_the_status_decides_before_the_other_fields() -> None:
    both = {"job_id": "j", "scores": {"a": 1}}
    assert reading({**both, "status": "done"}) == scored({"a": 1.0}, None, None)
    assert reading({**both, "status": "pending"}) == Pending("j", None)
    assert reading({**both, "status": "error", "error": "no"}) == Refusal("no")
    assert reading({**both, "status": None}) == Pending("j", None)
    assert reading({"status": "done"}) == scored(None, None, None)
    assert reading({"status": "pending"}) == Pending(None, None)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"error": "broken", "message": "m"}, "broken"),
        ({"message": "m"}, "m"),
        ({"error": {"code": 1}, "summary": "s"}, "s"),
        ({}, "the evaluator answered with status error"),
    ],
)
def test_an_error_says_why_if_it_says_so(body: dict[str, object], error: str) -> None:
    assert reading({"status": "error", **body}) == Refusal(error)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"{",
        b'{"scores": {"a": NaN}}',
        b'{"scores": {"a": Infinity}}',
        b'{"scores": {"\xff": 1}}',
        b"[" * 200_000,
        b'{"scores": {"a": 1}, "x": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
        b"\x1f\x8b\x08\x00",
    ],
)
def test_invalid_json_is_refused(body: bytes) -> None:
    assert isinstance(reading(body), Refusal)


@pytest.mark.parametrize(
    "body",
    [
        [],
        7,
        "done",
        None,
        {},
        {"unknown": 1},
        {"scores": [1]},
        {"scores": {"a": "1"}},
        {"scores": {"a": None}},
        {"scores": {"a": True}},
        {"scores": 1},
        {"reasoning": {"a": 1}},
        {"summary": 5},
        {"job_id": 5},
        {"job_id": ""},
        {"job_id": "a\x00b"},
        {"job_id": "x" * 1025},
        {"job_id": "j", "next_poll_secs": "2"},
        {"status": "finished"},
        {"status": "finished", "scores": {}},
        {"status": "finished", "scores": None, "summary": "s"},
        {"status": "finished", "scores": {"a": "1"}},
        {"status": 1, "job_id": "j"},
    ],
)
def test_a_body_of_another_shape_is_refused(body: object) -> None:
    assert isinstance(reading(body), Refusal)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 400])
def test_scores_are_finite(number: str) -> None:
    assert isinstance(reading(f'{{"scores": {{"a": {number}}}}}'.encode()), Refusal)


def test_an_answer_that_is_too_large_is_refused() -> None:
    assert isinstance(read(Answer(200, None), NOW), Refusal)


@pytest.mark.parametrize("status", ["finished", "", "Done", 1, True, {"code": 0}])
def test_an_unknown_status_does_not_keep_valid_scores_out(status: object) -> None:
    body = {"status": status, "scores": {"a": 1}, "summary": "s", "job_id": "j"}
    assert reading(body) == scored({"a": 1.0}, None, "s")


@pytest.mark.parametrize("status", [301, 302, 303, 304, 307, 308])
def test_redirects_are_refused(status: int) -> None:
    assert isinstance(reading({"scores": {"a": 1}}, status), Refusal)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 422, 451, 499])
def test_client_errors_are_refused_with_their_text(status: int) -> None:
    assert reading(b"no\n such  thing", status) == Refusal(
        f"the evaluator answered {status}: no such thing", is_everyones=status == 401
    )


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_token_is_an_outage_and_no_refusal_of_the_session(status: int) -> None:
    found = read(Answer(status, b"", is_outage=True), NOW)
    assert found == AttemptFailure(f"the evaluator answered {status}", counts=False)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 501, 502, 503, 504, 599])
def test_a_temporary_refusal_is_retried(status: int) -> None:
    assert reading(b"", status) == AttemptFailure(f"the evaluator answered {status}")


def test_an_error_quotes_only_the_beginning() -> None:
    failed = read(Answer(500, b"\xff" + b"x" * 100_000), NOW)
    assert isinstance(failed, AttemptFailure)
    assert len(failed.error) < 500
    assert read(Answer(500, None), NOW) == AttemptFailure("the evaluator answered 500")


def test_no_answer_is_tried_again_and_keeps_its_kind() -> None:
    assert read(NoEvaluatorAnswer("slow", timed_out=True), NOW) == AttemptFailure(
        "slow", timed_out=True
    )
    assert read(NoEvaluatorAnswer("gone", timed_out=False), NOW) == AttemptFailure("gone")


def test_retry_after_is_read_from_every_status_that_says_later() -> None:
    for status in (408, 425, 429, 500, 503):
        failed = read(Answer(status, b"", retry_after="7"), NOW)
        assert isinstance(failed, AttemptFailure)
        assert failed.retry_after_secs == 7.0


def test_a_long_summary_is_cut_in_whole_characters() -> None:
    result = reading({"summary": "x" + "é" * 8192})
    assert isinstance(result, JobResult)
    assert result.summary == "x" + "é" * 4095

"""The meaning of the answers of /config, and the evaluator's name."""

import pytest

from shared.evaluation.evaluation_jobs.answers import Answer, NoEvaluatorAnswer
from shared.evaluation.evaluation_jobs.evaluator_config import (
    EvaluatorTimings,
    evaluator_name,
    read_config,
)
from shared.foundation.core.config import Settings
from shared.foundation.core.metrics.kinds import OTHER


@pytest.mark.parametrize(
    ("body", "config"),
    [
        (
            b'{"inactivity_timeout_secs": 30, "default_poll_interval_secs": 2.5}',
            EvaluatorTimings(30.0, 2.5),
        ),
        (b'{"inactivity_timeout_secs": 30, "unknown": true}', EvaluatorTimings(30.0, None)),
        (b'{"inactivity_timeout_secs": null}', EvaluatorTimings()),
        (b'{"inactivity_timeout_secs": 0}', EvaluatorTimings()),
        (b'{"inactivity_timeout_secs": -1}', EvaluatorTimings()),
        (b'{"default_poll_interval_secs": 0}', EvaluatorTimings(None, 0.0)),
        (b"{}", EvaluatorTimings()),
    ],
)
def test_both_values_are_optional_and_a_timeout_is_positive(
    body: bytes, config: EvaluatorTimings
) -> None:
    assert read_config(Answer(200, body)) == config


@pytest.mark.parametrize("status", [404, 405, 410, 501])
def test_an_evaluator_without_the_route_has_no_config(status: int) -> None:
    assert read_config(Answer(status, b"")) == EvaluatorTimings()


@pytest.mark.parametrize(
    "answer",
    [
        NoEvaluatorAnswer("slow", timed_out=True),
        Answer(500, b""),
        Answer(401, b""),
        Answer(302, b""),
        Answer(200, b"<html>"),
        Answer(200, b"[]"),
        Answer(200, b'{"inactivity_timeout_secs": "30"}'),
        Answer(200, b'{"inactivity_timeout_secs": NaN}'),
        Answer(200, b"[" * 100_000),
        Answer(200, None),
    ],
)
def test_an_unreadable_config_is_ignored(answer: Answer | NoEvaluatorAnswer) -> None:
    assert read_config(answer) is None


@pytest.mark.parametrize(
    ("endpoint", "name"),
    [
        (None, "none"),
        ("https://Scores.example.com/team/a?key=k#f", "scores.example.com"),
        ("http://user:secret@[::1]:8080/path", "::1:8080"),
        ("http://user:pa/ss@host", OTHER),
        ("http://[broken", OTHER),
        ("http:///path", OTHER),
    ],
)
def test_its_name_in_metrics_is_host_and_port_alone(endpoint: str | None, name: str) -> None:
    settings = Settings(
        database_url="postgresql://x",
        redis_url="redis://x",
        clickhouse_url="clickhouse://x",
        evaluator_endpoint=endpoint,
    )
    assert evaluator_name(settings) == name

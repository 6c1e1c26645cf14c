"""Analysts' questions work, with the answers that plain Python computes from the same events."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from tests.security.sql.answers import ANSWERS
from tests.security.sql.questions import PARAMS, QUESTIONS
from tests.security.sql.recorded import Recording, record
from tests.support.app import Headers, new_key

Rows = list[list[Any]]


@pytest.fixture(scope="module")
def recording(runtime: Runtime) -> Recording:
    return record(runtime)


@pytest.fixture(scope="module")
def headers(runtime: Runtime, recording: Recording) -> Headers:
    return new_key(runtime, recording.org, ["queries:run"])


def rows_of(client: FlaskClient, headers: Headers, sql: str, params: object = None) -> Rows:
    body = {"sql": sql, "params": params}
    answer = client.post("/v1/queries/run", json=body, headers=headers)
    assert answer.status_code == 200, answer.get_json()
    rows: Rows = answer.get_json()["rows"]
    return rows


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_question_is_answered(client: FlaskClient, headers: Headers, name: str) -> None:
    assert rows_of(client, headers, QUESTIONS[name], PARAMS.get(name))


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_what_python_finds(
    client: FlaskClient, headers: Headers, recording: Recording, name: str
) -> None:
    sql, params, expected = ANSWERS[name]
    assert rows_of(client, headers, sql, params) == expected(recording)


def test_there_are_a_hundred_questions_and_more() -> None:
    assert len(QUESTIONS) > 150
    assert PARAMS.keys() <= QUESTIONS.keys()
    assert len(ANSWERS) > 35

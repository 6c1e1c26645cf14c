"""Secrets over HTTP: set, removed, and in no answer, log or audit line."""

import json
import secrets
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from msgspec.structs import replace
from structlog.testing import capture_logs

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.document import Document
from tests.support.own_evaluators import VERSIONS
from web import document
from web.app import create_app

Key = Callable[..., Headers]

PATH = "/v1/evaluators"


def create(client: FlaskClient, headers: Headers, key: str, kind: str, **body: Any) -> None:
    wanted = {"key": key, "kind": kind, "version": VERSIONS[kind], **body}
    assert client.post(PATH, json=wanted, headers=headers).status_code == 201


def test_secrets_are_set_and_removed(client: FlaskClient, key: Key) -> None:
    headers = key()
    create(client, headers, "own", "push")
    path = f"{PATH}/own/secrets"

    def after(**body: Any) -> dict[str, Any]:
        answer = client.put(path, json=body, headers=headers)
        assert answer.status_code == 200, answer.get_json()
        found: dict[str, Any] = answer.get_json()["secrets"]
        return found

    assert after(token="a", headers={"X-B": "b", "X-A": "a"}) == {
        "token": True,
        "api_key": False,
        "headers": ["X-A", "X-B"],
    }
    assert after() == after(headers={"X-C": None})
    expected = {"token": False, "api_key": False, "headers": ["X-B"]}
    assert after(token=None, headers={"X-A": None}) == expected
    assert client.get(f"{PATH}/own", headers=headers).get_json()["secrets"] == expected
    refused = client.put(path, json={"headers": {"X-B": 5}}, headers=headers)
    assert list(refused.get_json()["fields"]) == ["headers.X-B"]
    refused = client.put(path, json={"api_key": "a"}, headers=headers)
    assert list(refused.get_json()["fields"]) == ["api_key"]


def test_a_secret_without_an_active_version_is_refused(client: FlaskClient, key: Key) -> None:
    headers = key()
    create(client, headers, "own", "push", version=None)
    refused = client.put(f"{PATH}/own/secrets", json={"token": "a"}, headers=headers)
    assert (refused.status_code, refused.get_json()["code"]) == (409, "no_version")


@pytest.mark.parametrize("secrets_key", [None, "a key of the tests, long enough"])
def test_no_answer_log_or_audit_line_has_a_secret(
    web_runtime: Runtime, key: Key, secrets_key: str | None
) -> None:
    canary = f"hush{secrets.token_hex(8)}"
    runtime = Runtime(
        replace(web_runtime.settings, secrets_key=secrets_key),
        web_runtime.postgres,
        web_runtime.clickhouse,
        web_runtime.redis,
        web_runtime.broker,
        web_runtime.queue,
    )
    app: Flask = create_app(runtime)
    client, headers = app.test_client(), key()
    said: list[str] = []
    with capture_logs() as logged:
        given = {"token": f"{canary}-1", "headers": {"X-Key": f"{canary}-2"}}
        create(client, headers, "pushed", "push", secrets=given)
        create(client, headers, "judged", "judge", secrets={"api_key": f"{canary}-3"})
        for name, body in (
            ("pushed", {"token": f"{canary}-4", "headers": {"X-Key": f"{canary}-5"}}),
            ("pushed", {"token": f"{canary}\n"}),
            ("pushed", {"headers": {"X-Key": [canary]}}),
            ("pushed", {"headers": {"Authorization": canary}}),
            ("judged", {"api_key": f"{canary}-6", "token": canary}),
        ):
            answer = client.put(f"{PATH}/{name}/secrets", json=body, headers=headers)
            said.append(answer.get_data(as_text=True))
        pool = client.post("/v1/evaluator-pools", json={"name": "p"}, headers=headers).get_json()
        renewed = client.post(f"/v1/evaluator-pools/{pool['id']}/token", headers=headers)
        tokens = [pool["token"], renewed.get_json()["token"]]
        said += [answer for _, answer in read_all(client, headers)]
    assert len(said) > 60
    for text in [*said, json.dumps(logged, default=str)]:
        for secret in (canary, *tokens):
            assert secret not in text


def read_all(client: FlaskClient, headers: Headers) -> list[tuple[str, str]]:
    """Returns the answer of every route that reads, with the ids of what is there."""
    described = Document(json.loads(document.FILE.read_text()))
    ids = {"{key}": "pushed", "{version}": "1"}
    answers = []
    for method, template, operation in described.operations():
        if method != "GET" or not operation["security"]:
            continue
        path = template
        for name, value in ids.items():
            path = path.replace(name, value) if template.startswith(PATH) else path
        if "{" in path:
            continue
        query = {"noun": "evaluator,evaluator_version,evaluator_pool"}
        wanted = query if template.startswith("/v1/audit-log") else None
        answer = client.get(path, query_string=wanted, headers=headers)
        answers.append((path, answer.get_data(as_text=True)))
    assert {f"{PATH}/pushed", f"{PATH}/pushed/versions/1", "/v1/audit-log"} <= {
        path for path, _ in answers
    }
    return answers

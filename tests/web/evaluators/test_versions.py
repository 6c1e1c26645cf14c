"""Versions of evaluators over HTTP: published once, read back, activated."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.support.app import Headers
from tests.support.own_evaluators import URL, VERSIONS

Key = Callable[..., Headers]

OWN = "/v1/evaluators/refund_policy"
CONDITION = {"all": [{"field": "environment", "op": "in", "value": ["production"]}]}
WHOLE = {
    "version": "2026-11 / a",
    "note": "stricter",
    "spec": {"url": URL, "headers": {"X-Team": "a"}},
    "condition": CONDITION,
    "results": [{"key": "right", "kind": "assertion", "title": "Refund was right"}],
    "large": "turns",
}


@pytest.fixture
def headers(client: FlaskClient, key: Key) -> Headers:
    """A key of an organization with an evaluator without versions."""
    made = key()
    body = {"key": "refund_policy", "kind": "push"}
    assert client.post("/v1/evaluators", json=body, headers=made).status_code == 201
    return made


def publish(client: FlaskClient, headers: Headers, **body: Any) -> TestResponse:
    return client.post(f"{OWN}/versions", json={**VERSIONS["push"], **body}, headers=headers)


def active(client: FlaskClient, headers: Headers) -> str | None:
    found: str | None = client.get(OWN, headers=headers).get_json()["active_version"]
    return found


def test_a_version_is_read_back(client: FlaskClient, headers: Headers) -> None:
    answer = publish(client, headers, **WHOLE)
    assert answer.status_code == 201
    row = answer.get_json()
    assert row == {
        "evaluator": "refund_policy",
        **WHOLE,
        "number": 1,
        "active": True,
        "checksum": row["checksum"],
        "published_by": row["published_by"],
        "published_at": row["published_at"],
        "evaluations": 0,
        "first_result_at": None,
        "last_result_at": None,
    }
    assert client.get(f"{OWN}/versions/2026-11%20%2F%20a", headers=headers).get_json() == row
    assert client.get(f"{OWN}/versions", headers=headers).get_json() == {"versions": [row]}
    assert client.get(f"{OWN}/versions/1", headers=headers).status_code == 404


def test_the_same_again_is_200_and_another_content_is_refused(
    client: FlaskClient, headers: Headers
) -> None:
    first = publish(client, headers, **WHOLE)
    again = publish(client, headers, **{**WHOLE, "note": "other"})
    assert again.status_code == 200
    assert again.get_json() == first.get_json()
    other = publish(client, headers, **{**WHOLE, "large": "cut"})
    assert other.status_code == 409
    assert other.get_json()["code"] == "version_exists"


def test_a_version_is_activated(client: FlaskClient, headers: Headers) -> None:
    publish(client, headers, version="a")
    publish(client, headers, version="b", activate=False)
    assert active(client, headers) == "a"
    row = client.put(f"{OWN}/active", json={"version": "b"}, headers=headers).get_json()
    assert (row["active_version"], row["health"]["state"]) == ("b", "ok")
    row = client.put(f"{OWN}/active", json={"version": None}, headers=headers).get_json()
    assert (row["active_version"], row["health"]["state"]) == (None, "stopped")
    for bad in ({"version": "c"}, {"version": 1}, {}):
        refused = client.put(f"{OWN}/active", json=bad, headers=headers)
        assert refused.status_code == 422
        assert list(refused.get_json()["fields"]) == ["version"]


def test_every_change_is_a_line_of_the_audit_log(client: FlaskClient, headers: Headers) -> None:
    publish(client, headers, **WHOLE)
    client.put(f"{OWN}/secrets", json={"token": "hush-token"}, headers=headers)
    client.put(OWN, json={"enabled": False}, headers=headers)
    client.put(f"{OWN}/active", json={"version": None}, headers=headers)
    client.delete(OWN, headers=headers)
    query = {"noun": "evaluator,evaluator_version"}
    lines = client.get("/v1/audit-log", query_string=query, headers=headers).get_json()["lines"]
    assert [line["action"] for line in reversed(lines)] == [
        "evaluator.create",
        "evaluator_version.publish",
        "evaluator_version.activate",
        "evaluator.change_secrets",
        "evaluator.update",
        "evaluator_version.activate",
        "evaluator.delete",
    ]
    published = lines[-2]
    assert published["target"] == "refund_policy@2026-11 / a"
    assert published["after"]["spec"] == {
        "url": "https://evaluators.example.com/…",
        "headers": {"X-Team": None},
    }

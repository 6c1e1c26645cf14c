"""Conversations: each answer is checked against the OpenAPI document."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.document import Document
from tests.support.people import new_member
from tests.support.runtime import Org

LIST = "/v1/agent/conversations"
ONE = "/v1/agent/conversations/{conversation_id}"
MESSAGES = "/v1/agent/conversations/{conversation_id}/messages"


@pytest.fixture
def me(runtime: Runtime, org: Org) -> Headers:
    """A member with the set `standard`."""
    return new_member(runtime, org, permission_set="standard")


def test_every_answer_about_conversations_is_what_the_document_says(
    client: FlaskClient, document: Document, me: Headers
) -> None:
    made = document.require(client.post(LIST, json={"title": "t"}, headers=me), "POST", LIST)
    path = LIST + "/" + made["id"]
    contents: list[Any] = ["text", None, True, 1, 1.5, [], {"a": {"b": [1]}}]
    said = [{"role": "user", "content": content} for content in contents]
    answer = client.put(f"{path}/messages", json={"messages": said}, headers=me)
    assert document.require(answer, "PUT", MESSAGES)["message_count"] == 7
    assert document.require(client.get(path, headers=me), "GET", ONE)["messages"] == said
    renamed = client.patch(path, json={"title": "u"}, headers=me)
    row = document.require(renamed, "PATCH", ONE)
    listed = document.require(client.get(LIST, headers=me), "GET", LIST)
    assert listed == {"conversations": [row], "next_cursor": None}
    assert client.delete(path, headers=me).status_code == 204
    for method, template, suffix in (
        ("GET", ONE, ""),
        ("DELETE", ONE, ""),
        ("PATCH", ONE, ""),
        ("PUT", MESSAGES, "/messages"),
    ):
        body = {"title": "v", "messages": []}
        answer = client.open(path + suffix, method=method, json=body, headers=me)
        assert answer.status_code == 404
        document.require(answer, method, template)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"messages": [{"role": "user", "content": 1}] * 500}, 200),
        ({"messages": [{"role": "user", "content": 1}] * 501}, 422),
        ({"messages": [{"role": "system", "content": 1}]}, 422),
        ({"messages": [{"role": "user"}]}, 422),
        ({"messages": [{"role": "user", "content": "x" * 1_000_000}]}, 200),
        ({"messages": [{"role": "user", "content": "x" * 1_048_576}]}, 413),
        ([], 422),
    ],
)
def test_the_bounds_of_a_thread(
    client: FlaskClient, document: Document, me: Headers, body: Any, status: int
) -> None:
    made = client.post(LIST, headers=me).get_json()["id"]
    answer = client.put(f"{LIST}/{made}/messages", json=body, headers=me)
    assert answer.status_code == status
    document.require(answer, "PUT", MESSAGES)


def test_only_people_have_conversations(document: Document) -> None:
    for method, template in (
        ("GET", LIST),
        ("POST", LIST),
        ("GET", ONE),
        ("PATCH", ONE),
        ("DELETE", ONE),
        ("PUT", MESSAGES),
    ):
        operation = document.operation(method, template)
        assert operation["x-requires-user"] is True
        assert operation["x-required-permission"] == "agent:use"

"""The routes of conversations: access by the owner only, and unchanged content."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import update

from shared.assistant.conversations.models import Conversation
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.people import acting_as, add_member, new_email, new_member, signed_in
from tests.support.runtime import Org, make_org

Key = Callable[..., Headers]

PATH = "/v1/agent/conversations"
ONE: list[tuple[str, str, Any]] = [
    ("GET", "", None),
    ("PATCH", "", {"title": "theirs"}),
    ("DELETE", "", None),
    ("PUT", "/messages", {"messages": []}),
]


@pytest.fixture
def me(runtime: Runtime, org: Org) -> Headers:
    """A member with the set `standard`."""
    return new_member(runtime, org, permission_set="standard")


def start(client: FlaskClient, headers: Headers, title: str = "") -> str:
    """Starts a conversation and returns its id."""
    response = client.post(PATH, json={"title": title}, headers=headers)
    assert response.status_code == 201, response.data
    found: str = response.get_json()["id"]
    return found


def titles(client: FlaskClient, headers: Headers, query: str = "") -> list[str]:
    listed = client.get(PATH + query, headers=headers).get_json()["conversations"]
    return [row["title"] for row in listed]


def test_a_conversation_from_its_start_to_its_end(client: FlaskClient, me: Headers) -> None:
    path = f"{PATH}/{start(client, me)}"
    begun = client.get(path, headers=me).get_json()
    assert (begun["title"], begun["messages"]) == ("New conversation", [])
    assert begun["created_at"] == begun["updated_at"]
    said = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": [{"text": None}]}]
    put = client.put(f"{path}/messages", json={"messages": said}, headers=me).get_json()
    assert put["message_count"] == 2
    named = client.patch(path, json={"title": "  Why  "}, headers=me).get_json()
    read = client.get(path, headers=me).get_json()
    assert (read["title"], read["messages"]) == ("Why", said)
    assert begun["updated_at"] < put["updated_at"] < named["updated_at"] == read["updated_at"]
    assert read["created_at"] == begun["created_at"]
    deleted = client.delete(path, headers=me)
    assert (deleted.status_code, deleted.data) == (204, b"")
    assert "Content-Type" not in deleted.headers
    for method, suffix, body in ONE:
        response = client.open(path + suffix, method=method, json=body, headers=me)
        assert response.status_code == 404
    assert titles(client, me) == []


def test_messages_replace_those_of_before(client: FlaskClient, me: Headers) -> None:
    path = f"{PATH}/{start(client, me)}"
    for said in (["a", "b"], ["c"], []):
        messages = [{"role": "user", "content": one} for one in said]
        client.put(f"{path}/messages", json={"messages": messages}, headers=me)
        assert client.get(path, headers=me).get_json()["messages"] == messages


def test_contents_are_read_back_as_they_were_sent(client: FlaskClient, me: Headers) -> None:
    path = f"{PATH}/{start(client, me)}"
    kept = b'[{"role":"user","content":{"n":123456789012345678901234567890.10,"z":"\\u0000"}}]'
    sent = b'{"messages":' + kept + b"}"
    put = client.put(f"{path}/messages", data=sent, headers=me, content_type="application/json")
    assert put.status_code == 200
    assert client.get(path, headers=me).data.endswith(b'"messages":' + kept + b"}")


def test_the_newest_come_first_and_no_more_than_asked_for(client: FlaskClient, me: Headers) -> None:
    oldest, *_ = [start(client, me, title) for title in "abc"]
    client.patch(f"{PATH}/{oldest}", json={"title": "A"}, headers=me)
    assert titles(client, me) == ["c", "b", "A"]
    assert titles(client, me, "?limit=2") == ["c", "b"]


def test_pages_hold_each_conversation_once_while_others_are_made(
    client: FlaskClient, me: Headers, runtime: Runtime
) -> None:
    made = [start(client, me, title) for title in "abcdefg"]
    # Three conversations of one moment: only their ids order them.
    with runtime.postgres.transaction() as session:
        session.execute(
            update(Conversation)
            .where(Conversation.id.in_(made[2:5]))
            .values(created_at=datetime(2026, 3, 1, tzinfo=UTC))
        )
    pages, query = [], "?limit=2"
    while True:
        answer = client.get(PATH + query, headers=me).get_json()
        pages.append([row["id"] for row in answer["conversations"]])
        if answer["next_cursor"] is None:
            break
        query = f"?limit=2&cursor={answer['next_cursor']}"
        start(client, me, "new")
    assert [len(page) for page in pages] == [2, 2, 2, 1]
    assert [one for page in pages for one in page] == [
        *(made[number] for number in (6, 5, 1, 0)),
        *sorted(made[2:5]),
    ]


@pytest.mark.parametrize("cursor", ["x", "k6Fh", "gqFhAQ"])
def test_a_cursor_of_another_list_is_refused(client: FlaskClient, me: Headers, cursor: str) -> None:
    answer = client.get(f"{PATH}?cursor={cursor}", headers=me)
    assert (answer.status_code, list(answer.get_json()["fields"])) == (422, ["cursor"])


def test_a_list_counts_messages_and_does_not_show_them(client: FlaskClient, me: Headers) -> None:
    made = start(client, me)
    messages = [{"role": "user", "content": "a"}] * 3
    client.put(f"{PATH}/{made}/messages", json={"messages": messages}, headers=me)
    [row] = client.get(PATH, headers=me).get_json()["conversations"]
    assert row["message_count"] == 3
    assert "messages" not in row


@pytest.mark.parametrize(("method", "suffix", "body"), ONE)
def test_only_the_owner_finds_a_conversation(
    client: FlaskClient,
    runtime: Runtime,
    org: Org,
    web_runtime: Runtime,
    method: str,
    suffix: str,
    body: Any,
) -> None:
    email = new_email()
    user_id = add_member(runtime, org, email=email)
    elsewhere = make_org(runtime)
    add_member(runtime, elsewhere, email=email)
    made = start(client, signed_in(runtime, user_id, org.slug), "mine")
    others = [
        new_member(runtime, org),
        new_member(runtime, elsewhere),
        signed_in(runtime, user_id, elsewhere.slug),
    ]
    for headers in others:
        response = client.open(f"{PATH}/{made}{suffix}", method=method, json=body, headers=headers)
        assert (response.status_code, response.get_json()["code"]) == (404, "not_found")
        assert titles(client, headers) == []
    for id_ in ("nonsense", made.replace("-", ""), "00000000-0000-4000-8000-000000000000"):
        mine = acting_as(email, org.slug)
        response = client.open(f"{PATH}/{id_}{suffix}", method=method, json=body, headers=mine)
        assert response.status_code == 404
    assert titles(client, acting_as(email, org.slug)) == ["mine"]


@pytest.mark.parametrize(("method", "suffix", "body"), ONE)
def test_a_key_has_no_conversations(
    client: FlaskClient, key: Key, admin: Headers, method: str, suffix: str, body: Any
) -> None:
    for headers in (key("agent:use"), admin):
        response = client.open(f"{PATH}/x{suffix}", method=method, json=body, headers=headers)
        assert response.status_code == 403
        told = response.get_json()
        assert (told["code"], told["required_permission"]) == ("user_required", "agent:use")


def test_a_member_without_the_permission_has_none_either(
    client: FlaskClient, runtime: Runtime, org: Org
) -> None:
    reader = new_member(runtime, org, permission_set="read-only")
    response = client.get(PATH, headers=reader)
    assert response.status_code == 403
    assert response.get_json()["required_permission"] == "agent:use"


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("", "New conversation"),
        (" \n\t ", "New conversation"),
        (" a  b ", "a  b"),
        ("é" * 200,) * 2,
    ],
)
def test_titles_are_trimmed(client: FlaskClient, me: Headers, title: str, kept: str) -> None:
    start(client, me, title)
    assert titles(client, me) == [kept]


def test_a_title_may_be_left_out(client: FlaskClient, me: Headers) -> None:
    assert client.post(PATH, headers=me).get_json()["title"] == "New conversation"


@pytest.mark.parametrize("title", ["x" * 201, "a\x00b", None, 1])
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_titles_that_are_refused(
    client: FlaskClient, me: Headers, method: str, title: object
) -> None:
    path = PATH if method == "POST" else f"{PATH}/{start(client, me)}"
    response = client.open(path, method=method, json={"title": title}, headers=me)
    assert response.status_code == 422
    assert response.get_json()["fields"].keys() == {"title"}


@pytest.mark.parametrize("body", [{}, {"title": ""}, {"title": "  "}])
def test_a_new_title_has_to_be_one(client: FlaskClient, me: Headers, body: dict[str, str]) -> None:
    path = f"{PATH}/{start(client, me, 'old')}"
    response = client.patch(path, json=body, headers=me)
    assert response.status_code == 422
    assert response.get_json()["fields"].keys() == {"title"}
    assert titles(client, me) == ["old"]


def test_a_refused_thread_changes_nothing(client: FlaskClient, me: Headers) -> None:
    path = f"{PATH}/{start(client, me)}"
    kept = [{"role": "user", "content": "kept"}]
    client.put(f"{path}/messages", json={"messages": kept}, headers=me)
    too_long = {"messages": [{"role": "user", "content": "x" * 1024 * 1024}]}
    for body, status in ((too_long, 413), ({"messages": [{}]}, 422), ({}, 422)):
        response = client.put(f"{path}/messages", json=body, headers=me)
        assert response.status_code == status
    refused = client.put(f"{path}/messages", data=b"{}", headers=me, content_type="text/plain")
    assert refused.status_code == 415
    assert client.get(path, headers=me).get_json()["messages"] == kept


@pytest.mark.parametrize(
    ("messages", "status"),
    [
        ([{"role": "user", "content": 1}] * 500, 200),
        ([{"role": "user", "content": 1}] * 501, 422),
        ([{"role": "system", "content": 1}], 422),
        ([{"role": "user"}], 422),
        ([{"role": "user", "content": "x" * 1_000_000}], 200),
    ],
)
def test_the_bounds_of_a_thread(
    client: FlaskClient, me: Headers, messages: list[dict[str, Any]], status: int
) -> None:
    path = f"{PATH}/{start(client, me)}/messages"
    answer = client.put(path, json={"messages": messages}, headers=me)
    assert answer.status_code == status

"""The messages of a conversation as bytes: limits, refusals and stored form."""

import json
from typing import Any

import pytest

from shared.assistant.conversations.messages import (
    EMPTY,
    MAX_BYTES,
    MAX_MESSAGES,
    Thread,
    read_thread,
)
from shared.foundation.core.errors import BadRequest, Invalid, TooLarge

FRAME = len(b'[{"role":"user","content":""}]')


def thread_of(*contents: bytes) -> bytes:
    """Returns a body with these contents as messages of the user."""
    said = b",".join(b'{"role":"user","content":' + content + b"}" for content in contents)
    return b'{"messages":[' + said + b"]}"


@pytest.mark.parametrize(
    "content",
    [
        b"null",
        b"true",
        b'""',
        b'"\\u0000 \\ud83d\\ude00 \\u00e9 \xc3\xa9 \\/"',
        b"-0",
        b"1.0",
        b"1e400",
        b"0.1000000000000000055511151231257827",
        b"123456789012345678901234567890",
        b'{"b":1,"a":[{},[]],"b":2}',
    ],
)
def test_a_content_is_kept_byte_for_byte(content: bytes) -> None:
    kept = read_thread(thread_of(content))
    assert kept == Thread(b'[{"role":"user","content":' + content + b"}]", 1)


def test_blanks_and_unknown_members_are_left_out() -> None:
    body = (
        b' { "x": 1, "messages": [ {"content": {"a" : [1 , "b c"]}, "id": 7, "role": "user"} ] } '
    )
    assert read_thread(body).messages == b'[{"role":"user","content":{"a":[1,"b c"]}}]'


def test_no_messages_are_a_thread() -> None:
    assert read_thread(b'{"messages":[]}') == EMPTY


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"messages":[}',
        b"[1,",
        b'{"messages":[]} x',
        b'{"messages":[{"role":"user","content":"\xff"}]}',
        b'{"messages":[{"role":"user","content":"\\ud800"}]}',
        b'{"messages":[{"role":"user","content":NaN}]}',
        b'{"messages":[{"role":"user","content":' + b"[" * 100_000 + b"]" * 100_000 + b"}]}",
    ],
)
def test_invalid_json_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest) as refused:
        read_thread(body)
    assert refused.value.code == "malformed_json"


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ([], {"body"}),
        ({}, {"messages"}),
        ({"messages": None}, {"messages"}),
        ({"messages": {}}, {"messages"}),
        ({"messages": [1]}, {"messages.0"}),
        ({"messages": [{"role": "user"}]}, {"messages.0.content"}),
        ({"messages": [{"content": 1}]}, {"messages.0.role"}),
        ({"messages": [{"role": "system", "content": 1}]}, {"messages.0.role"}),
        ({"messages": [{"role": None, "content": 1}]}, {"messages.0.role"}),
        (
            {"messages": [{"role": "user", "content": 1}, {"role": 1}, []]},
            {"messages.1.role", "messages.1.content", "messages.2"},
        ),
        ({"messages": [{"role": "user", "content": 1}] * (MAX_MESSAGES + 1)}, {"messages"}),
    ],
)
def test_bad_fields_are_named(body: Any, fields: set[str]) -> None:
    with pytest.raises(Invalid) as refused:
        read_thread(json.dumps(body).encode())
    assert refused.value.fields.keys() == fields


def test_the_most_messages() -> None:
    assert read_thread(thread_of(*[b"1"] * MAX_MESSAGES)).count == MAX_MESSAGES


def test_the_most_bytes() -> None:
    largest = MAX_BYTES - FRAME
    assert len(read_thread(thread_of(b'"' + b"x" * largest + b'"')).messages) == MAX_BYTES
    with pytest.raises(TooLarge):
        read_thread(thread_of(b'"' + b"x" * (largest + 1) + b'"'))

"""POST /events: every body form and encoding, and a clear answer to every invalid one."""

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
import zstandard

from shared.foundation.core.clock import format_ts, now

Post = Callable[..., Any]


def event(**fields: object) -> bytes:
    return json.dumps(
        {"session_id": "s", "timestamp": format_ts(now()), "type": "note", **fields}
    ).encode()


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/x-ndjson", b"%s\n%s\n"),
        ("application/x-ndjson; charset=utf-8", b"%s\r\n\r\n%s"),
        ("application/json", b"[%s, %s]"),
        ("application/json", b'{"events": [%s,\n%s]}'),
    ],
)
def test_body_forms(post: Post, content_type: str, body: bytes) -> None:
    answer = post(body % (event(n=1), event(n=2)), content_type)
    assert (answer.status_code, answer.json) == (202, {"accepted": 2, "skipped": 0, "errors": []})


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("gzip", gzip.compress), ("zstd", zstandard.ZstdCompressor().compress), ("identity", bytes)],
)
def test_encodings(post: Post, encoding: str, pack: Callable[[bytes], bytes]) -> None:
    answer = post(pack(event()), Content_Encoding=encoding)
    assert (answer.status_code, answer.json["accepted"]) == (202, 1)


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/x-ndjson", b""),
        ("application/x-ndjson", b"\n \n"),
        ("application/json", b""),
        ("application/json", b"[]"),
        ("application/json", b'{"events": []}'),
        (None, b""),
    ],
)
def test_an_empty_body_is_a_batch_of_none(
    post: Post, content_type: str | None, body: bytes
) -> None:
    answer = post(body, content_type)
    assert (answer.status_code, answer.json) == (202, {"accepted": 0, "skipped": 0, "errors": []})


def test_probable_mistakes_are_named(post: Post) -> None:
    answer = post(event(n=1) + b"\n" + event(type="tool_reslt", output_tokens=-5))
    assert answer.json == {
        "accepted": 2,
        "skipped": 0,
        "errors": [],
        "warnings": [
            {
                "index": 1,
                "field": "output_tokens",
                "warning": "is not a whole number from 0 to 4294967295",
                "did_you_mean": None,
            },
            {
                "index": 1,
                "field": "type",
                "warning": "is not a known type",
                "did_you_mean": "tool_result",
            },
        ],
    }
    clean = post(event(type="tool_result", output_tokens=5, outcome="success"))
    assert clean.data == b'{"accepted":1,"skipped":0,"errors":[]}'


def test_all_bad_is_answered_like_some_bad(post: Post) -> None:
    answer = post(b"nope\n" + event(timestamp="2026-11-01T08:00:33"))
    assert answer.status_code == 202
    assert answer.json == {
        "accepted": 0,
        "skipped": 2,
        "errors": [
            {"line": 1, "error": "is not JSON"},
            {"line": 2, "error": "timestamp has no zone"},
        ],
    }


@pytest.mark.parametrize(
    ("content_type", "headers", "body", "status", "code"),
    [
        ("text/plain", {}, b"x", 415, "unsupported_content_type"),
        (None, {}, b"x", 415, "unsupported_content_type"),
        ("application/x-ndjson", {"Content_Encoding": "br"}, b"x", 415, "unsupported_encoding"),
        ("application/x-ndjson", {"Content_Encoding": "gzip"}, b"x" * 20, 400, "bad_encoding"),
        (
            "application/x-ndjson",
            {"Content_Encoding": "gzip"},
            gzip.compress(b"x" * 1000)[:-9],
            400,
            "truncated_body",
        ),
        ("application/x-ndjson", {"Content_Encoding": "zstd"}, b"x", 400, "bad_encoding"),
        ("application/json", {}, b"{", 400, "bad_json"),
        ("application/json", {}, b"[{},]", 400, "bad_json"),
        ("application/json", {}, b'"events"', 422, "invalid"),
        ("application/json", {}, b'{"rows": []}', 422, "invalid"),
        ("application/x-ndjson", {}, b"x" * (16 * 1024 * 1024 + 1), 413, "too_large"),
        (
            "application/x-ndjson",
            {"Content_Encoding": "gzip"},
            lambda: gzip.compress(b" " * (128 * 1024 * 1024 + 1)),
            413,
            "too_large",
        ),
    ],
)
def test_a_body_that_is_no_batch(
    post: Post,
    content_type: str | None,
    headers: dict[str, str],
    body: bytes | Callable[[], bytes],
    status: int,
    code: str,
) -> None:
    """Packs a large body itself: every process of a run makes all lists of cases."""
    answer = post(body if isinstance(body, bytes) else body(), content_type, **headers)
    assert (answer.status_code, answer.json["code"]) == (status, code), answer.json
    assert answer.json["error"]
    assert answer.json["request_id"] == answer.headers["X-Request-Id"]


def test_a_line_of_2_mb_is_skipped_and_a_good_one_accepted(post: Post) -> None:
    answer = post(event(z="x" * 2_000_000) + b"\n" + event())
    assert answer.json["accepted"] == 1
    assert answer.json["errors"] == [{"line": 1, "error": "larger than 1048576 bytes"}]

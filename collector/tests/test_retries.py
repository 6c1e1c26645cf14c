"""Requests are repeated until they are answered, and nothing is removed before."""

from __future__ import annotations

import random
import time

import pytest

from harness.collector import Collector
from harness.events import event, names, write
from harness.watchpost import KEY, Reply, Watchpost, json_reply, refusal
from watchpost_collect.client import Client, Declined, NotTaken
from watchpost_collect.errors import CredentialRefused, Unavailable, Unreachable
from watchpost_collect.settings import Target

PAGE = Reply(202, b"<html>sign in to this hotel", {"Content-Type": "text/html"})
CUT = Reply(0, b"", cut=True)
HALF = Reply(0, b"HTTP/1.1 202 Accepted\r\nContent-Length: 99\r\n\r\n{", cut=True)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited; no time passes."""
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    return waited


def client_of(url: str, tries: int | None = 10) -> Client:
    host, _, port = url.removeprefix("http://").partition(":")
    return Client(Target("http", host, int(port), "", KEY), "m", tries=tries, tell=lambda _: None)


def post(url: str, tries: int | None = 10) -> int:
    client = client_of(url, tries)
    try:
        return client.post(
            "/v1/events", event(1), {"Content-Type": "a/b"}, expected=202, counts=("accepted",)
        ).status
    finally:
        client.close()


@pytest.mark.parametrize(
    "reply",
    [
        *(refusal(status, "later") for status in (408, 429, 500, 502, 503, 504)),
        *(Reply(302, b"", {"Location": "/elsewhere"}), PAGE, CUT, HALF),
        *(json_reply(200, {"accepted": 1}), json_reply(202, {"hello": 1})),
    ],
    ids=lambda reply: f"{reply.status}-{reply.body[:9].decode()}",
)
def test_a_request_is_repeated(watchpost: Watchpost, waits: list[float], reply: Reply) -> None:
    watchpost.replies += [reply, reply]
    assert post(watchpost.url) == 202
    assert watchpost.lines == [event(1)]
    assert len(waits) == 2


def test_waits_double_up_to_a_minute(
    watchpost: Watchpost, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "uniform", lambda _low, high: high)
    watchpost.replies += [refusal(500, "later")] * 9
    post(watchpost.url)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_waits_differ_between_collectors(watchpost: Watchpost, waits: list[float]) -> None:
    watchpost.replies += [refusal(500, "later")] * 8
    post(watchpost.url)
    assert all(0.75 * 2**n <= wait <= 2**n for n, wait in enumerate(waits[:6]))
    assert waits[6] != waits[7]


@pytest.mark.parametrize(("asked", "waited"), [("7", 7), ("301", 300), ("0", 0.1), ("soon", 1)])
def test_retry_after_is_kept(
    watchpost: Watchpost,
    waits: list[float],
    monkeypatch: pytest.MonkeyPatch,
    asked: str,
    waited: float,
) -> None:
    monkeypatch.setattr(random, "uniform", lambda _low, high: high)
    watchpost.replies.append(refusal(503, "full", Retry_After=asked))
    post(watchpost.url)
    assert waits == [waited]


def test_retry_after_may_be_a_date(
    watchpost: Watchpost, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: 784111777.0 - 90)
    date = "Sun, 06 Nov 1994 08:49:37 GMT"
    watchpost.replies.append(refusal(503, "full", Retry_After=date))
    post(watchpost.url)
    assert waits == [90]


def test_the_last_of_some_tries_says_why(watchpost: Watchpost, waits: list[float]) -> None:
    watchpost.replies += [refusal(503, "the backlog is full")] * 5
    with pytest.raises(Unavailable, match="503 the backlog is full, after 5 tries"):
        post(watchpost.url, tries=5)
    assert len(waits) == 4


def test_no_answer_is_something_else_than_no(watchpost: Watchpost, waits: list[float]) -> None:
    watchpost.replies += [CUT] * 5
    with pytest.raises(Unreachable, match="after 5 tries"):
        post(watchpost.url, tries=5)
    watchpost.replies += [PAGE] * 5
    with pytest.raises(Unreachable, match="no answer of Watchpost's"):
        post(watchpost.url, tries=5)


def test_without_tries_the_caller_waits(watchpost: Watchpost, waits: list[float]) -> None:
    watchpost.replies.append(refusal(503, "full", Retry_After="7"))
    with pytest.raises(NotTaken, match="503 full") as raised:
        post(watchpost.url, tries=None)
    assert (raised.value.retry_after, waits) == (7, [])


def test_other_refusals_are_not_repeated(watchpost: Watchpost, waits: list[float]) -> None:
    watchpost.replies.append(refusal(422, "no"))
    with pytest.raises(Declined, match="422 no"):
        post(watchpost.url)
    watchpost.replies.append(refusal(401, "no"))
    with pytest.raises(CredentialRefused, match="401 no"):
        post(watchpost.url)
    assert waits == []


def test_an_idle_connection_that_the_server_closed_costs_no_wait(
    watchpost: Watchpost, waits: list[float]
) -> None:
    client = client_of(watchpost.url)
    try:
        for _ in range(2):
            answer = client.post("/v1/events", event(1), {"Content-Type": "a/b"}, expected=202)
            assert answer.status == 202
            watchpost.replies.append(CUT)
    finally:
        client.close()
    assert waits == []


@pytest.mark.flow
def test_once_gives_up_with_a_server_that_is_not_there(collector: Collector) -> None:
    write(collector.spool / "a.jsonl", [event(1)])
    write(collector.spool / "b.jsonl", [event(1)])
    done = collector.run("watch", "--once", "--url", "http://127.0.0.1:1")
    assert done.returncode == 4
    assert "cannot reach Watchpost at http://127.0.0.1:1: " in done.stderr
    assert done.stderr.count("trying again in") == 4
    assert done.stdout == "watch: 0 files, 0 accepted, 0 skipped, 2 left\n"
    assert names(collector.spool) == ["a.jsonl", "b.jsonl"]


def test_once_leaves_what_a_server_does_not_take(
    collector: Collector, watchpost: Watchpost
) -> None:
    watchpost.replies += [refusal(503, "full", Retry_After="0")] * 5
    write(collector.spool / "a.jsonl", [event(1)])
    done = collector.run("watch", "--once")
    assert (done.returncode, names(collector.spool)) == (1, ["a.jsonl"])
    assert "503 full, after 5 tries" in done.stderr


def test_once_goes_on_with_other_files(collector: Collector, watchpost: Watchpost) -> None:
    watchpost.replies += [refusal(500, "oh", Retry_After="0")] * 5
    write(collector.spool / "a.jsonl", [event(1)])
    write(collector.spool / "b.jsonl", [event(2)])
    done = collector.run("watch", "--once")
    assert (done.returncode, names(collector.spool)) == (1, ["a.jsonl"])
    assert watchpost.lines == [event(2)]
    assert done.stdout.endswith("watch: 1 files, 1 accepted, 0 skipped, 1 left\n")


def test_once_ends_when_two_files_in_a_row_are_not_taken(
    collector: Collector, watchpost: Watchpost
) -> None:
    watchpost.replies += [refusal(500, "oh", Retry_After="0")] * 10
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        write(collector.spool / name, [event(1)])
    done = collector.run("watch", "--once")
    assert (done.returncode, watchpost.requests) == (1, [])
    assert done.stdout == "watch: 0 files, 0 accepted, 0 skipped, 3 left\n"

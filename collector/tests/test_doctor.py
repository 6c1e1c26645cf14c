"""The doctor: says for each thing whether it is fine, and what to do if not."""

from __future__ import annotations

import json

import pytest

from harness.collector import Collector
from harness.events import event, write
from harness.watchpost import Reply, Watchpost, json_reply, refusal

HEALTHY = {"status": "ok"}


def test_all_is_fine(collector: Collector) -> None:
    done = collector.run("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert {line[:5] for line in lines} == {"ok   "}
    assert f"ok   url: {collector.url}" in lines
    assert "ok   key: 'agents' has the permission events:add" in lines
    assert "ok   clock: within 60 s of Watchpost's" in lines
    assert f"ok   events: {collector.spool}; 0 files wait" in lines


def test_json_says_the_same_to_programs(collector: Collector) -> None:
    findings = [json.loads(line) for line in collector.run("doctor", "--json").stdout.splitlines()]
    assert {"level": "ok", "subject": "url", "text": collector.url} in findings


@pytest.mark.parametrize("missing", ["WATCHPOST_URL", "WATCHPOST_KEY"])
def test_a_missing_setting_fails(collector: Collector, missing: str) -> None:
    collector.variables[missing] = ""
    done = collector.run("doctor")
    assert done.returncode == 2
    assert f"set {missing}" in done.stdout
    assert "ok   state" in done.stdout


@pytest.mark.parametrize(
    ("url", "replies"),
    [
        ("http://127.0.0.1:1", []),
        (None, [Reply(404, b"<html>", {"Content-Type": "text/html"})] * 2),
        (None, [json_reply(200, {"hello": "world"})] * 2),
    ],
    ids=["nothing", "a page", "another service"],
)
def test_a_wrong_url_fails(
    collector: Collector, watchpost: Watchpost, url: str | None, replies: list[Reply]
) -> None:
    watchpost.replies += replies
    collector.variables["WATCHPOST_URL"] = url or collector.url
    done = collector.run("doctor")
    assert done.returncode == 4
    assert "FAIL url: " in done.stdout
    assert "Check the URL" in done.stdout


def test_a_refused_key_fails(collector: Collector) -> None:
    collector.variables["WATCHPOST_KEY"] = "wpk_other"
    done = collector.run("doctor")
    assert done.returncode == 3
    assert "FAIL key: refused: 401 unknown key" in done.stdout


def test_a_key_that_may_not_add_events_fails(collector: Collector, watchpost: Watchpost) -> None:
    watchpost.permissions = ["events:read"]
    done = collector.run("doctor")
    assert done.returncode == 3
    assert "FAIL key: 'agents' lacks the permission events:add" in done.stdout


def test_a_server_in_trouble_fails(collector: Collector, watchpost: Watchpost) -> None:
    watchpost.replies += [json_reply(200, HEALTHY), refusal(503, "a store is down")]
    done = collector.run("doctor")
    assert done.returncode == 4
    assert "FAIL key: cannot be checked: 503 a store is down" in done.stdout


def test_a_wrong_clock_fails(collector: Collector, watchpost: Watchpost) -> None:
    watchpost.now = 1_000_000_000.0
    done = collector.run("doctor")
    assert done.returncode == 1
    assert "FAIL clock: " in done.stdout
    assert "s ahead of Watchpost's" in done.stdout


def test_waiting_files_are_counted_and_poison_is_a_warning(
    collector: Collector, watchpost: Watchpost
) -> None:
    watchpost.replies.append(refusal(422, "no"))
    write(collector.spool / "a.jsonl", [event(1)])
    collector.run("watch", "--once")
    write(collector.spool / "b.jsonl", [event(1)])
    done = collector.run("doctor")
    assert done.returncode == 1
    assert f"ok   events: {collector.spool}; 1 files wait" in done.stdout
    assert f"warn events: 1 files in {collector.spool / 'poison'}" in done.stdout


def test_a_running_watch_is_seen(collector: Collector) -> None:
    with collector.start("watch") as watching:
        try:
            lock = collector.state / "lock"
            while not (lock.exists() and lock.read_text()):
                assert watching.poll() is None
            assert "a watchpost-collect is running" in collector.run("doctor").stdout
        finally:
            watching.terminate()
            watching.communicate()


def test_transcripts_are_looked_at_if_asked_for(collector: Collector, watchpost: Watchpost) -> None:
    folder = collector.home / ".claude/projects"
    done = collector.run("doctor", "--claude")
    assert done.returncode == 1
    assert f"warn claude: {folder} does not exist" in done.stdout
    write(folder / "notes-app" / "a.jsonl", [b"{}"])
    write(folder / "notes-app" / "b.jsonl", [b"[]"])
    watchpost.replies.append(refusal(422, "unknown format"))
    collector.run("watch", "--once", "--claude")
    done = collector.run("doctor", "--claude")
    assert done.returncode == 1
    assert f"ok   claude: {folder}; 2 transcripts, 1 of them sent" in done.stdout
    assert "was refused: 422 unknown format" in done.stdout

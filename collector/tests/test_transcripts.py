"""Transcripts: imported as a whole when they changed, and never touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.collector import Collector
from harness.events import event, write
from harness.watchpost import Watchpost, imported, json_reply, refusal

IMPORT = "/v1/events/import"
STEM = "5b1f0c52-7a3e-4a57-9d0e-2f4c6a1e9b30"
LINES = [b'{"sessionId": "s", "uuid": "1"}', b'{"sessionId": "s", "uuid": "2"}']


@pytest.fixture
def claude(collector: Collector) -> Path:
    return collector.home / ".claude" / "projects"


@pytest.fixture
def transcript(claude: Path) -> Path:
    return write(claude / "-home-dev-notes-app" / f"{STEM}.jsonl", LINES)


def test_transcripts_are_left_alone_unless_asked_for(
    collector: Collector, watchpost: Watchpost, transcript: Path
) -> None:
    assert collector.run("watch", "--once").returncode == 0
    assert watchpost.requests == []


def test_transcripts_of_claude_code_are_imported_whole(
    collector: Collector, watchpost: Watchpost, transcript: Path
) -> None:
    subagent = transcript.with_suffix("") / "subagents" / "agent-e4d1.jsonl"
    write(subagent, LINES[:1])
    write(transcript.parent / ".hidden" / "a.jsonl", LINES)
    write(transcript.parent / "notes.md", LINES)
    done = collector.run("watch", "--once", "--claude", "--environment", "laptop")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "watch: 2 files, 3 accepted, 0 skipped, 0 left"
    by_path = {request.query.pop("path"): request for request in watchpost.to(IMPORT)}
    assert set(by_path) == {
        f"-home-dev-notes-app/{STEM}.jsonl",
        "subagents/agent-e4d1.jsonl",
    }
    request = by_path[f"-home-dev-notes-app/{STEM}.jsonl"]
    assert request.query == {"format": "claude", "environment": "laptop"}
    assert request.headers["content-type"] == "application/octet-stream"
    assert "content-encoding" not in request.headers
    assert request.packed[:2] == b"\x1f\x8b"
    assert request.body == transcript.read_bytes() == b"\n".join(LINES) + b"\n"


def test_transcripts_of_codex_are_imported_whole(
    collector: Collector, watchpost: Watchpost
) -> None:
    folder = collector.home / "else where"
    write(folder / "2026" / "11" / "18" / "rollout-1.jsonl", LINES)
    assert collector.run("watch", "--once", "--codex", folder).returncode == 0
    [request] = watchpost.to(IMPORT)
    assert request.query == {"format": "codex", "path": "18/rollout-1.jsonl"}


def test_dimensions_are_of_what_watch_imports(collector: Collector, watchpost: Watchpost) -> None:
    write(collector.home / "rollouts" / "rollout-1.jsonl", [event(1)])
    write(collector.spool / "a.jsonl", [event(1)])
    options = ("--user", "zoe", "--agent-version", "1", "--tag", "a", "--attribute", "plan=pro")
    done = collector.run("watch", "--once", "--codex", collector.home / "rollouts", *options)
    assert done.returncode == 0
    [request] = watchpost.to(IMPORT)
    assert request.query == {
        "format": "codex",
        "path": "rollouts/rollout-1.jsonl",
        "user_id": "zoe",
        "agent_version": "1",
        "tags": "a",
        "attr.plan": "pro",
    }
    assert [request.query for request in watchpost.to("/v1/events")] == [{}]
    assert watchpost.lines == [event(1)]


def test_only_what_changed_is_imported_again(
    collector: Collector, watchpost: Watchpost, transcript: Path
) -> None:
    for _ in range(2):
        done = collector.run("watch", "--once", "--claude")
        assert done.returncode == 0
    assert done.stdout == "watch: 0 files, 0 accepted, 0 skipped, 0 left\n"
    transcript.touch()
    collector.run("watch", "--once", "--claude")
    assert len(watchpost.to(IMPORT)) == 1
    with transcript.open("ab") as file:
        file.write(b'{"sessionId": "s", "uu')
    collector.run("watch", "--once", "--claude")
    assert watchpost.to(IMPORT)[-1].body == transcript.read_bytes()
    assert len(watchpost.to(IMPORT)) == 2


def test_a_transcript_of_the_same_size_with_other_bytes_is_imported(
    collector: Collector, watchpost: Watchpost, transcript: Path
) -> None:
    collector.run("watch", "--once", "--claude")
    transcript.write_bytes(transcript.read_bytes().replace(b'"1"', b'"3"'))
    collector.run("watch", "--once", "--claude")
    assert len(watchpost.to(IMPORT)) == 2


def test_a_refused_transcript_stays_and_is_not_sent_again_until_it_changes(
    collector: Collector, watchpost: Watchpost, transcript: Path
) -> None:
    watchpost.replies.append(refusal(413, "the file is too large"))
    done = collector.run("watch", "--once", "--claude")
    assert done.returncode == 1
    assert f"{transcript}: refused: 413 the file is too large" in done.stdout
    assert transcript.read_bytes() == b"\n".join(LINES) + b"\n"
    assert collector.run("watch", "--once", "--claude").returncode == 0
    assert watchpost.to(IMPORT) == []
    write(transcript, LINES[:1])
    collector.run("watch", "--once", "--claude")
    assert len(watchpost.to(IMPORT)) == 1


def test_a_refused_key_stops_everything(
    collector: Collector, watchpost: Watchpost, transcript: Path
) -> None:
    watchpost.replies.append(refusal(403, "no"))
    done = collector.run("watch", "--once", "--claude")
    assert (done.returncode, done.stdout) == (3, "watch: 0 files, 0 accepted, 0 skipped, 1 left\n")
    assert collector.run("watch", "--once", "--claude").returncode == 0
    assert len(watchpost.to(IMPORT)) == 1


def test_skipped_lines_and_sessions_are_told(
    collector: Collector, watchpost: Watchpost, transcript: Path
) -> None:
    collector.run("watch", "--once", "--claude")  # makes an answer to change
    answer = imported(watchpost.to(IMPORT)[0])
    answer["skipped"] = 1
    answer["errors"] = [{"line": 2, "error": "the line is not JSON"}]
    answer["skipped_sessions"] = [{"session_id": "s", "reason": "its events came otherwise"}]
    watchpost.replies.append(json_reply(200, answer))
    write(transcript, [*LINES, b"bad"])
    done = collector.run("watch", "--once", "--claude")
    assert done.returncode == 1
    assert "  line 2: the line is not JSON\n" in done.stdout
    assert "  session s: its events came otherwise\n" in done.stdout


def test_json_holds_the_whole_answer(
    collector: Collector, watchpost: Watchpost, transcript: Path
) -> None:
    done = collector.run("watch", "--once", "--claude", "--json")
    line, summary = map(json.loads, done.stdout.splitlines())
    assert line == {
        "file": str(transcript),
        "to": IMPORT,
        "status": 200,
        **imported(watchpost.to(IMPORT)[0]),
    }
    assert summary == {"watch": {"files": 1, "accepted": 2, "skipped": 0, "left": 0}}

"""The hook: whatever comes, it says nothing, ends with 0, and leaves a whole file or none."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness.collector import Collector
from harness.events import names
from harness.watchpost import Watchpost
from watchpost_collect.hook import EVENTS, MAX_INPUT_BYTES, keep

SESSION = "5b1f0c52-7a3e-4a57-9d0e-2f4c6a1e9b30"
MOMENT = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def given(**fields: object) -> bytes:
    common = {"session_id": SESSION, "transcript_path": "/t.jsonl", "cwd": "/notes-app"}
    return json.dumps({**common, **fields}).encode()


def kept(folder: Path) -> list[dict[str, Any]]:
    """Returns the events in the folder, oldest first."""
    return [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_bytes().splitlines()
    ]


def hooked(folder: Path, hook: str, **fields: object) -> dict[str, Any]:
    """Returns the event of a hook without what all events have, after `agent_start`."""
    keep(given(hook_event_name="Notification"), None, str(folder))
    keep(given(hook_event_name=hook, **fields), None, str(folder))
    event = kept(folder)[2]
    common = {"session_id": SESSION, "agent_id": "claude-code", "hook_event_name": hook}
    assert {name: event.pop(name) for name in common} == common
    assert (event.pop("source"), event.pop("cwd")) == ("hook", "/notes-app")
    assert MOMENT.fullmatch(event.pop("timestamp"))
    return event


@pytest.mark.parametrize(
    ("hook", "fields", "event"),
    [
        ("UserPromptSubmit", {"prompt": "Why?"}, {"type": "human_input", "response": "Why?"}),
        (
            "PreToolUse",
            {"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {"command": "ls"}},
            {
                "type": "tool_use",
                "tool_name": "Bash",
                "tool_call_id": "toolu_1",
                "input": {"command": "ls"},
            },
        ),
        (
            "PostToolUse",
            {"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_response": {"stdout": "a"}},
            {
                "type": "tool_result",
                "tool_name": "Bash",
                "tool_call_id": "toolu_1",
                "output": {"stdout": "a"},
            },
        ),
        (
            "PostToolUse",
            {"tool_name": "Bash", "tool_response": {"is_error": True, "error": "no such file"}},
            {
                "type": "tool_result",
                "tool_name": "Bash",
                "output": {"is_error": True, "error": "no such file"},
                "error": "no such file",
            },
        ),
        (
            "Notification",
            {"message": "May I?", "notification_type": "permission_prompt"},
            {"type": "human_wait", "prompt": "May I?", "reason": "permission_prompt"},
        ),
        (
            "SubagentStop",
            {"agent_id": "e4d1", "agent_type": "Explore", "last_assistant_message": "Two."},
            {
                "type": "agent_end",
                "outcome": "success",
                "summary": "Two.",
                "subagent_id": "e4d1",
                "subagent_type": "Explore",
            },
        ),
        (
            "Stop",
            {"last_assistant_message": "Fixed."},
            {"type": "agent_end", "outcome": "success", "summary": "Fixed."},
        ),
        (
            "SessionEnd",
            {"reason": "clear"},
            {"type": "agent_end", "outcome": "success", "reason": "clear"},
        ),
        (
            "PreCompact",
            {"trigger": "auto", "custom_instructions": ""},
            {"type": "context_compacted", "trigger": "auto", "instructions": ""},
        ),
    ],
)
def test_hooks_are_events(
    tmp_path: Path, hook: str, fields: dict[str, object], event: dict[str, object]
) -> None:
    assert hooked(tmp_path, hook, **fields) == event


def test_a_hook_without_an_event_of_its_own_is_kept_whole(tmp_path: Path) -> None:
    event = hooked(tmp_path, "SomethingNew", detail=1)
    assert event["type"] == "hook_triggered"
    assert (event["hook_name"], event["trigger_event"]) == ("claude-code", "SomethingNew")
    assert event["input"]["detail"] == 1


def test_the_first_hook_of_a_session_starts_the_agent(tmp_path: Path) -> None:
    for prompt in ("Why?", "And now?"):
        keep(given(prompt=prompt), "UserPromptSubmit", str(tmp_path))
    start, *rest = kept(tmp_path)
    assert (start["type"], start["goal"], start["agent_id"]) == (
        *("agent_start", "Why?"),
        "claude-code",
    )
    assert [event["type"] for event in rest] == ["human_input", "human_input"]
    assert start["timestamp"] < rest[0]["timestamp"]


def test_a_session_that_goes_on_after_its_end_starts_again(tmp_path: Path) -> None:
    for hook in ("UserPromptSubmit", "SessionEnd", "UserPromptSubmit", "Stop"):
        keep(given(prompt="Why?"), hook, str(tmp_path))
    assert [event["type"] for event in kept(tmp_path)] == [
        *("agent_start", "human_input", "agent_end"),
        *("agent_start", "human_input", "agent_end"),
    ]


def test_marks_of_sessions_that_never_ended_go_after_a_month(tmp_path: Path) -> None:
    keep(given(session_id="old"), "Stop", str(tmp_path))
    [mark] = (tmp_path / ".sessions").iterdir()
    month_ago = time.time() - 31 * 24 * 3600
    os.utime(mark, (month_ago, month_ago))
    keep(given(session_id="new"), "Stop", str(tmp_path))
    assert [path.name for path in (tmp_path / ".sessions").iterdir()] == [b"new".hex()]


def test_hooks_at_the_same_time_start_one_agent(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for _ in range(40):
            pool.submit(keep, given(tool_name="Read"), "PreToolUse", str(tmp_path))
    types = [event["type"] for event in kept(tmp_path)]
    assert sorted(types) == ["agent_start", *["tool_use"] * 40]


def test_a_file_is_complete_on_disk_when_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[object] = []
    rename, fsync = os.rename, os.fsync

    def renaming(source: str, target: str, **folders: int) -> None:
        is_whole = (tmp_path / source).read_bytes().endswith(b"\n")
        steps.append(("rename", source.startswith("."), is_whole))
        rename(source, target, **folders)

    def syncing(descriptor: int) -> None:
        steps.append(("fsync", os.fstat(descriptor).st_size > 0))
        fsync(descriptor)

    monkeypatch.setattr(os, "rename", renaming)
    monkeypatch.setattr(os, "fsync", syncing)
    keep(given(), "Stop", str(tmp_path))
    assert steps == [("fsync", True), ("rename", True, True)]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "Expecting value"),
        (b"{no json", "Expecting property name"),
        (b"[]", "no JSON object"),
        (b'{"hook_event_name": "Stop"}', "names no session"),
        (b'{"session_id": 7, "hook_event_name": "Stop"}', "names no session"),
        (b'{"session_id": "s"}', "no event"),
        (b'{"a": "\xff"}', "can't decode"),
        (given(prompt="x" * MAX_INPUT_BYTES), "longer than 1 MiB"),
        (b"[" * 200_000, "maximum recursion depth"),
    ],
    ids=["empty", "cut", "list", "sessionless", "number", "eventless", "binary", "long", "deep"],
)
def test_input_that_is_no_hooks_is_put_aside(
    collector: Collector, data: bytes, reason: str
) -> None:
    done = collector.run("hook", given=data)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert names(collector.spool) == ["rejected"]
    whole, why = sorted((collector.spool / "rejected").iterdir())
    assert whole.read_bytes() == data[:MAX_INPUT_BYTES]
    assert reason in why.read_text()


def test_the_command_is_silent_and_offline(collector: Collector, watchpost: Watchpost) -> None:
    for arguments in (["Stop"], [], ["--whatever"], ["--spool"]):
        done = collector.run("hook", *arguments, given=given(hook_event_name="Stop"))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert watchpost.requests == []
    assert [event["type"] for event in kept(collector.spool)] == ["agent_start"] + ["agent_end"] * 4


@pytest.mark.parametrize("way", ["two words", "one word"])
def test_the_spool_can_be_named(collector: Collector, way: str) -> None:
    folder = collector.home / "else where"
    named = ["--spool", folder] if way == "two words" else [f"--spool={folder}"]
    collector.run("hook", "Stop", *named, given=given())
    assert len(kept(folder)) == 2


def test_a_disk_that_takes_nothing_is_no_error(collector: Collector) -> None:
    in_the_way = collector.home / "file"
    in_the_way.write_text("")
    done = collector.run("hook", "Stop", "--spool", in_the_way / "spool", given=given())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_text_that_has_no_utf8_is_left_to_watchpost(collector: Collector) -> None:
    collector.run("hook", "UserPromptSubmit", given=b'{"session_id": "s", "prompt": "\\ud800"}')
    [path] = collector.spool.glob("*.jsonl")
    assert b"\xed\xa0\x80" in path.read_bytes()


def test_kept_events_are_sent_by_watch(collector: Collector, watchpost: Watchpost) -> None:
    for hook in ("UserPromptSubmit", "Stop"):
        collector.run("hook", hook, given=given())
    assert collector.run("watch", "--once").returncode == 0
    assert [json.loads(line)["type"] for line in watchpost.lines] == [
        *("agent_start", "human_input", "agent_end")
    ]


def test_the_printed_settings_run_the_hook(collector: Collector) -> None:
    spool = collector.home / "my spool"
    printed = json.loads(collector.run("hook", "--print-settings", "--spool", spool).stdout)
    assert set(printed["hooks"]) == set(EVENTS)
    assert [matcher["matcher"] for matcher in printed["hooks"]["PreToolUse"]] == ["*"]
    for hook, [entry] in printed["hooks"].items():
        [command] = entry["hooks"]
        assert command["type"] == "command"
        words = shlex.split(command["command"])
        subprocess.run(
            words, input=given(hook_event_name=hook), env=collector.environment(), check=True
        )
    assert {event["hook_event_name"] for event in kept(spool)} == set(EVENTS)


def test_help_is_help(collector: Collector) -> None:
    done = collector.run("hook", "--help")
    assert (done.returncode, "--print-settings" in done.stdout) == (0, True)


def test_the_hook_loads_nothing_of_the_rest(collector: Collector) -> None:
    slow = ["argparse", "pathlib", "http.client", "ssl", "watchpost_collect.cli", "uuid"]
    code = (
        "import sys; sys.argv = ['watchpost-collect', 'hook', 'Stop'];"
        "from watchpost_collect.__main__ import main;"
        f"status = main(); print(status, [name for name in {slow} if name in sys.modules])"
    )
    # Isolated, because a site's own packages may load anything at the start.
    done = subprocess.run(
        [collector.python, "-S", "-c", code],
        input=given(),
        env=collector.environment(),
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"0 []\n"

"""`watch` without `--once`: what comes is sent, file by file, until a signal ends it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen
from typing import Callable

import pytest

from harness.collector import Collector
from harness.events import event, names, write
from harness.watchpost import Reply, Watchpost, refusal

pytestmark = pytest.mark.flow

_PATIENCE_SECS = 30


@contextmanager
def watching(collector: Collector, *arguments: object) -> Iterator[Popen[str]]:
    with collector.start("watch", *arguments) as running:
        try:
            yield running
        finally:
            running.terminate()
            running.communicate()


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def until_arrived(watchpost: Watchpost, line: bytes) -> None:
    until(lambda: line in watchpost.lines)


def test_files_are_sent_as_they_come(collector: Collector, watchpost: Watchpost) -> None:
    late = collector.home / ".agenteye" / "events"
    with watching(collector):
        for number in range(3):
            write(collector.spool / f"{number}.jsonl", [event(number)])
            until_arrived(watchpost, event(number))
        write(late / "a.jsonl", [event(3)])
        until_arrived(watchpost, event(3))
        until(lambda: names(collector.spool) == names(late) == [])
    assert watchpost.lines == [event(n) for n in range(4)]


def test_a_file_that_grows_is_sent_line_by_line_and_removed_at_its_end(
    collector: Collector, watchpost: Watchpost
) -> None:
    path = collector.spool / "a.jsonl"
    with watching(collector), path.open("wb") as writer:
        for number in range(4):
            line = event(number)
            writer.write(line[:20])
            writer.flush()
            # So that it looks at half a line.
            time.sleep(0.1)
            writer.write(line[20:] + b"\n")
            writer.flush()
            until_arrived(watchpost, line)
            assert path.exists()
        writer.close()
        until(lambda: not path.exists())
    assert watchpost.lines == [event(n) for n in range(4)]


def test_a_file_that_grows_while_it_is_sent_is_not_removed_too_early(
    collector: Collector, watchpost: Watchpost
) -> None:
    path = write(collector.spool / "a.jsonl", [event(0)])

    def append() -> None:
        if len(watchpost.requests) <= 3:
            with path.open("ab") as writer:
                writer.write(event(len(watchpost.requests)) + b"\n")

    watchpost.before_answer = append
    with watching(collector):
        until(lambda: not path.exists())
    assert watchpost.lines == [event(n) for n in range(4)]


def test_a_server_that_comes_back_gets_everything(
    collector: Collector, watchpost: Watchpost
) -> None:
    cut = Reply(0, cut=True)
    watchpost.replies += [cut, refusal(503, "full", Retry_After="1"), refusal(500, "oh"), cut]
    write(collector.spool / "a.jsonl", [event(1)])
    with watching(collector) as running:
        until(lambda: watchpost.lines == [event(1)])
        until(lambda: names(collector.spool) == [])
        running.terminate()
        _, warned = running.communicate()
    assert "503 full; trying again in 1.0 s" in warned


def test_a_refused_key_ends_it(collector: Collector, watchpost: Watchpost) -> None:
    write(collector.spool / "a.jsonl", [event(1)])
    watchpost.replies.append(refusal(401, "the key expired"))
    with collector.start("watch") as running:
        said, warned = running.communicate(timeout=_PATIENCE_SECS)
    assert (running.returncode, names(collector.spool)) == (3, ["a.jsonl"])
    assert "the key expired" in warned
    assert said == "watch: 0 files, 0 accepted, 0 skipped, 1 left\n"


def test_a_transcript_is_imported_when_its_session_pauses(
    collector: Collector, watchpost: Watchpost
) -> None:
    folder = collector.home / "projects"
    path = write(folder / "notes" / "a.jsonl", [b"{}"])
    started = time.time()
    with watching(collector, "--claude", folder):
        while time.time() < started + 3:  # the session goes on
            write(path, [b"{}", str(time.time()).encode()])
            time.sleep(0.1)
        paused = time.time()
        assert watchpost.requests == []
        until(lambda: watchpost.requests)
        assert time.time() - paused >= 4.9
    assert watchpost.requests[0].body == path.read_bytes()

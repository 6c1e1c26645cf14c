"""Event files: sent unchanged, removed after 202, and never if something of them is not sent."""

from __future__ import annotations

import json
import os
import sys

import pytest

from harness.collector import Collector
from harness.events import event, names, write
from harness.watchpost import Watchpost, refusal

EIGHT_MIB = 8 * 1024 * 1024


def test_files_are_sent_unchanged_and_removed(collector: Collector, watchpost: Watchpost) -> None:
    odd = b'{ "session_id" : "s-1",\t"note": "caf\xc3\xa9 \\u00e9" , "n": 1e400 }\r'
    write(collector.spool / "b.jsonl", [event(1), odd])
    write(collector.spool / "c.jsonl", [event(2)])
    done = collector.run("watch", "--once")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "watch: 2 files, 3 accepted, 0 skipped, 0 left"
    assert watchpost.requests[0].body == event(1) + b"\n" + odd + b"\n"
    assert watchpost.requests[1].body == event(2) + b"\n"
    assert names(collector.spool) == []
    sent = watchpost.requests[0].headers
    assert sent["content-type"] == "application/x-ndjson"
    assert sent["content-encoding"] == "gzip"
    assert sent["user-agent"].startswith("watchpost-collect/0.")
    assert sent["x-watchpost-machine-id"] == (collector.state / "machine-id").read_text()


def test_the_oldest_file_goes_first(collector: Collector, watchpost: Watchpost) -> None:
    for age, name in enumerate(("a", "c", "b")):
        path = write(collector.spool / f"{name}.jsonl", [event(age)])
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    collector.run("watch", "--once")
    assert watchpost.lines == [event(2), event(1), event(0)]


def test_default_folders_are_those_of_the_known_senders(
    collector: Collector, watchpost: Watchpost
) -> None:
    home = collector.home
    write(home / ".failproofai/custom-agents/events/a.jsonl", [event(1)])
    write(home / ".agenteye/events/a.jsonl", [event(2)])
    write(home / "elsewhere/custom-agents/events/a.jsonl", [event(3)])
    collector.run("watch", "--once")
    assert set(watchpost.lines) == {event(1), event(2)}
    collector.variables["FAILPROOFAI_HOME"] = str(home / "elsewhere")
    collector.run("watch", "--once")
    assert watchpost.lines[2:] == [event(3)]


def test_named_folders_replace_the_default_ones(collector: Collector, watchpost: Watchpost) -> None:
    one, two = collector.home / "one", collector.home / "two"
    write(one / "a.jsonl", [event(1)])
    write(two / "a.jsonl", [event(2)])
    write(collector.spool / "a.jsonl", [event(3)])
    done = collector.run("watch", "--once", "--events", one, "--events", two)
    assert set(watchpost.lines) == {event(1), event(2)}
    assert done.returncode == 0


def test_a_named_folder_may_come_later(collector: Collector) -> None:
    done = collector.run("watch", "--once", "--events", collector.home / "later")
    assert done.returncode == 0
    assert "later does not exist" in done.stderr


@pytest.mark.parametrize("name", [".a.jsonl", "a.jsonl.part", "a.json", "sub/a.jsonl"])
def test_other_files_are_left_alone(collector: Collector, watchpost: Watchpost, name: str) -> None:
    path = write(collector.spool / name, [event(1)])
    assert collector.run("watch", "--once").returncode == 0
    assert path.exists()
    assert watchpost.lines == []


def test_a_folder_named_like_a_file_is_left_alone(collector: Collector) -> None:
    (collector.spool / "a.jsonl").mkdir()
    assert collector.run("watch", "--once").returncode == 0


def test_keep_moves_sent_files(collector: Collector) -> None:
    for number in (1, 2):
        write(collector.spool / "a.jsonl", [event(number)])
        assert collector.run("watch", "--once", "--keep").returncode == 0
    assert names(collector.spool) == ["sent"]
    assert names(collector.spool / "sent") == ["a.jsonl", "a.jsonl.1"]
    assert (collector.spool / "sent" / "a.jsonl.1").read_bytes() == event(2) + b"\n"


def test_an_empty_file_is_removed_without_a_request(
    collector: Collector, watchpost: Watchpost
) -> None:
    write(collector.spool / "a.jsonl", [])
    assert collector.run("watch", "--once").returncode == 0
    assert (names(collector.spool), watchpost.requests) == ([], [])


@pytest.mark.parametrize("status", [400, 404, 413, 415, 422])
def test_a_refused_file_is_poison(collector: Collector, watchpost: Watchpost, status: int) -> None:
    watchpost.replies.append(refusal(status, "body is not to our taste"))
    write(collector.spool / "a.jsonl", [event(1)])
    write(collector.spool / "b.jsonl", [event(2)])
    done = collector.run("watch", "--once")
    assert done.returncode == 1
    assert f"moved to poison/: {status} body is not to our taste" in done.stdout
    poison = collector.spool / "poison"
    assert (poison / "a.jsonl").read_bytes() == event(1) + b"\n"
    assert (poison / "a.jsonl.reason").read_text() == f"{status} body is not to our taste\n"
    assert watchpost.lines == [event(2)]


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_stops_everything_and_removes_nothing(
    collector: Collector, watchpost: Watchpost, status: int
) -> None:
    watchpost.replies.append(refusal(status, "this key may not"))
    write(collector.spool / "a.jsonl", [event(1)])
    write(collector.spool / "b.jsonl", [event(2)])
    done = collector.run("watch", "--once")
    assert done.returncode == 3
    assert f"refused the key: {status} this key may not" in done.stderr
    assert done.stdout == "watch: 0 files, 0 accepted, 0 skipped, 2 left\n"
    assert names(collector.spool) == ["a.jsonl", "b.jsonl"]


def test_a_large_file_goes_in_pieces_of_whole_lines(
    collector: Collector, watchpost: Watchpost
) -> None:
    lines = [event(n, text="x" * 300_000) for n in range(70)]
    write(collector.spool / "a.jsonl", lines)
    assert collector.run("watch", "--once").returncode == 0
    bodies = [request.body for request in watchpost.requests]
    assert len(bodies) == 3
    assert max(map(len, bodies)) <= EIGHT_MIB
    assert all(body.endswith(b"\n") for body in bodies)
    assert b"".join(bodies).splitlines() == lines


def test_a_last_line_without_line_break_is_sent_if_it_is_whole(
    collector: Collector, watchpost: Watchpost
) -> None:
    (collector.spool / "a.jsonl").write_bytes(event(1) + b"\n" + event(2))
    assert collector.run("watch", "--once").returncode == 0
    assert watchpost.lines == [event(1), event(2)]
    assert names(collector.spool) == []


def test_a_last_line_that_is_not_finished_waits_for_its_rest(
    collector: Collector, watchpost: Watchpost
) -> None:
    path = collector.spool / "a.jsonl"
    path.write_bytes(event(1) + b"\n" + event(2)[:30])
    done = collector.run("watch", "--once")
    assert done.returncode == 1
    assert "its last line is not finished" in done.stderr
    assert done.stdout.endswith("0 files, 1 accepted, 0 skipped, 1 left\n")
    assert path.read_bytes() == event(1) + b"\n" + event(2)[:30]
    path.write_bytes(event(1) + b"\n" + event(2) + b"\n")
    assert collector.run("watch", "--once").returncode == 0
    assert watchpost.lines == [event(1), event(2)]


def test_a_new_file_with_the_name_of_an_unfinished_one_is_sent_from_its_start(
    collector: Collector, watchpost: Watchpost
) -> None:
    path = collector.spool / "a.jsonl"
    path.write_bytes(event(1) + b"\n" + event(2)[:30])
    collector.run("watch", "--once")
    path.write_bytes(event(3) + b"\n" + event(4) + b"\n")  # the same inode
    assert collector.run("watch", "--once").returncode == 0
    assert watchpost.lines == [event(1), event(3), event(4)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who writes a file")
def test_a_file_is_not_removed_while_a_process_writes_it(
    collector: Collector, watchpost: Watchpost
) -> None:
    path = collector.spool / "a.jsonl"
    with path.open("wb") as writer:
        writer.write(event(1) + b"\n")
        writer.flush()
        os.utime(path, (1_000_000, 1_000_000))  # old, and open nevertheless
        done = collector.run("watch", "--once")
        assert (done.returncode, path.exists()) == (1, True)
        assert "a process still writes it" in done.stderr
        writer.write(event(2) + b"\n")
    assert collector.run("watch", "--once").returncode == 0
    assert watchpost.lines == [event(1), event(2)]
    assert names(collector.spool) == []


def test_a_damaged_state_costs_only_time(collector: Collector, watchpost: Watchpost) -> None:
    path = collector.spool / "a.jsonl"
    path.write_bytes(event(1) + b"\n" + event(2)[:30])
    collector.run("watch", "--once")
    (collector.state / "files.json").write_text('{"half')
    path.write_bytes(event(1) + b"\n" + event(2) + b"\n")
    assert collector.run("watch", "--once").returncode == 0
    assert watchpost.lines == [event(1), event(1), event(2)]


def test_a_file_that_cannot_be_moved_is_sent_once(
    collector: Collector, watchpost: Watchpost
) -> None:
    write(collector.spool / "a.jsonl", [event(1)])
    (collector.spool / "sent").write_text("this is in the way")
    for _ in range(2):
        done = collector.run("watch", "--once", "--keep")
        assert done.returncode == 1
        assert "Not a directory" in done.stderr
    assert watchpost.lines == [event(1)]


def test_files_are_sent_though_their_lines_cannot_be_written(
    collector: Collector, watchpost: Watchpost
) -> None:
    for number in range(2):
        write(collector.spool / f"{number}.jsonl", [event(number)])
    with collector.start("watch", "--once") as running:
        assert running.stdout is not None
        running.stdout.close()
        running.wait()
    assert set(watchpost.lines) == {event(0), event(1)}
    assert names(collector.spool) == []


def test_json_says_the_same_to_programs(collector: Collector) -> None:
    path = write(collector.spool / "a.jsonl", [event(1), b"bad"])
    done = collector.run("watch", "--once", "--json")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"file": str(path), "to": "/v1/events", "status": 202, "accepted": 1, "skipped": 1},
        {"watch": {"files": 1, "accepted": 1, "skipped": 1, "left": 0}},
    ]

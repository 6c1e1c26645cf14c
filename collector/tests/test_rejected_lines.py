"""Lines that Watchpost skips: kept as they are, each with its reason."""

from __future__ import annotations

from harness.collector import Collector
from harness.events import event, names, write
from harness.watchpost import Watchpost

EIGHT_MIB = 8 * 1024 * 1024


def test_skipped_lines_are_kept_with_their_reasons(
    collector: Collector, watchpost: Watchpost
) -> None:
    bad = b'{"type": "lonely", "\xff": 1}'
    write(collector.spool / "a.jsonl", [event(1), b"", bad, event(2), b"no json"])
    done = collector.run("watch", "--once")
    assert done.returncode == 1
    assert done.stdout.endswith("watch: 1 files, 2 accepted, 2 skipped, 0 left\n")
    assert names(collector.spool) == ["rejected"]
    rejected = collector.spool / "rejected"
    assert (rejected / "a.jsonl").read_bytes() == bad + b"\nno json\n"
    assert (rejected / "a.jsonl.reason").read_text().splitlines() == [
        "line 3: session_id is missing",
        "line 5: session_id is missing",
    ]


def test_more_skipped_lines_than_an_answer_names_are_all_found(
    collector: Collector, watchpost: Watchpost
) -> None:
    lines = [b'{"n": %d}' % n if n % 3 == 0 else event(n) for n in range(200)]
    lines += [b"bad %d" % n for n in range(50)]
    write(collector.spool / "a.jsonl", lines)
    done = collector.run("watch", "--once")
    bad = [line for line in lines if b"session_id" not in line]
    assert done.stdout.endswith(f"1 files, {250 - len(bad)} accepted, {len(bad)} skipped, 0 left\n")
    rejected = collector.spool / "rejected"
    assert (rejected / "a.jsonl").read_bytes().splitlines() == bad
    numbers = [
        int(line.split(":")[0].split()[1])
        for line in (rejected / "a.jsonl.reason").read_text().splitlines()
    ]
    assert [lines[number - 1] for number in numbers] == bad
    assert set(watchpost.lines) == {line for line in lines if b"session_id" in line}


def test_a_file_of_nothing_but_bad_lines_takes_one_request(
    collector: Collector, watchpost: Watchpost
) -> None:
    write(collector.spool / "a.jsonl", [b"bad %d" % n for n in range(500)])
    assert collector.run("watch", "--once").returncode == 1
    assert len(watchpost.requests) == 1
    assert len((collector.spool / "rejected/a.jsonl").read_bytes().splitlines()) == 500


def test_reasons_name_the_line_of_the_file_in_every_piece(collector: Collector) -> None:
    lines = [event(n, text="x" * 300_000) for n in range(70)]
    lines[69] = b"bad"
    write(collector.spool / "a.jsonl", lines)
    collector.run("watch", "--once")
    reason = (collector.spool / "rejected/a.jsonl.reason").read_text()
    assert reason == "line 70: session_id is missing\n"


def test_a_line_that_no_request_can_hold_is_rejected_here(
    collector: Collector, watchpost: Watchpost
) -> None:
    long = event(1, text="x" * EIGHT_MIB)
    write(collector.spool / "a.jsonl", [event(0), long, event(2)])
    assert collector.run("watch", "--once").returncode == 1
    assert watchpost.lines == [event(0), event(2)]
    assert (collector.spool / "rejected/a.jsonl").read_bytes() == long + b"\n"


def test_a_file_whose_bad_lines_cannot_be_kept_stays(
    collector: Collector, watchpost: Watchpost
) -> None:
    path = write(collector.spool / "a.jsonl", [event(1), b"bad"])
    (collector.spool / "rejected").write_text("this is in the way")
    done = collector.run("watch", "--once")
    assert (done.returncode, path.exists()) == (1, True)
    assert "Not a directory" in done.stderr
    # It is not sent again at once.
    assert len(watchpost.requests) == 1

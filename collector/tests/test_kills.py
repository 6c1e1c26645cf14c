"""Killed anywhere, the collector loses nothing; at worst it sends something twice."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from harness.collector import Collector
from harness.events import event, names, write
from harness.watchpost import Watchpost

pytestmark = pytest.mark.flow

# Most of a run's kills come here: between an answer and the removal of the file.
_SHORTLY_AFTER_SECS = 0.004


class Killer:
    """Kills a process around one of its requests: before the answer or shortly after it."""

    def __init__(self, chance: random.Random, watchpost: Watchpost) -> None:
        self._chance = chance
        self._left = 0
        self.pid = 0
        watchpost.before_answer = self._count

    def aim(self, pid: int) -> None:
        self.pid, self._left = pid, self._chance.randint(1, 6)

    def _count(self) -> None:
        self._left -= 1
        if self._left != 0:
            return
        if self._chance.random() < 0.3:
            self._kill()
        else:
            wait = self._chance.uniform(0, _SHORTLY_AFTER_SECS)
            threading.Timer(wait, self._kill).start()

    def _kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def fill(spool: Path) -> dict[str, list[bytes]]:
    """Writes small files, and one that takes three requests. Returns the lines of each."""
    contents = {
        f"{number:02}.jsonl": [event(10 * number + line) for line in range(3)]
        for number in range(12)
    }
    contents["large.jsonl"] = [event(1000 + n, text="x" * 400_000) for n in range(50)]
    for name, lines in contents.items():
        write(spool / name, lines)
    return contents


@pytest.mark.parametrize("seed", range(2))
def test_everything_arrives_however_often_the_collector_is_killed(
    collector: Collector, watchpost: Watchpost, seed: int
) -> None:
    chance = random.Random(seed)
    contents = fill(collector.spool)
    unfinished = collector.spool / "unfinished.jsonl"
    unfinished.write_bytes(event(5000) + b"\n" + event(5001)[:-9])
    expected = {line for lines in contents.values() for line in lines} | {event(5000)}
    killer = Killer(chance, watchpost)
    kills = 0
    while True:
        with collector.start("watch", "--once") as running:
            killer.aim(running.pid)
            running.communicate()
        arrived = set(watchpost.lines)
        for name, lines in contents.items():
            assert (collector.spool / name).exists() or arrived.issuperset(lines), name
        assert unfinished.read_bytes() == event(5000) + b"\n" + event(5001)[:-9]
        if running.returncode != -signal.SIGKILL:
            break
        kills += 1
    assert kills >= 2
    assert running.returncode == 1  # of the unfinished file
    assert arrived == expected
    assert names(collector.spool) == ["unfinished.jsonl"]


def test_a_killed_collector_sends_no_piece_again_that_it_noted(
    collector: Collector, watchpost: Watchpost
) -> None:
    """The state is written at most a second after an answer."""
    write(collector.spool / "a.jsonl", [event(n, text="x" * 400_000) for n in range(50)])
    with collector.start("watch") as running:
        noted = collector.state / "files.json"

        def kill() -> None:
            if noted.exists() and len(watchpost.requests) == 2:
                running.kill()

        def wait_for_the_note() -> None:
            # The collector notes the first piece when it sends the second one a second later.
            threading.Event().wait(1.1 if len(watchpost.requests) == 1 else 0)
            kill()

        watchpost.before_answer = wait_for_the_note
        running.communicate()
    watchpost.before_answer = lambda: None
    assert collector.run("watch", "--once").returncode == 0
    first, second, *rest = watchpost.requests
    bodies = [request.body for request in rest]
    assert bodies[0] == second.body
    assert first.body not in bodies


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_a_summary(
    collector: Collector, watchpost: Watchpost, signal_number: signal.Signals
) -> None:
    path = write(collector.spool / "a.jsonl", [event(1)])
    with collector.start("watch") as running:
        while path.exists():
            assert running.poll() is None
        time.sleep(0.3)  # it counts the file after its removal
        running.send_signal(signal_number)
        said, warned = running.communicate()
    assert (running.returncode, warned) == (0, "")
    assert said.splitlines()[1:] == ["watch: 1 files, 1 accepted, 0 skipped, 0 left"]

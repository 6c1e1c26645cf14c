"""A file that is not taken waits, and the others go on."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.events import event, names, write
from harness.watchpost import KEY, Watchpost, refusal
from watchpost_collect.client import Client
from watchpost_collect.event_files import EventFiles
from watchpost_collect.report import Report
from watchpost_collect.settings import Target
from watchpost_collect.spool import Spool
from watchpost_collect.state import State
from watchpost_collect.turns import Turns


class Clock:
    """A clock that only moves when somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waited: list[float] = []

    def sleep(self, secs: float) -> None:
        self.waited.append(secs)
        self.now += secs


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "sleep", made.sleep)
    monkeypatch.setattr(time, "monotonic", lambda: made.now)
    monkeypatch.setattr(random, "uniform", lambda _low, high: high)
    return made


@pytest.fixture
def files(watchpost: Watchpost, tmp_path: Path) -> Iterator[EventFiles]:
    """The event files of a folder that is empty."""
    host, _, port = watchpost.url.removeprefix("http://").partition(":")
    report = Report("watch", as_json=False)
    target = Target("http", host, int(port), "", KEY)
    client = Client(target, "m", tries=None, tell=report.warn)
    spool = Spool(tmp_path / "events", keep=False)
    yield EventFiles(spool, client, State(tmp_path / "state"), report, Turns(client, report))
    client.close()


def test_a_file_that_always_fails_delays_others_by_a_second(
    files: EventFiles, watchpost: Watchpost, clock: Clock, tmp_path: Path
) -> None:
    watchpost.breaks_on = event(0)
    write(tmp_path / "events" / "a.jsonl", [event(0)])
    for number in range(1, 9):
        write(tmp_path / "events" / "b.jsonl", [event(number)])
        files.look()
        assert watchpost.lines[-1] == event(number)
        assert clock.waited in ([1.0], [])
        clock.now += 2 ** (number - 1) - sum(clock.waited)
        clock.waited.clear()
    watchpost.breaks_on = None
    clock.now += 60
    files.look()
    assert (watchpost.lines[-1], names(tmp_path / "events")) == (event(0), [])


def test_all_wait_longer_while_nothing_is_taken(
    files: EventFiles, watchpost: Watchpost, clock: Clock, tmp_path: Path
) -> None:
    watchpost.breaks_on = b"session_id"
    for number in range(9):
        write(tmp_path / "events" / f"{number}.jsonl", [event(number)])
    files.look()
    assert clock.waited == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    watchpost.breaks_on = None
    clock.waited.clear()
    files.look()
    assert (clock.waited, names(tmp_path / "events")) == ([], [])


def test_all_wait_as_long_as_watchpost_asks(
    files: EventFiles, watchpost: Watchpost, clock: Clock, tmp_path: Path
) -> None:
    watchpost.replies.append(refusal(503, "full", Retry_After="20"))
    for number in range(2):
        write(tmp_path / "events" / f"{number}.jsonl", [event(number)])
    files.look()
    assert (clock.waited, names(tmp_path / "events")) == ([20], ["0.jsonl"])
    files.look()
    assert watchpost.lines == [event(1), event(0)]

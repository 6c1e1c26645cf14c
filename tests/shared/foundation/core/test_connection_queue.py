"""The queue for a store's connections: a burst is served, a stall keeps only a few waiting."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from devstack import DevStack
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core import connection_queue
from shared.foundation.core.connection_queue import ConnectionQueue, NoPlace
from shared.foundation.core.errors import Unavailable
from shared.foundation.postgres import Postgres


class Visitors:
    """Threads that take a turn and keep it until released."""

    def __init__(self, threads: ThreadPoolExecutor, places: ConnectionQueue) -> None:
        self._threads = threads
        self._places = places
        self.served: list[str] = []
        self.leave = {name: threading.Event() for name in "abcdefgh"}
        self.come = {name: threading.Event() for name in "abcdefgh"}

    def ask(self, name: str) -> "Future[None]":
        return self._threads.submit(self._visit, name)

    def _visit(self, name: str) -> None:
        with self._places.place():
            self.served.append(name)
            self.come[name].set()
            assert self.leave[name].wait(20)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as pool:
        yield pool


@pytest.fixture
def stalled(monkeypatch: pytest.MonkeyPatch) -> None:
    """All places stay taken, and only patient callers wait."""
    monkeypatch.setattr(connection_queue, "STALL_SECS", 0.0)


@pytest.fixture
def visitors(threads: ThreadPoolExecutor) -> Iterator[Callable[[ConnectionQueue], Visitors]]:
    made: list[Visitors] = []

    def make(places: ConnectionQueue) -> Visitors:
        made.append(Visitors(threads, places))
        return made[-1]

    yield make
    for one in made:
        for event in one.leave.values():
            event.set()


def until_waiting(places: ConnectionQueue, count: int) -> None:
    """Waits until this many callers wait."""
    pause = threading.Event()
    for _ in range(2000):
        if places._waiting == count:
            return
        pause.wait(0.01)
    pytest.fail(f"{places._waiting} wait, not {count}")


@pytest.mark.usefixtures("stalled")
def test_while_nothing_moves_only_the_patient_wait(
    visitors: Callable[[ConnectionQueue], Visitors],
) -> None:
    places = ConnectionQueue(2, patient=2)
    crowd = visitors(places)
    asked = [crowd.ask(name) for name in "ab"]
    assert all(crowd.come[name].wait(20) for name in "ab")
    for count, name in enumerate("cd", 1):
        asked.append(crowd.ask(name))
        until_waiting(places, count)
    for name in "ef":
        with pytest.raises(NoPlace):
            crowd.ask(name).result(20)
    for event in crowd.leave.values():
        event.set()
    for one in asked:
        one.result(20)
    assert sorted(crowd.served) == ["a", "b", "c", "d"]


def test_a_burst_is_served_in_the_order_of_asking(
    visitors: Callable[[ConnectionQueue], Visitors],
) -> None:
    places = ConnectionQueue(1, patient=6)
    crowd = visitors(places)
    asked = [crowd.ask("a")]
    assert crowd.come["a"].wait(20)
    for count, name in enumerate("bcdefg", 1):
        asked.append(crowd.ask(name))
        until_waiting(places, count)
    for event in crowd.leave.values():
        event.set()
    for one in asked:
        one.result(20)
    assert crowd.served == list("abcdefg")


def test_a_burst_is_served_as_long_as_places_come_free(
    threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_queue, "STALL_SECS", 30.0)
    places, served = ConnectionQueue(2, patient=1), []

    def visit(number: int) -> None:
        for _ in range(200):
            with places.place():
                served.append(number)

    for one in [threads.submit(visit, number) for number in range(16)]:
        one.result(60)
    assert len(served) == 16 * 200


@pytest.mark.usefixtures("stalled")
def test_a_free_place_is_never_refused() -> None:
    places = ConnectionQueue(1, patient=1)
    for _ in range(100):
        with places.place():
            pass


def test_no_wait_is_endless(
    monkeypatch: pytest.MonkeyPatch, visitors: Callable[[ConnectionQueue], Visitors]
) -> None:
    monkeypatch.setattr(connection_queue, "LONGEST_SECS", 0.1)
    crowd = visitors(ConnectionQueue(1, patient=8))
    crowd.ask("a")
    assert crowd.come["a"].wait(20)
    for name in "bc":
        with pytest.raises(NoPlace):
            crowd.ask(name).result(20)


def test_a_place_comes_back_from_who_fails() -> None:
    places = ConnectionQueue(1, patient=1)
    for _ in range(3):
        with pytest.raises(ValueError, match="broken"), places.place():
            raise ValueError("broken")


def refused(ask: Callable[[], object]) -> tuple[str, int | None, list[object]]:
    """Returns the code, the `Retry-After` and the logged reasons of a refusal."""
    with capture_logs() as logs, pytest.raises(Unavailable) as refusal:
        ask()
    return refusal.value.code, refusal.value.retry_after_secs, [line["reason"] for line in logs]


def test_postgresql_and_clickhouse_refuse_with_a_line_in_the_log(
    stack: DevStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_queue, "LONGEST_SECS", 0.1)
    postgres = Postgres(stack.urls.database_url, pool_size=1)
    clickhouse = ClickHouse(stack.urls.clickhouse_url, pool_size=1)

    def ask_postgres() -> None:
        with postgres.transaction() as session:
            session.execute(text("SELECT 1"))

    try:
        rows = clickhouse.stream("SELECT number FROM numbers(10)")
        assert next(rows) == (0,)
        with postgres.transaction():
            assert refused(ask_postgres) == ("postgres_unavailable", 5, ["no free connection"])
            assert refused(lambda: clickhouse.rows("SELECT 1")) == (
                "clickhouse_unavailable", 5, ["no free connection"],
            )  # fmt: skip
        assert len(list(rows)) == 9
        ask_postgres()
        assert clickhouse.rows("SELECT 1") == [(1,)]
    finally:
        postgres.close()
        clickhouse.close()

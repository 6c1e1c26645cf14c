"""The requests of many sessions, read together."""

from collections.abc import Iterator, Mapping

import pytest
from clickhouse_driver.errors import ServerException

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.core.errors import Unavailable
from shared.foundation.core.ids import new_id
from shared.reading.sessions import evaluation_request
from shared.reading.sessions.evaluation_request import (
    Built,
    EvaluationRequestTooLarge,
    build,
    build_many,
)
from shared.reading.sessions.facts import SessionKey
from tests.support.events import event, store_events

MAX_BYTES = 25 * 1024 * 1024


class Reads(ClickHouse):
    """Counts the reads of events. Refuses those that include the session `bad`."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.sizes: list[int] = []

    def stream(self, sql: str, params: Mapping[str, object] | None = None) -> Iterator[Row]:
        names = [value for name, value in (params or {}).items() if name.startswith("session_id")]
        self.sizes.append(len(names))
        if "bad" in names:
            raise ServerException("it cannot be read", code=1000)
        if "down" in names:
            raise Unavailable("ClickHouse is down")
        return super().stream(sql, params)


@pytest.fixture
def reads(clickhouse_url: str, clickhouse: ClickHouse) -> Iterator[Reads]:
    counting = Reads(clickhouse_url)
    yield counting
    counting.close()


def _all(clickhouse: ClickHouse, keys: list[SessionKey], max_bytes: int = MAX_BYTES) -> list[Built]:
    built: dict[SessionKey, Built] = {}
    for part in build_many(clickhouse, keys, max_bytes=max_bytes):
        assert not built.keys() & part.keys()
        built |= part
    assert built.keys() == set(keys)
    return [built[key] for key in keys]


def _keys(org_id: str, *names: str) -> list[SessionKey]:
    return [SessionKey(org_id, name) for name in names]


def test_each_request_is_the_one_that_is_built_alone(
    clickhouse: ClickHouse, reads: Reads, org_id: str
) -> None:
    other_id = str(new_id())
    for one in (org_id, other_id):
        for number, name in enumerate(("s", "t/ü", "u'\\")):
            lines = [event(name, f"10:{number}0:{n:02}", "x", by=one, n=n) for n in range(40)]
            store_events(clickhouse, one, lines[20:])
            store_events(clickhouse, one, lines)
            store_events(clickhouse, one, [event(name, "10:50", "agent_end")])
    keys = _keys(org_id, "s", "t/ü", "u'\\") + _keys(other_id, "u'\\", "s", "unknown")
    alone = [build(clickhouse, key.org_id, key.session_id) for key in keys]
    assert _all(reads, keys) == alone
    assert alone[-1] is None
    assert all(alone[:-1])
    assert reads.sizes == [5]


def test_sessions_with_many_bytes_are_read_in_halves(
    clickhouse: ClickHouse, reads: Reads, org_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation_request, "MAX_GROUP_BYTES", 20_000)
    names = ("a", "b", "large", "d")
    for name in names:
        text = "x" * (30_000 if name == "large" else 2000)
        store_events(clickhouse, org_id, [event(name, "10:00:00", text=text)])
    assert _all(reads, _keys(org_id, *names)) == [build(clickhouse, org_id, n) for n in names]
    assert sorted(reads.sizes) == [1, 1, 2, 2, 4]


def test_a_session_that_is_too_large_takes_no_other_with_it(
    clickhouse: ClickHouse, org_id: str
) -> None:
    for name in ("a", "large", "b"):
        size = 100_000 if name == "large" else 100
        store_events(clickhouse, org_id, [event(name, "10:00:00", text="x" * size)])
    first, large, last = _all(clickhouse, _keys(org_id, "a", "large", "b"), max_bytes=50_000)
    assert isinstance(large, EvaluationRequestTooLarge)
    assert (first, last) == (build(clickhouse, org_id, "a"), build(clickhouse, org_id, "b"))


def test_a_session_that_cannot_be_read_takes_no_other_with_it(
    clickhouse: ClickHouse, reads: Reads, org_id: str
) -> None:
    names = ("a", "bad", "b", "c")
    store_events(clickhouse, org_id, [event(name, "10:00:00") for name in names])
    a, bad, b, c = _all(reads, _keys(org_id, *names))
    assert isinstance(bad, ServerException)
    assert (a, b, c) == tuple(build(clickhouse, org_id, name) for name in "abc")


def test_without_clickhouse_nothing_is_read_in_halves(
    clickhouse: ClickHouse, reads: Reads, org_id: str
) -> None:
    store_events(clickhouse, org_id, [event(name, "10:00:00") for name in ("down", "a")])
    with pytest.raises(Unavailable):
        _all(reads, _keys(org_id, "down", "a"))
    assert reads.sizes == [2]


def test_a_long_session_is_read_by_itself_and_last(
    clickhouse: ClickHouse, reads: Reads, org_id: str
) -> None:
    for name in ("long", "a", "b"):
        end = "11:00:01" if name == "long" else "11:00:00"
        store_events(clickhouse, org_id, [event(name, "10:00:00"), event(name, end)])
    parts = list(build_many(reads, _keys(org_id, "long", "a", "b"), max_bytes=MAX_BYTES))
    assert [{key.session_id for key in part} for part in parts] == [{"a", "b"}, {"long"}]
    assert reads.sizes == [2, 1]


def test_the_last_read_of_many_leaves_its_connection_usable(
    clickhouse: ClickHouse, org_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read in halves happens while no half-read connection is held."""
    monkeypatch.setattr(evaluation_request, "MAX_GROUP_BYTES", 5000)
    names = [f"s{number}" for number in range(16)]
    store_events(clickhouse, org_id, [event(name, "10:00:00", text="x" * 3000) for name in names])
    single = ClickHouse(clickhouse._url, pool_size=1)
    assert _all(single, _keys(org_id, *names)) == [build(clickhouse, org_id, n) for n in names]
    single.close()

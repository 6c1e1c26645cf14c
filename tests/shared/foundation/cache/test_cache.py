"""The cache: what expires, and what stays available while PostgreSQL is away."""

import pytest

from shared.foundation.cache import EpochCache
from shared.foundation.cache import cache as cache_module
from shared.foundation.core.errors import Unauthorized, Unavailable


class Source:
    """The source of the cache: returns `value` or raises `error`, and counts its calls."""

    def __init__(self) -> None:
        self.value = "first"
        self.error: Exception | None = None
        self.asked = 0

    def load(self) -> str:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return self.value


@pytest.fixture
def source() -> Source:
    """A source that answers."""
    return Source()


@pytest.fixture
def cache() -> EpochCache[str, str]:
    """An empty cache of three entries."""
    return EpochCache(capacity=3)


def test_a_value_is_read_once_a_generation(cache: EpochCache[str, str], source: Source) -> None:
    assert [cache.get("key", b"1", source.load) for _ in range(3)] == ["first"] * 3
    assert source.asked == 1
    source.value = "second"
    assert cache.get("key", b"2", source.load) == "second"


def test_nothing_is_remembered_without_a_generation(
    cache: EpochCache[str, str], source: Source
) -> None:
    for _ in range(2):
        cache.get("key", None, source.load)
    assert source.asked == 2


def test_it_is_bounded_and_the_least_used_goes(cache: EpochCache[str, str], source: Source) -> None:
    for key in ("a", "b", "c", "a", "d"):
        cache.get(key, b"1", source.load)
    source.asked = 0
    for key in ("a", "c", "d"):
        cache.get(key, b"1", source.load)
    assert source.asked == 0
    cache.get("b", b"1", source.load)
    assert source.asked == 1


def test_an_old_entry_outlives_an_outage_and_no_change(
    cache: EpochCache[str, str], source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "LIFETIME_SECS", 0.0)
    monkeypatch.setattr(cache_module, "RETRY_SECS", 0.0)
    cache.get("key", b"1", source.load)
    source.error = Unavailable("away")
    assert [cache.get("key", b"1", source.load) for _ in range(2)] == ["first"] * 2
    with pytest.raises(Unavailable):
        cache.get("key", b"2", source.load)
    source.error = None
    source.value = "second"
    assert cache.get("key", b"2", source.load) == "second"


def test_while_it_is_away_the_source_is_left_alone(
    cache: EpochCache[str, str], source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "LIFETIME_SECS", 0.0)
    cache.get("key", b"1", source.load)
    source.error = Unavailable("away")
    for _ in range(5):
        cache.get("key", b"1", source.load)
    assert source.asked == 2


def test_a_refusal_takes_the_place_of_an_old_entry(
    cache: EpochCache[str, str], source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "LIFETIME_SECS", 0.0)
    cache.get("key", b"1", source.load)
    source.error = Unauthorized("gone")
    with pytest.raises(Unauthorized):
        cache.get("key", b"1", source.load)

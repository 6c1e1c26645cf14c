"""Bodies that came before within 24 hours, by the times of their receipts."""

from typing import Any

import pytest

from shared.foundation.core.clock import now_us
from shared.foundation.deployment.runtime import Runtime
from shared.intake.receipts import folding
from shared.intake.receipts.flushing import _decode
from shared.intake.receipts.folding import MAX_BODIES, fold
from shared.intake.receipts.keys import keys_of
from shared.intake.receipts.origin import Origin
from shared.intake.receipts.receipt import Receipt, count, digest_of
from tests.support.runtime import Org, make_org

HOUR_US = 3_600_000_000
AT = now_us()
ROW = Origin("events").of()


@pytest.fixture
def org(postgres_and_redis_runtime: Runtime) -> Org:
    return make_org(postgres_and_redis_runtime)


def duplicates(runtime: Runtime, org: Org, *came: tuple[float, bytes]) -> int:
    """Returns the duplicates of bodies that came after so many hours, with one event each."""
    for hours, body in came:
        receipt = Receipt(AT + int(hours * HOUR_US), {ROW: {"accepted": 1}}, digest_of(body))
        count(runtime.redis, [(org.id, receipt)])
        fold(runtime.redis, org.id)
    packed: Any = runtime.redis.hvals(keys_of(org.id).rows)
    tallies = map(_decode, packed)
    return sum(tally.get("duplicate", 0) for tally in tallies)


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        ((0, 0.001), 1),
        ((0, 23.9), 1),
        ((0, 24.1), 0),
        ((0, 20, 40), 2),
        ((0, 20, 45, 50), 2),
        ((0, 60, 61), 1),
    ],
)
def test_a_body_is_remembered_for_a_day(
    postgres_and_redis_runtime: Runtime, org: Org, hours: tuple[float, ...], expected: int
) -> None:
    came = [(hour, b"the same") for hour in hours]
    assert duplicates(postgres_and_redis_runtime, org, *came) == expected


def test_other_bodies_are_not_duplicates(postgres_and_redis_runtime: Runtime, org: Org) -> None:
    assert duplicates(postgres_and_redis_runtime, org, (0, b"a"), (0, b"b"), (0, b"")) == 0


def test_the_memory_is_bounded_and_the_newest_bodies_stay(
    postgres_and_redis_runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = folding._FOLD.replace(str(MAX_BODIES), "10")
    assert few != folding._FOLD
    monkeypatch.setattr(folding, "_FOLD", few)
    came = [(number / 1000, b"%d" % number) for number in range(100)]
    assert duplicates(postgres_and_redis_runtime, org, *came) == 0
    assert duplicates(postgres_and_redis_runtime, org, *came[-10:]) == 10
    base = keys_of(org.id).base
    redis = postgres_and_redis_runtime.redis
    assert redis.hlen(f"{base}:bodies") + redis.hlen(f"{base}:older_bodies") < 30

"""From receipts in Redis to rows in PostgreSQL: nothing lost, nothing counted twice."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from shared.foundation.core.clock import from_us, now_us
from shared.foundation.core.errors import Unavailable
from shared.foundation.deployment.runtime import Runtime
from shared.intake.receipts import flushing, folding
from shared.intake.receipts.flushing import flush, flush_all, tidy
from shared.intake.receipts.folding import MAX_ROWS
from shared.intake.receipts.keys import ACTIVE, keys_of
from shared.intake.receipts.origin import Origin
from shared.intake.receipts.receipt import Receipt, Tally, count
from shared.intake.receipts.refusals import Refusals
from tests.support.runtime import Org, make_org

HOUR_US = 3_600_000_000
AT = now_us()


@pytest.fixture
def runtime(postgres_and_redis_runtime: Runtime) -> Runtime:
    return postgres_and_redis_runtime


def bring(
    runtime: Runtime, org: Org, at_us: int = AT, tally: Tally | None = None, sender: str = "s"
) -> None:
    row = Origin("events", "", sender).of()
    count(runtime.redis, [(org.id, Receipt(at_us, {row: {"requests": 1, **(tally or {})}}))])


def rows(runtime: Runtime, org: Org) -> list[Any]:
    query = text(
        "SELECT bucket_start, sender, first_at, last_at, tally FROM receipts"
        " WHERE org_id = :org_id ORDER BY bucket_start, sender"
    )
    with runtime.postgres.transaction() as session:
        return list(session.execute(query, {"org_id": org.uuid}))


def requests(runtime: Runtime, org: Org) -> int:
    return sum(row.tally["requests"] for row in rows(runtime, org))


def test_receipts_of_an_hour_become_one_row(runtime: Runtime, org: Org) -> None:
    start = AT // HOUR_US * HOUR_US
    for minute in (5, 3, 9):
        bring(runtime, org, start + minute * 60_000_000, {"accepted": minute, ">lag_ms": minute})
    bring(runtime, org, start - 1, {"accepted": 7})
    flush(runtime.postgres, runtime.redis, org.id)
    bring(runtime, org, start + 1, {"accepted": 100, ">lag_ms": 8, "lag.3": 1})
    flush(runtime.postgres, runtime.redis, org.id)
    before, row = rows(runtime, org)
    assert before.bucket_start == from_us(start - HOUR_US)
    assert row.bucket_start == from_us(start)
    assert (row.first_at, row.last_at) == (from_us(start + 1), from_us(start + 9 * 60_000_000))
    assert row.tally == {"requests": 4, "accepted": 117, ">lag_ms": 9, "lag.3": 1}


def test_redis_keeps_nothing_that_is_flushed(runtime: Runtime, org: Org) -> None:
    bring(runtime, org)
    assert runtime.redis.sismember(ACTIVE, org.id)
    flush_all(runtime.postgres, runtime.redis)
    keys = keys_of(org.id)
    assert runtime.redis.exists(keys.log, keys.rows, keys.flushing) == 0
    assert not runtime.redis.sismember(ACTIVE, org.id)


@pytest.mark.parametrize("step", ["fold", "_set_aside", "_store", "commit", "_remove"])
def test_a_flusher_may_be_killed_at_any_step(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    class Killed(BaseException):
        pass

    def killed_after(real: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            real(*args)
            raise Killed

        return run

    bring(runtime, org)
    with monkeypatch.context() as patch:
        if step == "commit":
            # Killed after the commit and before the rows leave Redis.
            patch.setattr(flushing, "_remove", killed_after(lambda *_args: None))
        else:
            patch.setattr(flushing, step, killed_after(getattr(flushing, step)))
        with pytest.raises(Killed):
            flush(runtime.postgres, runtime.redis, org.id)
    bring(runtime, org)
    flush(runtime.postgres, runtime.redis, org.id)
    assert requests(runtime, org) == 2


def test_a_late_flusher_removes_nothing_of_the_next(runtime: Runtime, org: Org) -> None:
    bring(runtime, org)
    flush(runtime.postgres, runtime.redis, org.id)
    bring(runtime, org)
    folding.fold(runtime.redis, org.id)
    assert flushing._set_aside(runtime.redis, keys_of(org.id).base)
    flushing._remove(runtime.redis, org.id, "token of the first")
    flush(runtime.postgres, runtime.redis, org.id)
    assert requests(runtime, org) == 2


def test_postgres_that_is_away_costs_nothing(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_args: object) -> None:
        raise Unavailable("the database is unavailable")

    bring(runtime, org)
    with monkeypatch.context() as patch:
        patch.setattr(flushing, "_store", away)
        with pytest.raises(Unavailable):
            flush(runtime.postgres, runtime.redis, org.id)
    flush(runtime.postgres, runtime.redis, org.id)
    assert requests(runtime, org) == 1


def test_receipts_of_a_purged_organization_are_dropped(runtime: Runtime) -> None:
    org = make_org(runtime)
    bring(runtime, org)
    with runtime.postgres.transaction() as session:
        session.execute(text("DELETE FROM organizations WHERE id = :id"), {"id": org.uuid})
    flush_all(runtime.postgres, runtime.redis)
    assert not runtime.redis.sismember(ACTIVE, org.id)
    assert runtime.redis.exists(*keys_of(org.id)) == 0


def test_an_hour_has_a_bounded_number_of_rows(runtime: Runtime, org: Org) -> None:
    for number in range(MAX_ROWS + 20):
        bring(runtime, org, sender=f"s{number}")
    flush(runtime.postgres, runtime.redis, org.id)
    bring(runtime, org, sender="s0")
    bring(runtime, org, sender="later")
    bring(runtime, org, AT - HOUR_US, sender="later")
    flush(runtime.postgres, runtime.redis, org.id)
    found = rows(runtime, org)
    assert len(found) == MAX_ROWS + 2
    assert requests(runtime, org) == MAX_ROWS + 23
    assert {row.sender: row.tally["requests"] for row in found if row.tally["requests"] > 1} == {
        "other": 21,
        "s0": 2,
    }


def test_an_hour_has_a_bounded_number_of_names(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(folding.MAX_NAMES + 5):
        bring(runtime, org, tally={f"unmapped:a{number}": 2})
    flush(runtime.postgres, runtime.redis, org.id)
    [row] = rows(runtime, org)
    assert len(row.tally) == folding.MAX_NAMES + 2
    assert row.tally["unmapped:other"] == 10


def test_refusals_are_counted_when_redis_is_back(runtime: Runtime, org: Org) -> None:
    refusals = Refusals(runtime.redis)
    away = Unavailable("Redis is unavailable", code="redis_unavailable")
    for _ in range(3):
        refusals.add(org.id, Origin("events"), away)
    flush(runtime.postgres, runtime.redis, org.id)
    assert rows(runtime, org) == []
    assert refusals
    refusals.send()
    refusals.send()
    flush(runtime.postgres, runtime.redis, org.id)
    [row] = rows(runtime, org)
    assert row.tally == {"requests": 3, "refused": 3, "reason:Redis is unavailable": 3}


def test_old_rows_are_deleted(runtime: Runtime, org: Org) -> None:
    bring(runtime, org)
    bring(runtime, org, AT - timedelta(days=30, hours=2) // timedelta(microseconds=1))
    flush(runtime.postgres, runtime.redis, org.id)
    assert len(rows(runtime, org)) == 2
    with runtime.postgres.transaction() as session:
        assert tidy(session) >= 1
    assert requests(runtime, org) == 1


@pytest.fixture
def org(runtime: Runtime) -> Org:
    return make_org(runtime)

"""GET /v1/evaluations/aggregate counts a result once, wherever its copies are."""

import random
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.core.clock import to_us
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store
from shared.reading.evaluations.aggregate.compute import ResultAggregates, aggregate
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.evaluations.records import Evaluation
from tests.reading.scores import Wanted, require_equal
from tests.reading.scores import aggregate as slow_aggregate
from tests.support.app import Headers
from tests.support.evaluations import evaluation
from tests.support.runtime import Org

START = datetime(2026, 10, 29, 12, tzinfo=UTC)
BLOCKS, ROWS = 12, 20


@pytest.fixture
def unmerged(runtime: Runtime) -> Iterator[ClickHouse]:
    """ClickHouse that leaves parts as they were inserted."""
    runtime.clickhouse.execute("SYSTEM STOP MERGES evaluations")
    yield runtime.clickhouse
    runtime.clickhouse.execute("SYSTEM START MERGES evaluations")


def _blocks(org_id: str, draw: random.Random) -> list[list[Evaluation]]:
    """Returns blocks of results in the order of time, over two months, that do not overlap."""
    return [
        [
            _result(org_id, draw, START + timedelta(hours=12 * (block + draw.random())))
            for _ in range(ROWS)
        ]
        for block in range(BLOCKS)
    ]


def _result(org_id: str, draw: random.Random, at: datetime) -> Evaluation:
    status = draw.choice(["done", "done", "done", "error", "timeout"])
    keys = draw.sample(["goal", "tone", "", "größe"], draw.randrange(5))
    scores = {key: draw.gauss(0, 3) for key in keys}
    return evaluation(
        org_id,
        f"s{draw.randrange(80)}",
        to_us(at),
        status=status,
        agent_id=draw.choice(["main", "helper"]),
        scores=scores if status == "done" else None,
    )


def test_copies_reevaluations_and_deletions(
    unmerged: ClickHouse, org: Org, client: FlaskClient, key: Callable[..., Headers]
) -> None:
    """The answer is the slow computation's after each of them."""
    draw, headers = random.Random(53), key("evaluations:read")
    results: list[Evaluation] = []
    queries: list[tuple[Mapping[str, str], Wanted]] = [
        ({}, Wanted()),
        ({"bucket": "6h"}, Wanted(bucket="6h")),
        (
            {"agent_id": "main", "bucket": "day", "latest_per_session": "true"},
            Wanted([lambda row: row.agent_id == "main"], latest=True, bucket="day"),
        ),
        (
            {"ts_from": "2026-10-31T00:00:00Z", "ts_to": "2026-11-02T00:00:00Z"},
            Wanted(since=START + timedelta(hours=36), until=START + timedelta(hours=84)),
        ),
    ]

    def check() -> None:
        for query, wanted in queries:
            found = client.get("/v1/evaluations/aggregate", query_string=query, headers=headers)
            require_equal(found.get_json(), slow_aggregate(results, wanted), "$")

    blocks = _blocks(org.id, draw)
    for block in blocks:
        store.insert(unmerged, block)
        results += block
    check()
    store.insert(unmerged, blocks[3])
    check()
    store.insert(unmerged, [*blocks[7][:5], *blocks[9][:5]])
    [(stored,)] = unmerged.rows(
        "SELECT count() FROM evaluations WHERE org_id = {org_id:String}", {"org_id": org.id}
    )
    assert stored == len(results) + ROWS + 10
    check()
    again = [_result(org.id, draw, START + timedelta(days=7)) for _ in range(ROWS)]
    store.insert(unmerged, again)
    results += again
    check()
    unmerged.execute("SYSTEM START MERGES evaluations")  # a deletion waits for them
    unmerged.execute("DELETE FROM evaluations WHERE session_id < 's4'")
    results[:] = [row for row in results if row.session_id >= "s4"]
    check()
    store.insert(unmerged, [row for row in blocks[5] if row.session_id >= "s4"])
    check()


class Interrupted(ClickHouse):
    """ClickHouse in which something happens right after the first statement."""

    happens: Callable[[], None] | None = None

    def rows(self, *args: Any, **settings: Any) -> list[Row]:
        """Returns the rows; the first time something happens before the next statement."""
        found = super().rows(*args, **settings)
        if self.happens is not None:
            happens, self.happens = self.happens, None
            happens()
        return found


def test_a_copy_that_is_stored_between_two_statements_counts_once(
    unmerged: ClickHouse, org: Org, clickhouse_url: str
) -> None:
    block = [evaluation(org.id, f"s{n}", to_us(START) + n, scores={"x": n}) for n in range(9)]
    store.insert(unmerged, block)
    interrupted = Interrupted(clickhouse_url)

    def read(clickhouse: ClickHouse) -> ResultAggregates:
        wanted = EvaluationFilters()
        return aggregate(
            clickhouse, org.id, wanted, bucket="hour", featured_keys=[], series=[], histogram=3
        )

    alone = read(unmerged)
    interrupted.happens = lambda: store.insert(unmerged, block)
    assert read(interrupted) == alone
    assert read(unmerged) == alone
    assert alone.total.total == len(block)
    interrupted.close()

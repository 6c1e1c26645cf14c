"""The service reads the same from one server and from two shards.

`tests.support.shards` explains the difference to a real cluster (no replication, no ON CLUSTER).
"""

import itertools
import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.kept import KEPT
from shared.foundation.clickhouse.mutations import unfinished
from shared.reading.evaluations import facets as score_facets
from shared.reading.evaluations import latest, listing, store
from shared.reading.evaluations.aggregate.compute import aggregate
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.events import facets
from shared.reading.events.error_summary import error_groups, error_summary
from shared.reading.events.filters import EventFilters
from shared.reading.events.latency.aggregate import latency_aggregate
from shared.reading.events.latency.parameters import latency_query
from shared.reading.events.latency.query import LatencyFilters
from shared.reading.events.page import read_page
from shared.reading.sessions import facts, selection, sorting, totals
from shared.reading.sessions.event_stream import event_objects
from shared.reading.sessions.metrics import parse_metric_filters
from shared.reading.sessions.selection import SessionFilters
from shared.upkeep.retention import statements
from shared.upkeep.retention.limits import RetentionLimit
from shared.upkeep.usage import evaluations as usage_evaluations
from shared.upkeep.usage import events as usage_events
from shared.upkeep.usage.billing_windows import BillingWindow
from tests.support import events as support
from tests.support.evaluations import evaluation
from tests.support.processes import wait_until
from tests.support.shards import Both, one_and_two_shards

pytestmark = pytest.mark.flow

ORG, OTHER = (f"{digit * 8}-0000-4000-8000-000000000000" for digit in "12")
AROUND = {name: datetime(2026, 11, day, tzinfo=UTC) for name, day in (("ts_from", 2), ("ts_to", 3))}
IDS = [f"s{n}" for n in range(60)]
EVER = BillingWindow(datetime(1970, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    """60 sessions of two organizations each, with events and results stored once or twice."""
    with one_and_two_shards() as made:
        for org_id in (ORG, OTHER):
            _fill(made, org_id)
        yield made


def _fill(both: Both, org_id: str) -> None:
    draw = random.Random(org_id)
    types = ["agent_start", "agent_end", "tool_use", "error", "note"]
    lines = [
        support.event(
            draw.choice(IDS),
            f"{place // 60:02}:{place % 60:02}:00",
            draw.choice(types),
            agent_id=draw.choice("abc"),
            environment=draw.choice("pq"),
            input_tokens=draw.randrange(50),
            **draw.choice([{}, {"user_id": "ann"}, {"user_id": "bob"}]),
        )
        for place in range(720)
    ]
    completed = [1_793_613_600_000_000 + place * 1000 for place in range(150)]
    results = [
        evaluation(
            org_id,
            IDS[place % 55],
            at,
            scores={"a": place / 256},
            status=draw.choice(["done", "error"]),
            evaluator=key,
        )
        for key in ("default", "own")
        for place, at in enumerate(completed)
    ]
    batch = next(support._batches)
    for stored_in in (both.one, both.two):
        support._batches = itertools.count(batch)
        support.store_events(stored_in, org_id, lines)
        support.store_events(stored_in, org_id, lines[::2])
        store.insert(stored_in, results)
        store.insert(stored_in, results[::2])


def _sessions(**fields: object) -> Callable[[ClickHouse], object]:
    wanted = SessionFilters(**fields)
    return lambda clickhouse: selection.select(clickhouse, ORG, wanted, limit=40, after=None)


def _results(**fields: object) -> Callable[[ClickHouse], object]:
    wanted = EvaluationFilters(**fields)
    return lambda clickhouse: listing.page(clickhouse, ORG, wanted, limit=200, cursor=None).rows


def _events(*, ascending: bool, **fields: object) -> Callable[[ClickHouse], object]:
    wanted = EventFilters(**fields)
    return lambda clickhouse: read_page(
        clickhouse, ORG, ("id", "payload"), wanted, ascending=ascending, cursor=None, limit=100
    )


def _latencies(pair_key_paths: Sequence[str] = ()) -> Callable[[ClickHouse], object]:
    day = datetime(2026, 11, 2, tzinfo=UTC)
    query = latency_query(
        LatencyFilters(ts_from=day, ts_to=day + timedelta(days=1)),
        start_event_type="agent_start",
        end_event_type="agent_end",
        bin_count=6,
        outcome="all",
        pair_key_paths=list(pair_key_paths),
        distribution_key_paths=[],
        payload_contains=[],
        payload_sum_paths=[],
    )
    return lambda clickhouse: latency_aggregate(clickhouse, ORG, query)


def _scores(**fields: object) -> Callable[[ClickHouse], object]:
    wanted = EvaluationFilters(**fields)
    return lambda clickhouse: aggregate(
        clickhouse, ORG, wanted, bucket="hour", featured_keys=(), series=()
    )


READS: dict[str, Callable[[ClickHouse], object]] = {
    "sessions": _sessions(),
    "sessions by status": _sessions(status=("done",)),
    "sessions by status or none": _sessions(status=("error", "none")),
    "sessions without a result": _sessions(status=("none",)),
    "sessions by agent": _sessions(agent_id=("a",), environment=("p",)),
    "sessions by figures": _sessions(
        metric_filters=parse_metric_filters(["tokens:250..", "event_count:..13"])
    ),
    "sessions by tokens": lambda c: sorting.ranked(
        c, ORG, SessionFilters(**AROUND), "tokens", limit=40, cursor=None, ascending=False
    ),
    "facts": lambda c: facts.fetch(c, ORG, IDS),
    "totals": lambda c: totals.totals_of(c, ORG, list(facts.fetch(c, ORG, IDS).values())),
    "export": lambda c: list(event_objects(c, ORG, facts.fetch(c, ORG, ["s1"])["s1"])),
    "latest results": lambda c: latest.latest_of(c, ORG, IDS, since=0),
    "results": _results(),
    "newest results": _results(latest_per_session=True),
    "newest results by status": _results(latest_per_session=True, status=("done",)),
    "scores by session": _scores(time="session"),
    "scores of a day of sessions": _scores(
        time="session",
        ts_from=datetime(2026, 11, 2, tzinfo=UTC),
        ts_to=datetime(2026, 11, 3, tzinfo=UTC),
    ),
    "score keys": lambda c: score_facets.score_keys(c, ORG),
    "newest events": _events(ascending=False),
    "oldest events": _events(ascending=True),
    "events of sessions": _events(ascending=True, session_id=["s1", "s2"]),
    "facet": lambda c: facets._read(c, ORG, facets.FACETS["environments"]),
    "latencies": _latencies(),
    "latencies of the nested": _latencies(pair_key_paths=["agent_id", "environment"]),
    "errors": lambda c: error_summary(c, ORG, EventFilters()),
    "errors by user": lambda c: error_groups(c, ORG, EventFilters(), "user_id"),
    "scores": _scores(),
    "newest scores": _scores(latest_per_session=True),
    "usage of events": lambda c: usage_events.event_totals(c, ORG, EVER),
    "usage of results": lambda c: usage_evaluations.evaluation_totals(c, ORG, EVER),
}


@pytest.mark.parametrize("name", READS)
def test_two_shards_answer_as_one_server_does(both: Both, name: str) -> None:
    answer = READS[name](both.one)
    assert answer
    assert READS[name](both.two) == answer


def test_a_session_is_on_one_shard_in_every_table(both: Both) -> None:
    for kept in KEPT:
        sql = f"SELECT DISTINCT org_id, session_id FROM {kept.table}_local"
        first, second = (set(shard.rows(sql)) for shard in both.shards)
        assert len(first) > 20, kept.table
        assert len(second) > 20, kept.table
        assert not first & second, kept.table


# People's queries, and the same queries on the tables of one server.
ASKED = {
    "all": (
        "SELECT count() FROM events",
        "SELECT count() FROM events FINAL WHERE {org}",
    ),
    "grouped by session": (
        "SELECT count(), sum(event_count) FROM agent_sessions",
        "SELECT uniqExact(session_id), count() FROM events FINAL WHERE {org}",
    ),
    "in a subquery": (
        """SELECT count() FROM events
        WHERE session_id IN (SELECT session_id FROM evaluations WHERE status = 'done')""",
        """SELECT count() FROM events FINAL WHERE {org} AND session_id IN (
            SELECT session_id FROM evaluations WHERE {org} AND status = 'done')""",
    ),
    "joined across sessions": (
        """SELECT count() FROM events AS e JOIN evaluations AS v
        ON e.agent_id = 'a' AND v.agent_id = 'main' AND e.session_id != v.session_id""",
        """SELECT count() FROM (SELECT * FROM events FINAL WHERE {org} AND agent_id = 'a') AS e
        CROSS JOIN (SELECT * FROM evaluations FINAL WHERE {org}) AS v
        WHERE e.session_id != v.session_id""",
    ),
}


@pytest.mark.parametrize(("sql", "exact"), ASKED.values(), ids=ASKED)
def test_peoples_sql_is_exact_over_shards(both: Both, sql: str, exact: str) -> None:
    """Within a session and across sessions, for one organization only."""
    expected = both.one.rows(exact.format(org=f"org_id = '{ORG}'"))
    assert both.reader.rows(sql, query_id=f"{ORG}:{uuid.uuid4()}") == expected
    nobody = both.reader.rows("SELECT count() FROM events", query_id=f"x:{uuid.uuid4()}")
    assert nobody == [(0,)]


def test_retention_removes_the_same(both: Both) -> None:
    """Uses an organization that the other tests do not read."""
    limits = [RetentionLimit(datetime(2026, 11, 2, 6, tzinfo=UTC), 1, (OTHER,))]
    for kept in KEPT:
        old = statements.old_rows(kept, limits)
        counted = []
        for stored_in in (both.one, both.two):
            [sql] = stored_in.layout.statements(statements.count(kept, old))
            counted.append(stored_in.rows(sql, old.params, settings=statements.QUIET))
        assert counted[0] == counted[1]
        month = 202611 if kept.by_month else 0
        for ddl in (Ddl(both.one), Ddl(both.owner)):
            ddl.run(statements.hide(kept, old, month), old.params)
    wait_until(lambda: not any(map(unfinished, (both.one, *both.shards))))
    # On a real cluster the shards share this database, so it can be queried.
    assert unfinished(both.two) == []
    left = []
    for stored_in in (both.one, both.two):
        sql = "SELECT org_id, session_id FROM {} FINAL ORDER BY org_id, session_id"
        left.append([stored_in.rows(sql.format(kept.table)) for kept in KEPT])
    assert left[0] == left[1]
    assert len(left[0][-1]) < 2 * 720

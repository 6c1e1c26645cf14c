"""Literals of evidence queries: accepted by the guard and read back by ClickHouse."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest

from shared.foundation.clickhouse import literals
from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.run import QueryOwner, QueryRunner
from shared.watch.audits.signals import sql
from shared.watch.audits.signals.interface import Look, Window
from shared.watch.audits.signals.wording import shown
from tests.support.events import event, store_events
from tests.support.runtime import Org

HOSTILE = [
    "plain",
    "",
    "it's",
    "' OR 1 = 1 --",
    "\\' OR 1 = 1 --",
    "\\",
    "back\\slash\\n",
    "two\nlines\rand\ttabs",
    "nul\x00 bell\x07 del\x7f next\x85",
    "{org_id:String} $1 ${2} {{}} %s",
    "/* comment */ -- # ;",
    '“quotes” `ticks` "double"',
    "zero\u200bwidth \u202eturned \ufeff",
    "🛫 naïve Ünïcode 漢字",
    "long'" * 3000,
]


@pytest.fixture(scope="module")
def runner(runtime: Runtime) -> Iterator[QueryRunner]:
    """Runs statements as POST /queries/run does."""
    made = QueryRunner(runtime, pool_size=1)
    yield made
    made.close()


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_a_literal_has_exactly_the_value(runner: QueryRunner, org: Org, value: str) -> None:
    literal = literals.text(value[:1000])
    statement = f"SELECT {literal}, {literals.is_text(literal, value)}"
    [row] = runner.run(QueryOwner(org.id, "test"), statement, []).result.rows
    assert row == (value[:1000], len(value) <= 1000)


@pytest.mark.parametrize("value", HOSTILE[1:], ids=range(1, len(HOSTILE)))
def test_a_name_meets_itself_alone(
    runtime: Runtime, runner: QueryRunner, org: Org, value: str
) -> None:
    session = value[:256] or "empty"
    store_events(
        runtime.clickhouse, org.id, [event(session, "10:00:00"), event("other", "10:00:01")]
    )
    for condition in (
        literals.is_text("session_id", session),
        literals.is_one_of("session_id", [session, "absent"]),
        literals.is_one_of("session_id", [session, *(f"absent {n} " * 20 for n in range(99))]),
    ):
        statement = f"SELECT session_id FROM events WHERE {condition}"
        assert runner.run(QueryOwner(org.id, "test"), statement, []).result.rows == [(session,)]


def test_long_values_leave_the_statement_short() -> None:
    assert len(literals.is_text("session_id", "'" * 100_000)) < literals.MAX_LITERAL_CHARS
    few, many = [f"agent {n}" for n in range(80)], [f"agent {n}" * 30 for n in range(100)]
    for values in (few, many):
        assert len(literals.is_one_of("agent_id", values)) < literals.MAX_LIST_CHARS + 100


def test_a_moment_keeps_its_microseconds_in_any_zone(runner: QueryRunner, org: Org) -> None:
    at = datetime(2026, 3, 29, 3, 30, 0, 17, tzinfo=timezone(timedelta(hours=2)))
    [row] = runner.run(QueryOwner(org.id, "test"), f"SELECT {literals.moment(at)}", []).result.rows
    assert row == ("2026-03-29T01:30:00.000017Z",)


def test_a_look_selects_in_literals_what_it_selects_in_parameters(
    runtime: Runtime, runner: QueryRunner, org: Org
) -> None:
    odd = "it's\\"
    lines = [
        event(f"{environment}/{agent}/{at}", at, environment=environment, agent_id=agent)
        for environment in (odd, "production")
        for agent in (odd, "main")
        for at in ("09:59:59.999999", "10:00:00", "10:59:59.999999", "11:00:00")
    ]
    store_events(runtime.clickhouse, org.id, lines)
    window = Window(*(datetime(2026, 11, 2, hour, tzinfo=UTC) for hour in (10, 11)))
    for environments, agents, expected in (((), (), 8), ((odd,), (), 4), ((odd,), (odd,), 2)):
        look = Look(runtime.clickhouse, org.id, window, environments, agents)
        where = look.where()
        bound = runtime.clickhouse.rows(
            f"SELECT session_id FROM events FINAL WHERE {where} ORDER BY 1", where.params
        )
        statement = f"SELECT session_id FROM events WHERE {sql.where(look)} ORDER BY 1"
        assert runner.run(QueryOwner(org.id, "test"), statement, []).result.rows == bound
        assert len(bound) == expected


def test_a_name_is_shown_on_one_bounded_line() -> None:
    assert shown("a\x00b\nc\u202e d") == "a b c d"
    assert shown("x" * 81) == "x" * 79 + "…"
    assert shown("x" * 80) == "x" * 80
    assert shown(" " * 1000 + "x") == "…"
    assert shown("\n") == "(empty)"

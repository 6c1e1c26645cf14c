"""People's own statements."""

from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from shared.foundation.core.errors import Unavailable
from shared.foundation.queue import slots
from shared.foundation.queue.slots import RUNS_AT_ONCE, QuerySlots
from shared.reading.queries.results.reader import Reader, Result
from shared.reading.queries.run import QueryRunner
from shared.watch.alerts.evaluation.triggers.batch import evaluate
from shared.watch.alerts.evaluation.triggers.interface import NotEvaluated, RuleContext, RuleReading
from shared.watch.alerts.specs import CustomSql, Op
from tests.shared.watch.alerts.evaluation.triggers.conftest import reading_of, refusal_of, rule
from tests.support.events import event, store_events
from tests.support.runtime import connected, make_org


def compared(sql: str, op: Op = ">", value: float = 1) -> CustomSql:
    return CustomSql(sql=sql, op=op, value=value)


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("SELECT 5 AS other, 2 AS metric_value", 2),
        ("SELECT 'text', 3 AS n, true, now()", 3),
        ("SELECT toNullable(toInt8(-4)) AS n", -4),
        ("SELECT toLowCardinality(toUInt64(9007199254740994)) AS n", 9007199254740994),
        ("SELECT toDecimal64('-0.25', 4) AS n", -0.25),
        ("SELECT toInt128('170141183460469231731687303715884105727') AS n", 2.0**127),
        ("SELECT toFloat32(0.5) AS n", 0.5),
        ("SELECT toBFloat16(0.5) AS n", 0.5),
        ("SELECT arrayJoin([7, 8, 9]) AS n", 7),
    ],
)
def test_the_number_of_the_first_row_is_compared(
    context: RuleContext, sql: str, value: float
) -> None:
    reading = reading_of(context, compared(sql, ">=", value))
    assert (reading.value, reading.breached) == (value, True)
    assert not reading_of(context, compared(sql, "<", value)).breached


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (
            "SELECT 1 AS a, 2 AS b",
            "several columns are numbers (a, b): name one of them metric_value",
        ),
        ("SELECT 'x' AS a", "no column of the result is a number: return one named metric_value"),
        ("SELECT true AS a", "no column of the result is a number: return one named metric_value"),
        ("SELECT [1] AS a", "no column of the result is a number: return one named metric_value"),
        (
            "SELECT 1 AS a, '0.4' AS metric_value",
            "metric_value has the type String, which is not a number",
        ),
        ("SELECT nan AS a", "a is null or not finite: use ifNull() or ifNotFinite()"),
        ("SELECT 1 / 0 AS a", "a is null or not finite: use ifNull() or ifNotFinite()"),
        (
            "SELECT CAST(NULL, 'Nullable(Int8)') AS a",
            "a is null or not finite: use ifNull() or ifNotFinite()",
        ),
        ("SELECT 1 FROM system.tables", "sql: "),
        ("SELECT 1; SELECT 2", "sql: "),
        ("SELECT $1", "params: "),
        ("SELECT throwIf(1, 'stop here')", "the database refuses this statement: stop here"),
        ("SELECT nothing FROM events", "the database refuses this statement: "),
        ("SELECT sumState(1) AS n", "the result cannot be shown: the column n has the type"),
    ],
)
def test_a_statement_without_a_number_is_not_judged(
    context: RuleContext, sql: str, reason: str
) -> None:
    told = refusal_of(context, compared(sql))
    assert told.startswith(reason)
    assert len(told) <= 500


def test_the_databases_message_is_cut(context: RuleContext) -> None:
    told = refusal_of(context, compared(f"SELECT throwIf(1, '{'long ' * 300}' || char(0))"))
    assert len(told) == 500


def test_no_row_is_nothing_to_compare(context: RuleContext) -> None:
    reading = reading_of(context, compared("SELECT duration_ms FROM events", "<", 1e9))
    assert (reading.value, reading.breached) == (None, False)
    assert reading.summary == "no row was returned (< 1000000000)"


def test_without_an_operator_any_row_is_a_breach(context: RuleContext) -> None:
    lines = [event(f"s{number}", f"11:00:0{number}", "error") for number in range(5)]
    spec = CustomSql(sql="SELECT session_id, 0 AS metric_value FROM events ORDER BY ts")
    assert reading_of(context, spec).value == 0
    assert not reading_of(context, spec).breached
    store_events(context.runtime.clickhouse, context.org_id, lines)
    later = RuleContext(context.runtime, context.runner, context.org_id)
    reading = reading_of(later, spec)
    assert (reading.value, reading.breached) == (5, True)
    assert reading.summary == "the query returned 5 rows"
    assert reading.evidence == {
        "metric": "rows",
        "value": 5,
        "op": ">",
        "bound": 0,
        "counts": {"rows": 5, "truncated": False},
        "columns": ["session_id", "metric_value"],
        "rows": [["s0", 0], ["s1", 0], ["s2", 0]],
    }


def test_evidence_of_a_statement_is_small_and_can_be_stored(context: RuleContext) -> None:
    columns = ", ".join(f"repeat('x', 1000) || '{place}' AS c{place}" for place in range(20))
    sql = f"SELECT char(0) AS zero, [1, 2] AS list, {columns} FROM numbers(50)"
    evidence = reading_of(context, CustomSql(sql=sql)).evidence
    assert evidence["counts"] == {"rows": 50, "truncated": False}
    assert [len(row) for row in evidence["rows"]] == [10, 10, 10]
    assert evidence["rows"][0][:3] == ["\N{REPLACEMENT CHARACTER}", "[1,2]", "x" * 200]


def test_more_rows_than_are_read_are_said_to_be_more(context: RuleContext) -> None:
    reading = reading_of(context, CustomSql(sql="SELECT number FROM numbers(20000)"))
    assert reading.summary == "the query returned 10000 rows or more"


def test_only_the_organizations_own_rows_are_read(context: RuleContext) -> None:
    other = make_org(context.runtime)
    store_events(context.runtime.clickhouse, other.id, [event("s", "11:00:00")])
    assert reading_of(context, compared("SELECT count() FROM events")).value == 0


def test_a_run_is_logged_in_the_name_of_the_alert(context: RuleContext) -> None:
    one = rule(compared("SELECT 1"))
    with capture_logs() as lines:
        evaluate(context, [one])
    [line] = [line for line in lines if line["event"] == "query_run"]
    assert (line["who"], line["org_id"]) == (f"alert {one.alert_id}", context.org_id)


def test_a_statement_that_is_too_slow_spoils_no_other(
    context: RuleContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = rule(compared("SELECT max(cityHash64(toString(number))) FROM numbers(400000000)"))
    run = Reader.run

    def impatient(reader: Reader, org_id: str, sql: str, *args: Any, **kwargs: Any) -> Result:
        with monkeypatch.context() as patch:
            if "numbers(400000000)" in sql:
                patch.setattr("shared.reading.queries.results.reader.DEADLINE_SECS", 0.3)
            return run(reader, org_id, sql, *args, **kwargs)

    monkeypatch.setattr(Reader, "run", impatient)
    quick = rule(compared("SELECT 2"))
    outcomes = evaluate(context, [slow, quick])
    assert outcomes[slow.alert_id] == NotEvaluated("the query ran longer than 10 s")
    reading = outcomes[quick.alert_id]
    assert isinstance(reading, RuleReading)
    assert reading.breached


def test_an_organization_that_runs_as_many_queries_as_it_may_is_not_judged(
    context: RuleContext,
) -> None:
    held = QuerySlots(context.runtime.redis, context.runtime.clickhouse)
    running = f"queries:running:{context.org_id}"
    for number in range(RUNS_AT_ONCE):
        lease = slots.LEASE_MS
        assert held._take(keys=[running, "none"], args=[str(number), RUNS_AT_ONCE, lease])
    told = refusal_of(context, compared("SELECT 1"))
    assert told == "an organization can run 4 queries at once"


def test_a_deployment_that_runs_no_queries_judges_none(context: RuleContext) -> None:
    settings = msgspec.structs.replace(context.runtime.settings, clickhouse_readonly_url=None)
    with connected(settings) as runtime:
        without = RuleContext(runtime, QueryRunner(runtime, pool_size=1), context.org_id)
        assert refusal_of(without, compared("SELECT 1")) == "this deployment does not run queries"


def test_an_unavailable_store_is_reported_as_such(context: RuleContext) -> None:
    away = "clickhouse://reader@127.0.0.1:1/analytics"
    settings = msgspec.structs.replace(context.runtime.settings, clickhouse_readonly_url=away)
    with connected(settings) as runtime:
        cut_off = RuleContext(runtime, QueryRunner(runtime, pool_size=1), context.org_id)
        with pytest.raises(Unavailable):
            evaluate(cut_off, [rule(compared("SELECT 1"))])


def test_rules_with_the_same_statement_share_its_run_and_no_others(context: RuleContext) -> None:
    warn, wake = rule(compared("SELECT 5 AS n", ">", 1)), rule(compared("SELECT 5 AS n", ">", 9))
    other, broken = rule(compared("SELECT 6 AS n")), rule(compared("SELECT throwIf(1)"))
    rows = rule(CustomSql(sql="SELECT 5 AS n"))
    rules = [warn, other, wake, broken, rows, rule(compared("SELECT throwIf(1)"))]
    with capture_logs() as logged:
        outcomes = evaluate(context, rules)
    readings = [outcomes[one.alert_id] for one in (warn, wake, other, rows)]
    assert [one.breached for one in readings if isinstance(one, RuleReading)] == [
        True,
        False,
        True,
        True,
    ]
    assert isinstance(outcomes[broken.alert_id], NotEvaluated)
    ran = [line["sql"] for line in logged if line["event"] == "query_run"]
    assert sorted(ran) == ["SELECT 5 AS n", "SELECT 6 AS n", "SELECT throwIf(1)"]
    # An evaluation for another moment runs the statement again.
    with capture_logs() as logged:
        evaluate(RuleContext(context.runtime, context.runner, context.org_id), [warn])
    assert [line["sql"] for line in logged if line["event"] == "query_run"] == ["SELECT 5 AS n"]

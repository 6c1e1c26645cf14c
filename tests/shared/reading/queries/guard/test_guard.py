"""The guard's accepted statements, their rewritten form, and its refusals."""

import contextlib
import random
from typing import Any

import pytest
from sqlglot.parsers.clickhouse import ClickHouseParser

from shared.foundation.core.errors import Invalid
from shared.reading.queries.guard.statement import GuardedStatement, guard


def judged(sql: str, params: list[Any] | None = None) -> GuardedStatement:
    return guard(sql, [] if params is None else params, schema="analytics")


def reason(sql: str, params: list[Any] | None = None) -> str:
    with pytest.raises(Invalid) as refused:
        judged(sql, params)
    assert refused.value.code == "query_refused"
    [[(_, [why])]] = [list(refused.value.fields.items())]
    return why


def test_parameters_are_bound_by_their_kind() -> None:
    values = ["a", True, 1, 2**63, 0.5, None, [], [1, 0.5], [None, "a"], [-1, 2**63], [None]]
    marks = ", ".join(f"${n}" for n in range(1, 12))
    statement = judged(f"SELECT {marks}", values)
    assert statement.sql == (
        "SELECT {p1:String}, {p2:Bool}, {p3:Int64}, {p4:UInt64}, {p5:Float64}, NULL,"
        " {p7:Array(Nothing)}, {p8:Array(Float64)}, {p9:Array(Nullable(String))},"
        " {p10:Array(Int128)}, {p11:Array(Nullable(Nothing))}"
    )
    assert statement.params == {
        f"p{n}": value for n, value in enumerate(values, 1) if value is not None
    }


def test_without_values_a_statement_is_only_checked() -> None:
    assert guard("SELECT $9", None, schema="analytics").params == {}
    with pytest.raises(Invalid):
        guard("SELECT $9 FROM x", None, schema="analytics")


def test_unrequested_values_are_left_out() -> None:
    assert judged("SELECT $2", ["a", "b"]).params == {"p2": "b"}


def test_a_value_of_no_kind_is_named() -> None:
    assert reason("SELECT $1", [{"a": 1}]).startswith("$1 is an object")
    assert reason("SELECT $1", [float("nan")]) == "$1 is not a finite number"
    assert reason("SELECT $1", ["\ud800"]).startswith("$1 contains half of a character")
    assert reason("SELECT $1", [["\ud800"]]).startswith("$1 contains half of a character")
    assert reason("SELECT $2", ["a"]) == "$2 has no value: 1 were given"


@pytest.mark.parametrize(
    ("condition", "written"),
    [
        ("ts >= $1", "ts >= {t1:DateTime64(6, 'UTC')}"),
        ("e.ts < $1", "e.ts < {t1:DateTime64(6, 'UTC')}"),
        ("$1 <= `ts`", "{t1:DateTime64(6, 'UTC')} <= `ts`"),
        ("$1 = e.ts", "{t1:DateTime64(6, 'UTC')} = e.ts"),
        ("ts NOT BETWEEN $1 AND 2", "ts NOT BETWEEN {t1:DateTime64(6, 'UTC')} AND 2"),
        ("ts BETWEEN 1 AND $1", "ts BETWEEN 1 AND {t1:DateTime64(6, 'UTC')}"),
        ("session_id = $1", "session_id = {p1:String}"),
        ("x.ts = 1 OR agent_id = $1", "x.ts = 1 OR agent_id = {p1:String}"),
        ("completed_at > '2026-11-02T10:00:00+02:00'",
         "completed_at > toDateTime64('2026-11-02 08:00:00.000000', 6, 'UTC')"),
        ("ts > '2026-11-02'", "ts > '2026-11-02'"),
        ("ts > '9999-11-02T00:00:00Z'", "ts > '9999-11-02T00:00:00Z'"),
        ("ts > '2026-13-02T00:00:00Z'", "ts > '2026-13-02T00:00:00Z'"),
        ("session_id > '2026-11-02T00:00:00Z'", "session_id > '2026-11-02T00:00:00Z'"),
    ],
)  # fmt: skip
def test_a_moment_compared_with_a_column_of_time_is_one(condition: str, written: str) -> None:
    sent = "2026-11-02T10:00:00.5Z"
    statement = judged(f"SELECT 1 FROM events AS e WHERE {condition}", [sent])
    assert statement.sql == f"SELECT 1 FROM events AS e WHERE {written}"
    assert set(statement.params.values()) <= {
        "2026-11-02 10:00:00.500000",
        "2026-11-02T10:00:00.5Z",
    }


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("DROP TABLE events", "only SELECT and WITH … SELECT can be run"),
        ("SELECT 1 SETTINGS x = 1", "SETTINGS at line 1, column 10: the service chooses"),
        ("SELECT 1\nFORMAT JSON", "FORMAT at line 2, column 1: the answer is always JSON"),
        ("SELECT * FROM watchpost.events", "watchpost.events at line 1, column 15 is not a publ"),
        ("SELECT * FROM nothing", "nothing at line 1, column 15 is not a published table; use"),
        ("SELECT * FROM system.one", "system at line 1, column 15: the server's own tables"),
        ("SELECT 1 IN (a.b)", "a.b at line 1, column 14 is not a published table"),
        ("SELECT * FROM remote('x')", "remote at line 1, column 15 is not available: it reads"),
        ("SELECT * FROM other('x')", "the table function other is not available"),
        ("SELECT\n  sleep(1)", "sleep at line 2, column 3 is not available: it only takes"),
        ("SELECT 1 +", "Something is missing at line 1, column 10"),
        ("SELECT a b c", "Unexpected token at line 1, column 12, near c"),
        ("SELECT 1 UNION SELECT 2", "Expected DISTINCT or ALL for Union at line 1, column 16"),
        ("SELECT " + "(" * 50 + "1" + ")" * 50, "the statement is nested too deeply"),
        ("SELECT", "a SELECT selects no columns"),
        ("SELECT ?", "placeholder is not available; write parameters as $1"),
    ],
)
def test_a_refusal_is_a_sentence(sql: str, why: str) -> None:
    assert reason(sql).startswith(why)


def test_names_of_with_hold_where_they_are_given() -> None:
    assert judged("WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b")
    assert judged(
        "WITH a AS (SELECT 1) SELECT * FROM (SELECT * FROM a) WHERE 1 IN (SELECT * FROM a)"
    )
    assert judged("WITH events AS (SELECT * FROM analytics.events) SELECT * FROM events")
    assert reason("SELECT * FROM a WHERE 1 IN (WITH a AS (SELECT 1) SELECT * FROM a)")
    assert reason("WITH a AS (SELECT 1) SELECT * FROM analytics.a")
    assert reason("SELECT * FROM (WITH a AS (SELECT 1) SELECT 1), a")


# Words that parsers try in several ways. Repeated, they make the hardest statements.
WORDS = [
    *(
        "a",
        "1",
        "'s'",
        "(",
        ")",
        "[",
        "]",
        ",",
        ".",
        "+",
        "-",
        "*",
        "=",
        "::",
        "->",
        "?",
        ":",
        "$1",
    ),
    *("SELECT", "FROM", "events", "JOIN", "ON", "USING", "AS", "WITH", "UNION", "ALL", "VALUES"),
    *(
        "NOT",
        "AND",
        "IN",
        "IS",
        "NULL",
        "LIKE",
        "BETWEEN",
        "EXISTS",
        "ANY",
        "DISTINCT",
        "CASE",
        "WHEN",
    ),
    *("THEN", "END", "INTERVAL", "DATE", "Int8", "Array", "Tuple(", "Nullable(", "CAST(", "tuple"),
    *(
        "f(",
        "if(",
        "MAP(",
        "STRUCT(",
        "EXTRACT(",
        "COLUMNS(",
        "FILTER(",
        "EXCEPT",
        "REPLACE",
        "APPLY",
    ),
    *("OVER", "WINDOW", "BY", "GROUP", "LIMIT", "OFFSET", "FINAL", "IGNORE"),
]


@pytest.mark.parametrize("seed", range(3))
def test_a_statement_that_is_hard_to_parse_is_refused(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No statement takes more steps than ten per token, plus a few thousand."""
    steps = 0
    advance = ClickHouseParser._advance

    def counted(parser: ClickHouseParser, times: int = 1) -> None:
        nonlocal steps
        steps += 1
        advance(parser, times)

    monkeypatch.setattr(ClickHouseParser, "_advance", counted)
    chance, most = random.Random(seed), 0
    for _ in range(25):
        part = " ".join(chance.choices(WORDS, k=chance.randrange(1, 5))) + " "
        sql = ("SELECT " + part * chance.choice((30, 60, 8000 // len(part) - 2)))[:7900]
        steps, opened = 0, max(sql.count("(") - sql.count(")"), 0)
        with contextlib.suppress(Invalid):
            judged(sql + "1" + ")" * min(opened, 90), ["a"])
        most = max(most, steps - 10 * len(sql))
    assert most <= 5000
    # Eleven steps per token and more, doubled by every bracket.
    assert reason("SELECT " + "tuple(" * 20 + "1" + ")" * 20).endswith("nested too deeply")

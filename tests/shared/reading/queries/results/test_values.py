"""ClickHouse's values as JSON, from a real server."""

import msgspec
import pytest

from shared.foundation.core.errors import QueryFailed
from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.guard.params import typed
from shared.reading.queries.results.reader import Reader
from shared.reading.queries.results.type_names import parse
from tests.support.events import event, store_events
from tests.support.runtime import Org

ENUM = r"CAST(2, 'Enum8(\'a\' = 1, \'b, \\\'c = 3\' = 2)')"

VALUES = [
    ("18446744073709551615", '"18446744073709551615"'),
    ("-9223372036854775808", '"-9223372036854775808"'),
    ("9007199254740992", "9007199254740992"),
    ("9007199254740993", '"9007199254740993"'),
    ("toInt8(-1)", "-1"),
    ("toInt128(-5)", "-5"),
    (
        "toUInt256('340282366920938463463374607431768211456')",
        '"340282366920938463463374607431768211456"',
    ),
    ("toDecimal32(-1.5, 3)", '"-1.500"'),
    ("toDecimal64('123.456', 4)", '"123.4560"'),
    ("toDecimal128('-0.001', 3)", '"-0.001"'),
    ("toDecimal256('1e30', 2)", '"1000000000000000000000000000000.00"'),
    ("inf", "null"),
    ("-inf", "null"),
    ("nan", "null"),
    ("toFloat32(1.5)", "1.5"),
    ("toBFloat16(-1.5)", "-1.5"),
    ("true", "true"),
    ("CAST(NULL, 'Nullable(Bool)')", "null"),
    ("NULL", "null"),
    ("[]", "[]"),
    ("[NULL]", "[null]"),
    ("[[1], [], [2, 3]]", "[[1],[],[2,3]]"),
    ("toDate('2026-01-01')", '"2026-01-01"'),
    ("toDate32('1900-01-01')", '"1900-01-01"'),
    ("toDate32('2299-12-31')", '"2299-12-31"'),
    ("toDateTime('2026-07-01 00:00:00', 'Europe/Berlin')", '"2026-06-30T22:00:00.000000Z"'),
    ("toDateTime64('2026-07-01 00:00:00.123', 3, 'Asia/Tokyo')", '"2026-06-30T15:00:00.123000Z"'),
    ("toDateTime64('2262-01-01 00:00:00.123456789', 9, 'UTC')", '"2262-01-01T00:00:00.123456Z"'),
    ("toDateTime64('1900-01-01 00:00:00.000001', 6, 'UTC')", '"1900-01-01T00:00:00.000001Z"'),
    ("reinterpretAsInt64(1)::DateTime64(0, 'UTC')", '"1970-01-01T00:00:01.000000Z"'),
    ("toTime64('10:11:12.5', 3)", '"10:11:12.500"'),
    ("toIntervalDay(3)", "3"),
    ("toIPv4('1.2.3.4')", '"1.2.3.4"'),
    ("toIPv6('2001:db8::1')", '"2001:db8::1"'),
    (
        "toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0')",
        '"61f0c404-5cb3-11e7-907b-a6006ad3dba0"',
    ),
    (ENUM, '"b, \'c = 3"'),
    ("unhex('ff41')", '"\ufffdA"'),
    ("toFixedString('ab', 3)", r'"ab\u0000"'),
    ("toLowCardinality('x')", '"x"'),
    ("CAST(NULL, 'LowCardinality(Nullable(String))')", "null"),
    ("[toLowCardinality('y')]", '["y"]'),
    ("CAST([], 'Array(LowCardinality(String))')", "[]"),
    ("(1, 'x')", '[1,"x"]'),
    ("tuple()", "[]"),
    ("CAST((1, 'x'), 'Tuple(a UInt8, `b c` String)')", '{"a":1,"b c":"x"}'),
    ("[CAST((1, NULL), 'Tuple(a UInt8, b Nullable(String))')]", '[{"a":1,"b":null}]'),
    ("map('a', [1])", '{"a":[1]}'),
    ("map(1, 2)", '{"1":2}'),
    ("CAST(map(), 'Map(String, UInt8)')", "{}"),
    ("(1.5, 2.5)::Point", "[1.5,2.5]"),
    ("""CAST('{"a": {"b": [1, null]}}', 'JSON')""", '{"a":{"b":[1,null]}}'),
]


@pytest.mark.parametrize(("expression", "expected"), VALUES)
def test_a_value_is_json(reader: Reader, org: Org, expression: str, expected: str) -> None:
    result = reader.run(org.id, f"SELECT {expression}", {})
    assert msgspec.json.encode(result.rows[0][0]).decode() == expected
    # Each of many values in a block is read up to its own end.
    many = reader.run(org.id, f"SELECT {expression} FROM numbers(1000)", {})
    assert msgspec.json.encode(many.rows[999][0]).decode() == expected


@pytest.mark.parametrize(
    "expression",
    ["CAST(1, 'Variant(UInt8, String)')", "CAST(1, 'Dynamic')", "sumState(number)"],
)
def test_an_unreadable_type_is_named_and_harms_no_other_run(
    reader: Reader, org: Org, expression: str
) -> None:
    with pytest.raises(QueryFailed) as failed:
        reader.run(org.id, f"SELECT 1, {expression} AS odd, 2 FROM numbers(3)", {})
    assert failed.value.detail.startswith("the column odd has the type ")
    assert reader.run(org.id, "SELECT 7", {}).rows == [(7,)]


def test_a_type_longer_than_a_statement_is_not_read(reader: Reader, org: Org) -> None:
    sql = "SELECT defaultValueOfTypeName(concat('Tuple(', repeat('UInt8,', 2000), 'UInt8)')) AS odd"
    with pytest.raises(QueryFailed) as failed:
        reader.run(org.id, sql, {})
    assert failed.value.detail.startswith("the column odd has the type Tuple(UInt8, UInt8, ")
    assert len(failed.value.detail) < 1000


def test_a_column_of_nearly_nothing_but_defaults_reads_like_any_other(
    runtime: Runtime, reader: Reader, org: Org
) -> None:
    times = [f"10:{number // 60:02d}:{number % 60:02d}" for number in range(600)]
    failed = {17, 18, 599}
    store_events(
        runtime.clickhouse,
        org.id,
        [
            event("s", time, "error" if number in failed else "tool_use")
            for number, time in enumerate(times)
        ],
    )
    rows = reader.run(org.id, "SELECT is_error, summary FROM events ORDER BY ts", {}).rows
    assert rows == [(number in failed, "") for number in range(600)]


def test_names_stay_as_they_are_even_twice(reader: Reader, org: Org) -> None:
    result = reader.run(org.id, "SELECT 1 AS a, a FROM (SELECT 2 AS b)", {})
    assert result.columns == [("a", "UInt8"), ("a", "UInt8")]
    assert result.rows == [(1, 1)]


def test_no_row_has_its_columns_all_the_same(reader: Reader, org: Org) -> None:
    result = reader.run(org.id, "SELECT toUInt8(1) AS n, 'x' AS s WHERE 0", {})
    assert (result.columns, result.rows) == ([("n", "UInt8"), ("s", "String")], [])


@pytest.mark.parametrize(
    "value",
    ["a'b\\c\n\t\x00é😀`$1{p}", "", "\\N", 5, -7, 2**63 + 5, 1.5, True, ["x'y", "\\n"], [1, 2], []],
)
def test_a_parameter_arrives_as_it_was_given(reader: Reader, org: Org, value: object) -> None:
    kind, bound = typed(value)
    [row] = reader.run(org.id, f"SELECT {{p1:{kind}}}", {"p1": bound}).rows
    assert row[0] == (str(value) if value == 2**63 + 5 else value)


@pytest.mark.parametrize(
    "text", ["", "Array(", "Array(UInt8", "1", "A B", "'x'", "Array)", "Map(,)"]
)
def test_an_unknown_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 any message
        parse(text)

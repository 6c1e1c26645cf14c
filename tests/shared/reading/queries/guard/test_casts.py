"""A text as the name of a type is one text, and no state."""

import pytest

from shared.foundation.core.errors import Invalid
from shared.reading.queries.guard.statement import guard


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CAST((1, 2), 'Tuple(UInt8, UInt8)') FROM events",
        "SELECT CAST([1, 2] AS Array(UInt8)), CAST((1, 2) AS Tuple(a UInt8, b UInt8)) FROM events",
        "SELECT CAST(ts, 'DateTime(\\'UTC\\')'), CAST(f(1, [2, 3]), 'String') FROM events",
        "SELECT CAST(CAST(id, 'String'), 'UInt64'), accurateCastOrDefault(id, 'UInt8', 1)",
        "SELECT cast FROM events",
        "SELECT sumMerge(s) FROM (SELECT sumState(id) AS s FROM events)",
    ],
)
def test_a_plain_cast_is_let_through(sql: str) -> None:
    guard(sql, None, schema="analytics")


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        (
            "SELECT CAST(id, 'AggregateFunction(sum, UInt64)')",
            "the type at line 1, column 17 is a state; values cannot be converted to states",
        ),
        (
            "SELECT CAST(id, 'Aggregate' || 'Function(sum, UInt64)')",
            "the type at line 1, column 17 must be written as one text without escapes",
        ),
        (
            "SELECT id::AggregateFunction(sum, UInt64)",
            (
                "AggregateFunction at line 1, column 12 is not available:"
                " values cannot be converted to states"
            ),
        ),
    ],
)
def test_a_refusal_names_the_type(sql: str, why: str) -> None:
    with pytest.raises(Invalid) as refused:
        guard(sql, None, schema="analytics")
    assert refused.value.fields == {"sql": [why]}


@pytest.mark.parametrize(
    "argument",
    [
        "'AGGREGATEFUNCTION(sum, UInt64)'",
        "'Array(SimpleAggregateFunction(sum, UInt64))'",
        "'Aggreg\\x61teFunction(sum, UInt64)'",
        "('String')",
        "$1",
        "toString('String')",
    ],
)
@pytest.mark.parametrize(
    "name", ["CAST", "cast", "_CAST", "`CAST`", "accurateCast", "accurateCastOrNull"]
)
def test_possible_states_are_refused(name: str, argument: str) -> None:
    with pytest.raises(Invalid):
        guard(f"SELECT {name}(id, {argument}) FROM events", None, schema="analytics")

"""JSON values as typed parameters of a ClickHouse statement."""

import math
import re
from collections.abc import Sequence

from shared.reading.queries.guard.lexer import StatementRefused

_INT64, _UINT64 = 2**63, 2**64
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_WHY_NOT: dict[type, str] = {
    dict: "is an object: send a string, a number, true, false, null, or an array of these",
    list: "is an array in an array",
    float: "is not a finite number",
    str: "contains half of a character (a lone surrogate)",
}


def typed(value: object) -> tuple[str, object]:
    """Returns the ClickHouse type of a JSON value and the value to bind to it.

    Strings become String, booleans Bool, integers Int64 (UInt64 if needed), other numbers Float64,
    null Nullable(Nothing), and arrays Array of the type of their elements. Raises
    `StatementRefused` for objects, for integers beyond 64 bits, and for arrays that contain arrays
    or several kinds of values.
    """
    if isinstance(value, list):
        return _array(value)
    return _type_of(value), value


def _type_of(value: object) -> str:
    match value:
        case None:
            return "Nullable(Nothing)"
        case bool():
            return "Bool"
        case int():
            return _integer(value)
        case float() if math.isfinite(value):
            return "Float64"
        case str() if not _LONE_SURROGATE.search(value):
            return "String"
    raise StatementRefused(_WHY_NOT.get(type(value), "has a type that a parameter cannot have"))


def _integer(value: int) -> str:
    if -_INT64 <= value < _INT64:
        return "Int64"
    if 0 <= value < _UINT64:
        return "UInt64"
    raise StatementRefused("is an integer of more than 64 bits")


def _array(values: Sequence[object]) -> tuple[str, object]:
    kinds = {_type_of(value) for value in values if value is not None}
    if "Float64" in kinds and kinds <= {"Int64", "UInt64", "Float64"}:
        kinds = {"Float64"}
    elif kinds == {"Int64", "UInt64"}:
        kinds = {"Int128"}
    if len(kinds) > 1:
        raise StatementRefused("is an array of several kinds of values")
    kind = kinds.pop() if kinds else "Nothing"
    return (f"Array(Nullable({kind}))" if None in values else f"Array({kind})"), list(values)

"""JSON values as typed parameters of a ClickHouse statement."""

import math
from collections.abc import Sequence

from shared.queries.lexer import Refused

_INT64, _UINT64 = 2**63, 2**64


def typed(value: object) -> tuple[str, object]:
    """The ClickHouse type of a JSON value and the value to bind to it.

    Strings are String, booleans Bool, integers Int64 (UInt64 where needed), other numbers Float64,
    null Nullable(Nothing), arrays Array of what their elements are. Raises `Refused` for objects,
    for integers beyond 64 bits, and for arrays of several kinds.
    """
    if isinstance(value, list):
        return _array(value)
    return _scalar(value)


def _scalar(value: object) -> tuple[str, object]:
    if value is None:
        return "Nullable(Nothing)", None
    if isinstance(value, bool):
        return "Bool", value
    if isinstance(value, int):
        if -_INT64 <= value < _INT64:
            return "Int64", value
        if 0 <= value < _UINT64:
            return "UInt64", value
        raise Refused("is an integer of more than 64 bits")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Refused("is not a finite number")
        return "Float64", value
    if isinstance(value, str):
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise Refused("holds half of a character (a lone surrogate)")
        return "String", value
    raise Refused("is an object: send a string, a number, true, false, null, or an array of these")


def _array(values: Sequence[object]) -> tuple[str, object]:
    kinds = {_scalar(value)[0] for value in values if value is not None}
    if "Float64" in kinds and kinds <= {"Int64", "UInt64", "Float64"}:
        kinds = {"Float64"}
    elif kinds == {"Int64", "UInt64"}:
        kinds = {"Int128"}
    if len(kinds) > 1:
        raise Refused("is an array of several kinds of values")
    kind = kinds.pop() if kinds else "Nothing"
    return (f"Array(Nullable({kind}))" if None in values else f"Array({kind})"), list(values)

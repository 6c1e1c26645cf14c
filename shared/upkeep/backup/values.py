"""The values of rows in MessagePack, by the types of their columns.

A reader that accepts any value would let a small file fill the memory with empty lists.
"""

import re
from typing import Annotated, Any

import msgspec

from shared.upkeep.backup.manifest import BackupColumn, BackupTable, refused

TIME = "DateTime64(6, 'UTC')"
NULLABLE_TIME = f"Nullable({TIME})"
TIMES_BY_NAME = f"Map(String, {TIME})"
AMOUNT = "Nullable(Decimal(38, 12))"
# Values behind the places of their events.
PLACED_BY_NAME = f"Map(String, Tuple({TIME}, UInt64, UInt64, String))"
_SIMPLE = re.compile(r"SimpleAggregateFunction\(\w+(?:\(\d+\))?, (.*)\)")
_LOW_CARDINALITY = re.compile(r"LowCardinality\(((?:Nullable\()?String\)?)\)")
_INNER = re.compile(r"(Nullable|Array|LowCardinality)\((.*)\)")
_TUPLE = re.compile(r"Tuple\((\w+ .*)\)")
_MAP = re.compile(r"Map\(([^,]*), (.*)\)")

_SENT = {
    TIME: "Int64",
    NULLABLE_TIME: "Nullable(Int64)",
    TIMES_BY_NAME: "Map(String, Int64)",
    PLACED_BY_NAME: "Map(String, String)",
    AMOUNT: "Nullable(String)",
}
_PLAIN: dict[str, Any] = {
    # Of Redis.
    "text": bytes,
    "bytes": bytes,
    "list": list[bytes],
    "int": int | None,
    # Of ClickHouse.
    "String": bytes,
    "Bool": bool,
    "Float64": float,
    "Int64": int,
    "UInt8": Annotated[int, msgspec.Meta(ge=0, lt=2**8)],
    "UInt32": Annotated[int, msgspec.Meta(ge=0, lt=2**32)],
    "UInt64": Annotated[int, msgspec.Meta(ge=0)],
}


def row_type(table: BackupTable) -> Any:
    """Returns the type of a row of ClickHouse or Redis, for a decoder of msgspec."""
    return tuple.__class_getitem__(tuple(_type(sent_type(column)) for column in table.columns))


def plain_type(column: BackupColumn) -> str:
    """Returns a type of ClickHouse without what only concerns its storage."""
    simple = _SIMPLE.fullmatch(column.type)
    return _LOW_CARDINALITY.sub(r"\1", simple[1] if simple else column.type)


def sent_type(column: BackupColumn) -> str:
    """Returns the type in which values of a column are sent to ClickHouse."""
    type_ = plain_type(column)
    if type_.startswith("AggregateFunction("):
        return "String"
    return _SENT.get(type_, type_)


def _type(name: str) -> Any:
    if name in _PLAIN:
        return _PLAIN[name]
    if inner := _INNER.fullmatch(name):
        of = _type(inner[2])
        return {"Nullable": of | None, "Array": list[of]}.get(inner[1], of)  # type: ignore[valid-type] # made here
    if named := _TUPLE.fullmatch(name):
        values = [_type(part.split(" ", 1)[1]) for part in _parts(named[1])]
        return tuple.__class_getitem__(tuple(values))
    if pair := _MAP.fullmatch(name):
        key, value = _type(pair[1]), _type(pair[2])
        return dict[key, value]  # type: ignore[valid-type] # made here
    raise refused(f"no column has the type {name}")


def _parts(text: str) -> list[str]:
    """Returns the parts between commas that stand in no parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]

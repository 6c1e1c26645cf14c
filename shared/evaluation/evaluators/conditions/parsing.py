"""Reads a condition from JSON. Pure; errors name the place, such as `condition.all[1].value`."""

import unicodedata
from collections.abc import Mapping
from typing import Any

from shared.evaluation.evaluators.conditions.fields import (
    FIELDS,
    MAX_LEAVES,
    MAX_LEVELS,
    MAX_NUMBER,
    MAX_SEARCHES,
    MAX_TEXTS,
    SEARCH,
    FieldKind,
)
from shared.evaluation.evaluators.conditions.nodes import (
    AllOf,
    AnyOf,
    Condition,
    Leaf,
    LeafValue,
    Negation,
)
from shared.foundation.core import bounds
from shared.foundation.core.errors import Invalid

_LEAF = ("field", "op", "value")
_SHAPES = 'must be {"all": [...]}, {"any": [...]}, {"not": ...} or {"field", "op", "value"}'
# Errors show no more of a value.
_SHOWN_CHARS = 80


def parse(given: object, field: str = "condition") -> Condition | None:
    """Returns the condition that decoded JSON describes, None for null.

    Raises `Invalid` naming the place below `field`.
    """
    return None if given is None else _Parsing(field).node(given, field, 1)


class _Parsing:
    """The leaves of one condition, counted while it is read."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._leaves = 0
        self._searches = 0

    def node(self, given: object, path: str, level: int) -> Condition:
        """Returns the condition at a path; the first level is 1."""
        if not isinstance(given, dict):
            raise Invalid.field(path, _SHAPES)
        if level > MAX_LEVELS:
            raise Invalid.field(path, f"must not be below level {MAX_LEVELS}")
        match given:
            case {"all": parts} if len(given) == 1:
                return AllOf(self._parts(parts, f"{path}.all", level))
            case {"any": parts} if len(given) == 1:
                return AnyOf(self._parts(parts, f"{path}.any", level))
            case {"not": part} if len(given) == 1:
                return Negation(self.node(part, f"{path}.not", level + 1))
            case {"all": _} | {"any": _} | {"not": _}:
                raise Invalid.field(path, _SHAPES)
            case _:
                return self._leaf(given, path)

    def _parts(self, given: object, path: str, level: int) -> tuple[Condition, ...]:
        if not isinstance(given, list) or not given:
            raise Invalid.field(path, "must be an array with at least one condition")
        return tuple(
            self.node(one, f"{path}[{index}]", level + 1) for index, one in enumerate(given)
        )

    def _leaf(self, given: Mapping[str, Any], path: str) -> Leaf:
        self._leaves += 1
        if self._leaves > MAX_LEAVES:
            raise Invalid.field(self._field, f"must have at most {MAX_LEAVES} comparisons")
        for name in given:
            if name not in _LEAF:
                raise Invalid.field(path, f"has the unknown member {_shown(name)}; {_SHAPES}")
        for name in _LEAF:
            if name not in given:
                raise Invalid.field(f"{path}.{name}", "is required")
        name, op = given["field"], given["op"]
        if not isinstance(name, str) or name not in FIELDS:
            raise Invalid.field(f"{path}.field", f"must be one of {', '.join(FIELDS)}")
        kind = FIELDS[name].kind
        if op not in kind.ops:
            raise Invalid.field(f"{path}.op", f"must be {' or '.join(kind.ops)} for {name}")
        if kind is SEARCH:
            self._searches += 1
            if self._searches > MAX_SEARCHES:
                reason = f"at most {MAX_SEARCHES} comparisons may have the field {name}"
                raise Invalid.field(f"{path}.field", reason)
        return Leaf(name, op, _value(kind, given["value"], f"{path}.value"))


def _value(kind: FieldKind, given: object, path: str) -> LeafValue:
    if kind.value == "boolean":
        if not isinstance(given, bool):
            raise Invalid.field(path, "must be true or false")
        return given
    if kind.value == "number":
        return _number(given, path)
    if kind.value == "text":
        return _text(kind, given, path)
    if not isinstance(given, list) or not 1 <= len(given) <= MAX_TEXTS:
        raise Invalid.field(path, f"must be an array of 1 to {MAX_TEXTS} strings")
    texts = (_text(kind, one, f"{path}[{index}]") for index, one in enumerate(given))
    return tuple(dict.fromkeys(texts))


def _number(given: object, path: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise Invalid.field(path, "must be a number")
    # Nothing compares with a NaN.
    if not abs(given) <= MAX_NUMBER:
        raise Invalid.field(path, f"must be from -{MAX_NUMBER:g} to {MAX_NUMBER:g}")
    return float(given)


def _text(kind: FieldKind, given: object, path: str) -> str:
    least, most = kind.chars
    if not isinstance(given, str) or len(given) < least:
        characters = "a character" if least == 1 else f"{least} characters"
        raise Invalid.field(path, f"must be a string of at least {characters}")
    text = bounds.require_text(path, given, most=most)
    if any(unicodedata.category(one) == "Cs" for one in text):
        raise Invalid.field(path, "must not contain half of a character (a lone surrogate)")
    return text


def _shown(name: object) -> str:
    return repr(str(name)[:_SHOWN_CHARS])

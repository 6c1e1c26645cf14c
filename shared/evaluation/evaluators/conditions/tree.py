"""The tree above the leaves, as SQL over the columns `leaf_1`, `leaf_2`… in their order."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

from shared.evaluation.evaluators.conditions.nodes import AllOf, AnyOf, Condition, Leaf, Negation


class _TreeSql(NamedTuple):
    """SQL of whether a part holds, and of the place of the leaf that decided, by the result."""

    holds: str
    if_held: str
    if_not: str


def decided(condition: Condition | None) -> str:
    """Returns SQL of the place of the first leaf that decided against a session, 0 without one.

    Below `not` that is the first leaf that made its part hold.
    """
    if condition is None:
        return "0"
    tree = _sql(condition, count(1))
    return f"if({tree.holds}, 0, {tree.if_not})"


def _sql(condition: Condition, places: Iterator[int]) -> _TreeSql:
    match condition:
        case Leaf():
            place = str(next(places))
            return _TreeSql(f"leaf_{place}", place, place)
        case Negation(part):
            below = _sql(part, places)
            return _TreeSql(f"NOT {below.holds}", below.if_not, below.if_held)
        case AllOf(parts):
            found = [_sql(part, places) for part in parts]
            first = _first([(f"NOT {one.holds}", one.if_not) for one in found])
            return _TreeSql(_joined(found, "AND"), found[0].if_held, first)
        case AnyOf(parts):
            found = [_sql(part, places) for part in parts]
            first = _first([(one.holds, one.if_held) for one in found])
            return _TreeSql(_joined(found, "OR"), first, found[0].if_not)


def _joined(parts: Sequence[_TreeSql], word: str) -> str:
    return f"({f' {word} '.join(part.holds for part in parts)})"


def _first(cases: Sequence[tuple[str, str]]) -> str:
    """Returns SQL of the place of the first case that is true; one of them is."""
    *others, (_, last) = cases
    found = "".join(f"{holds}, {place}, " for holds, place in others)
    return f"multiIf({found}{last})" if others else last

"""A condition as a tree of values that never change."""

from collections.abc import Iterator
from dataclasses import dataclass

# Texts of a list are distinct. Every number is finite.
LeafValue = tuple[str, ...] | str | bool | float


@dataclass(frozen=True)
class Leaf:
    """A comparison of one field; `op` and `value` fit it."""

    field: str
    op: str
    value: LeafValue


@dataclass(frozen=True)
class AllOf:
    """Holds if all of `parts` hold; there is at least one."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True)
class AnyOf:
    """Holds if one of `parts` holds; there is at least one."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True)
class Negation:
    """Holds if `part` does not."""

    part: "Condition"


Condition = Leaf | AllOf | AnyOf | Negation


def leaves(condition: Condition | None) -> Iterator[Leaf]:
    """Yields the leaves in the order in which they are written."""
    match condition:
        case Leaf():
            yield condition
        case Negation(part):
            yield from leaves(part)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from leaves(part)

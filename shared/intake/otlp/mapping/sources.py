"""Compiles the sources of the tables into look-ups."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from shared.intake.otlp.mapping.values import count, decoded_once, text

_NOTATION = re.compile(
    r"(?P<key>[^{[]+?)(?P<listed>\.N)?(?:\{(?P<members>.+)\}|\[(?P<item>\d+)\])?"
)

# The names that lead to a member of an object.
Path = tuple[str, ...]
# Of these groups of members the first counts of which one is there, with all that are.
Addend = tuple[tuple[Path, ...], ...]


@dataclass(frozen=True)
class ObjectMember:
    """A member of an object, and what is added to it."""

    path: Path
    added: tuple[Addend, ...] = ()


@dataclass(frozen=True)
class Source:
    """One attribute as a source: its name, and the part of its value that is used.

    Of the members the first counts that is there.
    """

    key: str
    is_list: bool = False
    members: tuple[ObjectMember, ...] = ()
    item: int | None = None

    @property
    def is_part(self) -> bool:
        """Whether only a part of the attribute's value is used."""
        return bool(self.members) or self.item is not None


def parse(notation: str) -> list[Source]:
    """Parses a row of the tables; `a + b` are two sources that belong together."""
    return [_parse_one(part) for part in notation.split(" + ")]


def part_of(source: Source, value: Any) -> Any:
    """Returns the part of an attribute's value that a source names, None without it."""
    if not source.is_part:
        return value
    value = decoded_once(value)
    if source.item is not None:
        listed = isinstance(value, list) and len(value) > source.item
        return value[source.item] if listed else None if isinstance(value, list) else value
    if not isinstance(value, dict):
        return None
    for member in source.members:
        found = _at(value, member.path)
        if found is not None:
            return _total(value, found, member.added) if member.added else found
    return None


def first_text(notations: Iterable[str]) -> Callable[[Mapping[str, Any]], tuple[int, str] | None]:
    """Returns a function that finds the first text of some sources, and its index among them."""
    parsed = [parse(notation)[0] for notation in notations]
    sources = [(rank, one.key, one if one.is_part else None) for rank, one in enumerate(parsed)]

    def find(attributes: Mapping[str, Any]) -> tuple[int, str] | None:
        for rank, key, source in sources:
            if key in attributes:
                value = attributes[key]
                found = text(value if source is None else part_of(source, value))
                if found is not None and not found.isspace():
                    return rank, found
        return None

    return find


def _parse_one(notation: str) -> Source:
    match = _NOTATION.fullmatch(notation)
    if match is None:
        raise ValueError(f"not a source: {notation}")
    members = match["members"] or ""
    return Source(
        key=match["key"],
        is_list=match["listed"] is not None,
        members=tuple(map(_member, members.split("|"))) if members else (),
        item=None if match["item"] is None else int(match["item"]),
    )


def _member(notation: str) -> ObjectMember:
    first, *added = notation.split("+")
    return ObjectMember(_path(first), tuple(map(_addend, added)))


def _addend(notation: str) -> Addend:
    return tuple(tuple(map(_path, group.split("&"))) for group in notation.split("/"))


def _path(name: str) -> Path:
    return tuple(name.split("."))


def _at(value: Any, path: Path) -> Any:
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _total(value: dict[str, Any], first: Any, added: tuple[Addend, ...]) -> int | None:
    base = count(first)
    return None if base is None else base + sum(_added(value, addend) for addend in added)


def _added(value: dict[str, Any], addend: Addend) -> int:
    for group in addend:
        counts = [found for path in group if (found := count(_at(value, path))) is not None]
        if counts:
            return sum(counts)
    return 0

"""Reads the attributes of a span in one pass, by look-ups that the tables are compiled into."""

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal, NamedTuple, TypeVar

from shared.intake.otlp.mapping import flattened
from shared.intake.otlp.mapping.sources import Source, parse, part_of
from shared.intake.otlp.mapping.tables import (
    AGENT,
    CALLER,
    CONTENT_FIELDS,
    ENVIRONMENT,
    FIELDS,
    NEVER_KEPT,
    ROLE_FIELDS,
    SESSION,
    Role,
)

T = TypeVar("T")
Content = Literal["content"]

# A field that an attribute is a source of, the index of the source among the field's, and the
# source itself if only a part of the value is used.
_Route = tuple[str, int, Source | None]
# A value of a field, with the index of its source.
_Value = tuple[int, Any, Source | None]
# Behind all attributes.
_LATER = 1000
# Senders repeat the names of their attributes, so what they mean is remembered.
_MAX_REMEMBERED = 8192
_index = itemgetter(0)


class _Piece(NamedTuple):
    """An attribute that is a part of a list: the name of the list, and the path in it."""

    name: str
    path: flattened.Path


class Meanings:
    """The meaning of every attribute for some fields, found by one look into a dict.

    `of` has the routes of a source, the piece of a list, or None for an attribute of no field.
    """

    def __init__(self, fields: tuple[str, ...]) -> None:
        self.routes = _routes(fields)
        self.of: dict[str, tuple[_Route, ...] | _Piece | None] = {**self.routes}

    def learn(self, key: str) -> _Piece | None:
        """Returns the meaning of an attribute that is not in `of`, and remembers it."""
        path = flattened.path_of(key)
        meaning = None if path is None or path[0] not in self.routes else _Piece(*path)
        if len(key) <= flattened.MAX_NAME:
            if len(self.of) >= _MAX_REMEMBERED:
                self.of = {**self.routes}
            self.of[key] = meaning
        return meaning


class AttributeLookup:
    """The values that were found for fields, and the attributes that belong to none."""

    __slots__ = ("_values", "rest")

    def __init__(self, attributes: Mapping[str, Any], meanings: Meanings) -> None:
        values: dict[str, list[_Value]] = {}
        rest: dict[str, Any] = {}
        trees: dict[str, flattened.Node] = {}
        meaning_of = meanings.of
        for key, value in attributes.items():
            try:
                meaning = meaning_of[key]
            except KeyError:
                meaning = meanings.learn(key)
            if meaning is None:
                rest[key] = value
            elif isinstance(meaning, _Piece):
                flattened.add(trees.setdefault(meaning.name, {}), meaning.path, value)
            elif value is not None:
                for field, index, source in meaning:
                    if field in values:
                        values[field].append((index, value, source))
                    else:
                        values[field] = [(index, value, source)]
        self._values = values
        self.rest = rest
        for name, tree in trees.items():
            for field, index, _ in meanings.routes[name]:
                values.setdefault(field, []).append((index, flattened.listed(tree), None))

    def add_later(self, field: str, value: Any) -> None:
        """Adds a value that counts only if no attribute has one."""
        self._values.setdefault(field, []).append((_LATER, value, None))

    def first(self, field: str, convert: Callable[[Any], T | None]) -> T | None:
        """Returns the first value that says something; `convert` returns None for others."""
        values = self._values.get(field)
        if values is None:
            return None
        for _, value, source in values if len(values) == 1 else sorted(values, key=_index):
            converted = convert(value if source is None else part_of(source, value))
            if converted is not None:
                return converted
        return None

    def groups(self, field: str) -> Iterator[list[Any]]:
        """Yields the values of a field; those of one source that belong together, together."""
        values = self._values.get(field, ())
        if len(values) == 1:
            yield [values[0][1]]
            return
        for _, group in groupby(sorted(values, key=_index), _index):
            yield [value for _, value, _ in group]


def read(role: Role | Content, attributes: Mapping[str, Any]) -> AttributeLookup:
    """Reads all attributes of a span, or of a log record with the content of a call."""
    return AttributeLookup(attributes, _MEANINGS[role])


def _routes(fields: tuple[str, ...]) -> dict[str, tuple[_Route, ...]]:
    # The session, the agent and the environment are fields of every event. An attribute of which
    # only a part is used, such as `metadata`, is kept.
    routes: dict[str, tuple[_Route, ...]] = dict.fromkeys(NEVER_KEPT, ())
    for notations in (SESSION, AGENT, CALLER, ENVIRONMENT):
        for notation in notations:
            routes |= {source.key: () for source in parse(notation) if not source.is_part}
    for field in fields:
        for index, notation in enumerate(FIELDS[field]):
            for source in parse(notation):
                route = (field, index, source if source.is_part else None)
                routes[source.key] = (*routes.get(source.key, ()), route)
    return routes


_MEANINGS: dict[Role | Content, Meanings] = {
    **{role: Meanings(fields) for role, fields in ROLE_FIELDS.items()},
    "content": Meanings(CONTENT_FIELDS),
}

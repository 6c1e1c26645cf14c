"""Reads the attributes of a span by plans that the tables are compiled into."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal, NamedTuple, TypeVar

from shared.intake.otlp.mapping import flattened
from shared.intake.otlp.mapping.dimensions import DimensionPlan, dimension_plan
from shared.intake.otlp.mapping.memory import ByNames
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
from shared.intake.otlp.mapping.usage_tables import LIFETIMES, REPEATED, USAGE, USAGE_DETAILS
from shared.intake.otlp.mapping.values import count

T = TypeVar("T")
Content = Literal["content"]

# The index of a source among those of its field, the name of its attribute, and the source itself
# if only a part of the value is used.
_Origin = tuple[int, str, Source | None]
# An attribute that is a part of a list: its name, the key of the list, and the path in it.
_Piece = tuple[str, str, flattened.Path]
# The same, with the field instead of the name.
_Route = tuple[str, int, Source | None]
# Behind the name of a list: the key of the value that is put together of its pieces.
_LISTED = ".N"
_index = itemgetter(0)


class ReadingPlan(NamedTuple):
    """The joint meaning of the names of some attributes.

    `origins` has the attributes that each field comes from, in the order in which they count.
    `rest` are the names that belong to no field, or to one of `REPEATED`. `usage` are the fields of
    `USAGE` among those of `origins`. `dimensions`: where the dimensions are, if there are any.
    """

    origins: dict[str, list[_Origin]]
    pieces: list[_Piece]
    rest: list[str]
    usage: list[str]
    dimensions: DimensionPlan | None


class AttributeLookup:
    """The values that were found for fields, and the attributes that belong to none.

    `usage` are the fields of `USAGE` that have attributes. `dimensions`: where the dimensions are,
    if there are any.
    """

    __slots__ = ("_later", "_origins", "_values", "dimensions", "rest", "usage")

    def __init__(self, attributes: Mapping[str, Any], plan: ReadingPlan) -> None:
        self._origins, pieces, rest, self.usage, self.dimensions = plan
        self._values = {**attributes, **_lists(attributes, pieces)} if pieces else attributes
        self._later: dict[str, list[Any]] = {}
        self.rest = {name: attributes[name] for name in rest}

    def add_later(self, field: str, value: Any) -> None:
        """Adds a value that counts only if no attribute has one."""
        self._later.setdefault(field, []).append(value)

    def first(self, field: str, convert: Callable[[Any], T | None]) -> T | None:
        """Returns the first value that says something; `convert` returns None for others."""
        if field in self._origins:
            values = self._values
            for _, name, source in self._origins[field]:
                value = values[name] if source is None else part_of(source, values[name])
                if value is not None and (converted := convert(value)) is not None:
                    return converted
        if field in self._later:
            for value in self._later[field]:
                if (converted := convert(value)) is not None:
                    return converted
        return None

    def total(self, field: str) -> int | None:
        """Returns the first number of at least 0; values that belong together are added up."""
        total, counted = None, -1
        for index, name, source in self._origins.get(field, ()):
            if total is not None and index != counted:
                break
            value = self._values[name] if source is None else part_of(source, self._values[name])
            if (number := count(value)) is not None:
                total, counted = (total or 0) + number, index
        return total

    def groups(self, field: str) -> Iterator[list[Any]]:
        """Yields the values of a field; those of one source that belong together, together."""
        origins = self._origins.get(field, ())
        if len(origins) == 1:
            yield [self._values[origins[0][1]]]
        else:
            for _, group in groupby(origins, _index):
                yield [self._values[name] for _, name, _ in group]
        if field in self._later:
            yield self._later[field]


def read(role: Role | Content, attributes: Mapping[str, Any]) -> AttributeLookup:
    """Reads all attributes of a span, or of a log record with the content of a call."""
    return AttributeLookup(attributes, _PLANS[role].of(attributes))


def _lists(attributes: Mapping[str, Any], pieces: Sequence[_Piece]) -> dict[str, Any]:
    trees: dict[str, flattened.Node] = {}
    for name, key, path in pieces:
        if key not in trees:
            trees[key] = {}
        flattened.add(trees[key], path, attributes[name])
    return {key: flattened.listed(tree) for key, tree in trees.items()}


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


def _keys(notations: Iterable[str]) -> set[str]:
    return {source.key for notation in notations for source in parse(notation)}


_REPEATED = _keys((*(row for field in REPEATED for row in FIELDS[field]), LIFETIMES)) - {
    USAGE_DETAILS
}


def _planner(fields: tuple[str, ...]) -> Callable[[Sequence[str]], ReadingPlan]:
    """Returns the function that makes plans for these fields."""
    routes = _routes(fields)

    def plan(names: Sequence[str]) -> ReadingPlan:
        origins: dict[str, list[_Origin]] = {}
        pieces: list[_Piece] = []
        rest: list[str] = []
        lists: dict[str, None] = {}
        for name in names:
            if name in routes:
                for field, index, source in routes[name]:
                    origins.setdefault(field, []).append((index, name, source))
                if name in _REPEATED:
                    rest.append(name)
            elif (path := flattened.path_of(name)) is None or path[0] not in routes:
                rest.append(name)
            else:
                pieces.append((name, path[0] + _LISTED, path[1]))
                lists[path[0]] = None
        for name in lists:
            for field, index, _ in routes[name]:
                origins.setdefault(field, []).append((index, name + _LISTED, None))
        in_order = {field: sorted(found, key=_index) for field, found in origins.items()}
        usage = [field for field in in_order if field in USAGE]
        return ReadingPlan(in_order, pieces, rest, usage, dimension_plan(names))

    return plan


_PLANS: dict[Role | Content, ByNames[ReadingPlan]] = {
    **{role: ByNames(_planner(fields)) for role, fields in ROLE_FIELDS.items()},
    "content": ByNames(_planner(CONTENT_FIELDS)),
}

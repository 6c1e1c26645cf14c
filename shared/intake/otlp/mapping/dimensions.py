"""Reads the dimensions of a record: its user, the version of the agent, tags and attributes."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from shared.intake.otlp.mapping.dimension_tables import DIMENSIONS, OF_RESOURCES
from shared.intake.otlp.mapping.memory import ByNames, for_last_resource
from shared.intake.otlp.mapping.sources import Source, parse, part_of
from shared.intake.otlp.mapping.tables import AGENT, CALLER, ENVIRONMENT, FIELDS, SESSION
from shared.intake.otlp.mapping.values import REDACTED, decoded, decoded_once, word
from shared.intake.otlp.mapping.vendors import VENDORS, Vendor
from shared.intake.otlp.records import LogRecord, Resource, Span

# The fields of events by their names. Records share them, so they are never changed.
Dimensions = dict[str, Any]

# Ingest leaves out and counts values that are too long or too many for a dimension. Those far
# beyond that are not repeated in each event of a record.
MAX_CHARS = 1024
MAX_ITEMS = 64
_ATTRIBUTES = "attributes"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_MEMBERS, _BELOW = "{*}", ".*"

# The name of an attribute, and the part of its value that is used, unless all of it is.
_Origin = tuple[str, Source | None]
# The name of an attribute, and its key among the attributes of events; None: its members are some.
_Pair = tuple[str, str | None]
_rank = itemgetter(0)
_encode = msgspec.json.Encoder().encode


class DimensionPlan(NamedTuple):
    """The attributes that dimensions come from, among those with some names.

    `fields` have the attributes that they come from, in the order in which these count.
    """

    fields: dict[str, list[_Origin]]
    pairs: list[_Pair]


class _DimensionPlanner:
    """Makes plans by a table; `keys` are further attributes with their keys in events."""

    def __init__(self, table: Mapping[str, tuple[str, ...]], keys: Mapping[str, str]) -> None:
        self._rows: dict[str, list[tuple[int, str, Source | None]]] = {}
        for field, rank, notation in _rows(table):
            [source] = parse(notation)
            row = (rank, field, source if source.is_part else None)
            self._rows.setdefault(source.key, []).append(row)
        families = list(enumerate(table[_ATTRIBUTES]))
        self._objects = {
            family.removesuffix(_MEMBERS): rank for rank, family in families if _MEMBERS in family
        }
        self._prefixes = [
            (rank, family.removesuffix("*")) for rank, family in families if family.endswith(_BELOW)
        ]
        self._keys = keys

    def plan(self, names: Sequence[str]) -> DimensionPlan | None:
        """Returns the plan for these names, None if there is no dimension."""
        origins: dict[str, list[tuple[int, _Origin]]] = {}
        for name in names:
            for rank, field, source in self._rows.get(name, ()):
                origins.setdefault(field, []).append((rank, (name, source)))
        pairs = [ranked for name in names if (ranked := self._pair(name)) is not None]
        if not origins and not pairs and _NAMES_OF_VENDORS.isdisjoint(names):
            return None
        fields = {field: _in_order(ranked) for field, ranked in origins.items()}
        return DimensionPlan(fields, _in_order(pairs))

    def _pair(self, name: str) -> tuple[int, _Pair] | None:
        if name in self._objects:
            return self._objects[name], (name, None)
        for rank, prefix in self._prefixes:
            if name.startswith(prefix) and name not in _READ:
                return rank, (name, name.removeprefix(prefix))
        return (MAX_ITEMS, (name, self._keys[name])) if name in self._keys else None


class _DimensionReader:
    """Reads dimensions by the table, in which an agent may have rows of its own."""

    def __init__(self, rows: Mapping[str, tuple[str, ...]]) -> None:
        table = {**DIMENSIONS, **rows}
        self.plan = _DimensionPlanner(table, {}).plan
        self._plans = ByNames(self.plan)
        of_resources = ByNames(_DimensionPlanner(table, OF_RESOURCES).plan)
        self.of_resource = for_last_resource(
            lambda resource: _read(resource.attributes, of_resources.of(resource.attributes))
        )

    def read(self, attributes: dict[str, Any], resource: Resource) -> Dimensions:
        """Returns the dimensions of a record with these attributes."""
        return self.read_by(self._plans.of(attributes), attributes, resource)

    def read_by(
        self, plan: DimensionPlan | None, attributes: dict[str, Any], resource: Resource
    ) -> Dimensions:
        """Returns them by the plan for the names of the attributes."""
        of_resource = self.of_resource(resource)
        if plan is None:
            return of_resource
        own = _read(attributes, plan)
        both = {**of_resource, **own}
        if _ATTRIBUTES in own and _ATTRIBUTES in of_resource:
            both[_ATTRIBUTES] = {**of_resource[_ATTRIBUTES], **own[_ATTRIBUTES]}
        return both


def of_span(span: Span, plan: DimensionPlan | None, resource: Resource) -> Dimensions:
    """Returns the dimensions of a span; `plan` is that for the names of its attributes."""
    if plan is None:
        return of_resource(resource)
    if span.name.startswith(_PREFIXES):
        return _OF_VENDORS[f"{span.name.partition('.')[0]}."].read(span.attributes, resource)
    return _PLAIN.read_by(plan, span.attributes, resource)


def of_log(record: LogRecord, vendor: Vendor | None, resource: Resource) -> Dimensions:
    """Returns the dimensions of a log record; `vendor`: the coding agent that sent it."""
    reader = _PLAIN if vendor is None else _OF_VENDORS.get(vendor.prefix, _PLAIN)
    return reader.read(record.attributes, resource)


def _rows(table: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, int, str]]:
    for field, notations in table.items():
        if field != _ATTRIBUTES:
            for rank, notation in enumerate(notations):
                yield field, rank, notation


def _in_order(ranked: list[tuple[int, Any]]) -> list[Any]:
    return [value for _, value in sorted(ranked, key=_rank)]


def _read(attributes: dict[str, Any], plan: DimensionPlan | None) -> Dimensions:
    found: Dimensions = {}
    if plan is None:
        return found
    for field, origins in plan.fields.items():
        convert = _CONVERTERS[field]
        for name, source in origins:
            value = attributes[name] if source is None else part_of(source, attributes[name])
            if (converted := convert(value)) is not None:
                if len(converted) <= MAX_CHARS:
                    found[field] = converted
                break
    if plan.pairs and (pairs := _pairs(attributes, plan.pairs)):
        found[_ATTRIBUTES] = pairs
    return found


def _pairs(attributes: dict[str, Any], pairs: Iterable[_Pair]) -> dict[str, Any]:
    """Returns the attributes of events; of several with one key the first."""
    found: dict[str, Any] = {}
    for name, key in pairs:
        sent = attributes[name]
        members = decoded_once(sent) if key is None else {key: sent}
        if not isinstance(members, dict):
            continue
        read = _READ_MEMBERS.get(name, _NONE)
        # Then nothing in it is long, which is usual.
        is_short = type(sent) is str and len(sent) <= MAX_CHARS
        for member, value in members.items():
            if member in found or member in read or len(member) > MAX_CHARS:
                continue
            if _is_told(value, is_short=is_short):
                found[member] = value
    return found if len(found) <= MAX_ITEMS else dict(islice(found.items(), MAX_ITEMS))


def _is_told(value: Any, *, is_short: bool) -> bool:
    """Returns whether a value says something, and is not far too long for an attribute."""
    kind = type(value)
    if kind is str:
        return 0 < len(value) <= MAX_CHARS and value != REDACTED and _is_clean(value)
    if kind is not list and kind is not dict:
        return value is not None
    try:
        return len(value) > 0 and (is_short or len(_encode(value)) <= MAX_CHARS)
    except RecursionError:
        return False


def _is_clean(told: str) -> bool:
    return told.isprintable() or _CONTROL.search(told) is None


def _text(value: Any) -> str | None:
    """Returns a text that may be the value of a dimension, whatever its length."""
    told = word(value)
    return told if told is not None and _is_clean(told) else None


def _tags(value: Any) -> list[str] | None:
    """Returns the texts of a list, of its JSON, or between commas."""
    value = decoded(value)
    items = [tag.strip() for tag in value.split(",")] if type(value) is str else value
    if not isinstance(items, list):
        return None
    texts = [tag for item in items if type(item) is str and (tag := _text(item))]
    return [text for text in texts if len(text) <= MAX_CHARS][:MAX_ITEMS] or None


_CONVERTERS: dict[str, Callable[[Any], str | list[str] | None]] = {
    "user_id": _text,
    "agent_version": _text,
    "tags": _tags,
}
_OTHER_RULES = (SESSION, AGENT, CALLER, ENVIRONMENT, *FIELDS.values())
_READ_SOURCES = [
    source
    for notations in (*_OTHER_RULES, *(DIMENSIONS[field] for field in _CONVERTERS))
    for notation in notations
    for source in parse(notation)
]
# The attributes that another rule reads, and the members of attributes.
_NONE = frozenset[str]()
_READ = {source.key for source in _READ_SOURCES if not source.is_part}
_READ_MEMBERS = {
    name: frozenset(
        member.path[0] for one in _READ_SOURCES if one.key == name for member in one.members
    )
    for name in {source.key for source in _READ_SOURCES if source.members}
}
_NAMES_OF_VENDORS = frozenset(
    source.key
    for vendor in VENDORS
    for notations in vendor.dimensions.values()
    for notation in notations
    for source in parse(notation)
)
_PLAIN = _DimensionReader({})
_OF_VENDORS = {v.prefix: _DimensionReader(v.dimensions) for v in VENDORS if v.dimensions}
_PREFIXES = tuple(_OF_VENDORS)
dimension_plan, of_resource = _PLAIN.plan, _PLAIN.of_resource

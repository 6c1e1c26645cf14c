"""Conditions on dimensions, of events and of sessions.

An event's effective user and version are its own, else its session's: those of the session's first
event that has one, for the version the root agent's first. `agent_sessions` remembers them, and up
to 64 values of each dimension (`seen_values`), so that no condition reads all events.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from shared.foundation.clickhouse import literals
from shared.foundation.clickhouse.root_agent import root_agent
from shared.foundation.clickhouse.where import Where
from shared.foundation.core.errors import Invalid
from shared.reading.dimensions.names import ANY, MAX_ATTRIBUTE_FILTERS, PREFIX, is_key

FIRST_VALUES = "minMap(first_values)"
_OF_SESSIONS = "SELECT session_id FROM agent_sessions WHERE org_id = {{org_id:String}}"
# The values of a dimension that are remembered of a session, as the table says.
MOST_SEEN = 64
# What the index of `agent_sessions` finds rows by: all values of a row, and the dimensions of which
# it may have had more.
INDEXED = (
    "arrayConcat(arrayFlatten(mapValues(seen_values)),"
    f" mapKeys(mapFilter((k, v) -> length(v) >= {MOST_SEEN}, seen_values)))"
)
# The dimensions that can be missing, besides attributes.
MISSABLE = ("user_id", "agent_version", "tag")

# Each value of the merged map is (time, arrival, id, text); without one the text is "".
FIRST_USER = f"{FIRST_VALUES}['user_id'].4"
# The root agent's first version, else the first of all.
_OF_ROOT = f"{FIRST_VALUES}[concat('agent_version ', {root_agent()})].4"
_OF_ANY = f"mapFilter((key, value) -> startsWith(key, 'agent_version '), {FIRST_VALUES})"
FIRST_VERSION = f"if({_OF_ROOT} != '', {_OF_ROOT}, arraySort(mapValues({_OF_ANY}))[1].4)"


# A column with an effective value → that of a session, "" without one.
FIRSTS = {"user_id": FIRST_USER, "agent_version": FIRST_VERSION}


def of_session(dimension: str) -> str:
    """Returns a template of the condition that any event of a session has one of the values."""
    return f"max(hasAny(seen_values['{dimension}'], {{}}))"


def in_session(dimension: str) -> str:
    """Returns a template of the same condition on rows that have a `session_id`."""
    seen = f"hasAny({INDEXED}, {{0}}) AND hasAny(seen_values['{dimension}'], {{0}})"
    return f"session_id IN ({_OF_SESSIONS} AND {seen})"


def may_have(dimension: str, values: str) -> str:
    """Returns the condition on a row of a session that may have one of the values.

    `dimension` and `values` are SQL of a text and of an array. It is met where a row may have had
    more values than are remembered.
    """
    seen = f"seen_values[{dimension}]"
    return (
        f"hasAny({INDEXED}, arrayConcat({values}, [{dimension}]))"
        f" AND (hasAny({seen}, {values}) OR length({seen}) >= {MOST_SEEN})"
    )


def seen_in_session(column: str) -> str:
    """Returns a template of a condition that finds sessions for `effective`, and a few others.

    It finds all that may have more values than are remembered.
    """
    return f"session_id IN ({_OF_SESSIONS} AND {may_have(repr(column), '{0}')})"


def effective(column: str) -> str:
    """Returns a template of the condition that an event's effective value is one of the values.

    It is exact; together with `seen_in_session` it is also quick.
    """
    first, having_it = FIRSTS[column], seen_in_session(column)
    of_first = f"{_OF_SESSIONS} AND {having_it} GROUP BY session_id HAVING {first} IN {{0}}"
    return f"{column} IN {{0}} OR isNull({column}) AND session_id IN ({of_first})"


def published_effective(column: str) -> str:
    """Returns the template of the same condition over the views of people's SQL."""
    return (
        f"({{0}} OR {column} IS NULL AND session_id IN"
        " (SELECT session_id FROM agent_sessions WHERE {0}))"
    )


class AttributeFilter(NamedTuple):
    """An attribute, and the values one of which it must have; None means any value."""

    key: str
    values: tuple[str, ...] | None


def parse_attributes(given: Mapping[str, Sequence[str]]) -> tuple[AttributeFilter, ...]:
    """Returns the filters of `attr.<key>` parameters. Raises `Invalid` naming the parameter."""
    if len(given) > MAX_ATTRIBUTE_FILTERS:
        raise Invalid.field("attr", f"at most {MAX_ATTRIBUTE_FILTERS} attributes filter together")
    return tuple(_attribute(key, values) for key, values in given.items())


def _attribute(key: str, values: Sequence[str]) -> AttributeFilter:
    if not is_key(key):
        raise Invalid.field(PREFIX + key[:80], "is not the key of an attribute")
    if ANY in values:
        return AttributeFilter(key, None)
    return AttributeFilter(key, tuple(ANY if one == "\\*" else one for one in values))


def parse_missing(values: Sequence[str]) -> tuple[str, ...]:
    """Returns the names of dimensions. Raises `Invalid` naming `missing`."""
    if sum(name.startswith(PREFIX) for name in values) > MAX_ATTRIBUTE_FILTERS:
        raise Invalid.field(
            "missing", f"at most {MAX_ATTRIBUTE_FILTERS} attributes filter together"
        )
    for name in values:
        if name not in MISSABLE and not (name.startswith(PREFIX) and is_key(name[len(PREFIX) :])):
            raise Invalid.field("missing", f"must be of {', '.join(MISSABLE)}, {PREFIX}<key>")
    return tuple(dict.fromkeys(values))


def add_own_attributes(where: Where, filters: Sequence[AttributeFilter]) -> None:
    """Requires that an event has these attributes itself."""
    for number, one in enumerate(filters):
        key = _bind(where, f"attr_key_{number}", one.key)
        if one.values is None:
            where.add(f"mapContains(attributes, {key})")
        else:
            where.add(
                f"attributes[{key}] IN {{attr_values_{number}:Array(String)}}",
                **{f"attr_values_{number}": list(one.values)},
            )


def session_attributes(where: Where, filters: Sequence[AttributeFilter]) -> list[str]:
    """Returns conditions on a row of `agent_sessions`; adds their parameters to `where`."""
    found = []
    for number, one in enumerate(filters):
        key = _bind(where, f"attr_key_{number}", PREFIX + one.key)
        if one.values is None:
            found.append(f"notEmpty(seen_values[{key}])")
        else:
            where.params[f"attr_values_{number}"] = list(one.values)
            found.append(f"hasAny(seen_values[{key}], {{attr_values_{number}:Array(String)}})")
    return found


def session_missing(where: Where, names: Sequence[str], *, negated: bool = False) -> list[str]:
    """Returns conditions on a row of `agent_sessions` that no value of these was seen in it.

    With `negated` it is that one was.
    """
    test = "notEmpty" if negated else "empty"
    return [
        f"{test}(seen_values[{_bind(where, f'missing_{number}', name)}])"
        for number, name in enumerate(names)
    ]


def add_missing(where: Where, names: Sequence[str]) -> None:
    """Requires that an event has none of these, for the user and the version effectively."""
    absent = []
    for number, name in enumerate(names):
        if name == "tag":
            absent.append("empty(tags)")
        elif name in MISSABLE:
            sessions = _OF_SESSIONS.format() + f" AND notEmpty(seen_values['{name}'])"
            absent.append(f"isNull({name}) AND session_id NOT IN ({sessions})")
        else:
            key = _bind(where, f"missing_{number}", name.removeprefix(PREFIX))
            absent.append(f"NOT mapContains(attributes, {key})")
    # One condition, because of a pair of events each must be met by one of them.
    if absent:
        where.add(" AND ".join(absent))


def add_to_session(where: Where, conditions: Sequence[str], *, exclude: bool = False) -> None:
    """Requires, or with `exclude` refuses, a session with a row that meets each condition."""
    word = "NOT IN" if exclude else "IN"
    for condition in conditions:
        where.add(f"session_id {word} ({_OF_SESSIONS.format()} AND {condition})")


def attributes_sql(filters: Sequence[AttributeFilter]) -> list[str]:
    """Returns the conditions over the view `events`, in literals."""
    found = []
    for one in filters:
        key = literals.text(one.key)
        if one.values is None:
            found.append(f"mapContains(attributes, {key})")
        else:
            found.append(literals.is_one_of(f"attributes[{key}]", one.values))
    return found


def missing_sql(names: Sequence[str]) -> list[str]:
    """Returns the condition over the view `events` that it has none of these, in literals."""
    found = []
    for name in names:
        if name == "tag":
            found.append("empty(tags)")
        elif name in MISSABLE:
            having = f"SELECT session_id FROM events WHERE {name} IS NOT NULL"
            found.append(f"{name} IS NULL AND session_id NOT IN ({having})")
        else:
            key = literals.text(name.removeprefix(PREFIX))
            found.append(f"NOT mapContains(attributes, {key})")
    return [f"({' AND '.join(found)})"] if found else []


def present_sql(names: Sequence[str]) -> list[str]:
    """Returns the conditions over the view `events` that it has one itself, for each of these."""
    own = {"tag": "notEmpty(tags)"} | {name: f"{name} IS NOT NULL" for name in MISSABLE[:2]}
    return [
        own.get(name, f"mapContains(attributes, {literals.text(name.removeprefix(PREFIX))})")
        for name in names
    ]


def _bind(where: Where, name: str, value: str) -> str:
    where.params[name] = value
    return f"{{{name}:String}}"

"""Filters of reads: each is one row, a `Filter`, in the `declared` rows of a class of `Filters`.

The condition in SQL, the same condition in people's SQL, the schema of the query string, the
OpenAPI document, the filter bar of the UI, the arguments of the assistant's tools and the table in
the documents derive from the row.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Literal, NamedTuple, Self

from shared.foundation.clickhouse import literals
from shared.foundation.clickhouse.where import Where, moment
from shared.foundation.core.clock import to_us

_NOTHING = {"flag": False, "choice": "", "moment": None, "number": None}


class Filter(NamedTuple):
    """A parameter that narrows a read.

    `type` is how a request writes it: `any_of` and `list` take several values with commas, `texts`
    is repeated for several, `choice` is one of `choices`, `flag` is true or false, `number` is an
    integer of 0 or more, `moment` is a timestamp, and `attributes` are all parameters whose names
    begin with its own and a dot, each with several values. `condition` is SQL with `{}` for the
    bound value of an `any_of`, a `number` or a `moment`, and with other braces doubled; where it is
    empty, the read makes the condition itself. `choices` are the only values that an `any_of` or a
    `choice` takes, `names` the names that values of a `list` begin with. `parse` turns the values
    of a request into those of the filter, or raises `Invalid`. `max_values` and `max_chars` are the
    bounds of `texts`.

    `published` is the condition over the views of people's SQL: for an `any_of` with `{}` for the
    condition that `column` has one of the values, by default just that; for a `number` or a
    `moment` with `{}` for its literal. With None the class of filters writes it (`Filters.sql`).
    `label` names the filter in the UI; without one the UI has a control of its own, or none.
    `narrowed` is a condition that more rows meet, as a template of the same kind. It spares the
    reading of others, where `condition` can be checked only after copies are merged.
    """

    parameter: str
    type: Literal["any_of", "choice", "list", "texts", "flag", "number", "moment", "attributes"]
    description: str
    condition: str = ""
    published: str | None = None
    column: str = ""
    label: str = ""
    choices: tuple[str, ...] = ()
    parse: Callable[[Any], object] | None = None
    max_values: int | None = None
    max_chars: int | None = None
    narrowed: str = ""
    names: tuple[str, ...] = ()

    @property
    def nothing(self) -> object:
        """Returns the value of a filter that the request does not have."""
        return _NOTHING.get(self.type, ())

    def add_to(self, where: Where, value: Any) -> None:
        """Adds the condition for a value that was given."""
        name = self.parameter
        if self.type == "any_of":
            for template in filter(None, (self.narrowed, self.condition)):
                bound = template.format(f"{{any_{name}:Array(String)}}")
                where.add(bound, **{f"any_{name}": list(value)})
        elif self.type == "moment":
            where.add(self.condition.format(moment(name)), **{name: to_us(value)})
        elif self.type == "number":
            where.add(self.condition.format(f"{{{name}:UInt64}}"), **{name: value})
        else:
            where.add(self.condition)

    def sql(self, value: Any) -> str:
        """Returns the published condition for a value that was given, in literals."""
        if self.type == "any_of":
            shown = literals.is_one_of(self.column or self.parameter, value)
        else:
            shown = literals.moment(value) if self.type == "moment" else str(value)
        return (self.published or "").format(shown)


def any_of(
    parameter: str,
    description: str,
    column: str | None = None,
    choices: tuple[str, ...] = (),
    *,
    label: str = "",
) -> Filter:
    """Returns a filter for values of a column, by default the column with the parameter's name.

    The views of people's SQL have a column with the parameter's name.
    """
    condition = f"{column or parameter} IN {{}}"
    return Filter(parameter, "any_of", description, condition, "{}", choices=choices, label=label)


def time_range(
    what: str, column: str | None = None, *, published: str | None = None
) -> tuple[Filter, Filter]:
    """Returns `ts_from` (inclusive) and `ts_to` (exclusive).

    Without a column they have no condition of their own: the read adds it. `published` is the
    column of people's SQL, by default the same.
    """
    since, before = ("", "") if column is None else (f"{column} >= {{}}", f"{column} < {{}}")
    shown = published or column
    from_sql, to_sql = (shown and f"{shown} >= {{}}", shown and f"{shown} < {{}}")
    return (
        Filter("ts_from", "moment", f"{what} at or after this time", since, from_sql),
        Filter("ts_to", "moment", f"{what} before this time", before, to_sql),
    )


class Filters:
    """The values that a request gave for the `declared` filters: all filters must let a row pass.

    A filter without a value, or with an empty one, lets every row pass.
    """

    declared: ClassVar[tuple[Filter, ...]] = ()

    def __init__(self, **given: Any) -> None:
        """Raises `TypeError` for a filter that is not declared."""
        unknown = given.keys() - {one.parameter for one in self.declared}
        if unknown:
            raise TypeError(f"{type(self).__name__} has no filter {', '.join(sorted(unknown))}")
        self._values = {
            one.parameter: given.get(one.parameter) or one.nothing for one in self.declared
        }

    def __bool__(self) -> bool:
        """Returns whether any filter has a value."""
        return any(self._values.values())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._values!r})"

    def __getitem__(self, parameter: str) -> Any:
        """Returns the value of a declared filter: empty, False or None if none was given."""
        return self._values[parameter]

    @property
    def session_ids(self) -> Sequence[str]:
        """Returns the values of `session_id`, which every read has."""
        found: Sequence[str] = self["session_id"]
        return found

    @property
    def ts_from(self) -> datetime | None:
        """Returns the inclusive start of the range of time."""
        found: datetime | None = self["ts_from"]
        return found

    @property
    def ts_to(self) -> datetime | None:
        """Returns the exclusive end of the range of time."""
        found: datetime | None = self["ts_to"]
        return found

    def replace(self, **changed: Any) -> Self:
        """Returns the same filters with these values; None removes a value."""
        return type(self)(**{**self._values, **changed})

    def where(self, org_id: str) -> Where:
        """Returns the declared conditions of the filters that have a value."""
        where = Where(org_id)
        for one in self.declared:
            value = self[one.parameter]
            if one.condition and value:
                one.add_to(where, value)
        return where

    def sql(self) -> list[str]:
        """Returns the same conditions over the views of people's SQL, in literals."""
        return [
            one.sql(self[one.parameter])
            for one in self.declared
            if one.published is not None and self[one.parameter]
        ]

"""Query parameters from declared filters, and their documentation.

`python -m web.filters` prints the tables of docs/filters.md.
"""

import sys
from typing import Any, ClassVar

from marshmallow import Schema, fields, post_load, validate

from shared.foundation.clickhouse.filters import Filter, Filters
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.events.filters import EventFilters
from shared.reading.events.latency.query import LatencyFilters
from shared.reading.sessions.selection import SessionFilters
from web.params import Timestamp, Values, values

# A heading of docs/filters.md → the filters that it lists.
DOCUMENTED: dict[str, type[Filters]] = {
    "Events": EventFilters,
    "Latencies": LatencyFilters,
    "Sessions": SessionFilters,
    "Evaluations": EvaluationFilters,
}
# A filter's type → its values, as docs/filters.md describes them.
_VALUES = {
    "any_of": "any of several, with commas",
    "choice": "one",
    "list": "several, with commas",
    "texts": "one; repeat it for several",
    "flag": "`true` or `false`",
    "moment": "RFC 3339 with a zone",
}


class _Filtered(Schema):
    """Builds `filters` from the parameters that are filters."""

    filters: ClassVar[type[Filters]]

    @post_load
    def _collect(self, data: dict[str, Any], **_: object) -> dict[str, Any]:
        given = {}
        for one in self.filters.declared:
            value = data.pop(one.parameter)
            given[one.parameter] = one.parse(value) if one.parse else value
        return {"filters": self.filters(**given), **data}


class _NoMore(Schema):
    """No parameters besides the filters."""


def filtered(filters: type[Filters], own: type[Schema] = _NoMore) -> type[Schema]:
    """Returns the schema of a query with `own` parameters and filters, loaded as `filters`.

    Raises `ValueError` if one of its own parameters has the name of a filter: the read has to
    declare its filters without that one.
    """
    made = {one.parameter: _field(one) for one in filters.declared}
    twice = made.keys() & own().fields.keys()
    if twice:
        names = ", ".join(sorted(twice))
        raise ValueError(f"{names}: {filters.__name__} must leave out this parameter of the read")
    base = _Filtered.from_dict(made)
    return type(own.__name__, (own, base), {"filters": filters})


def filters_table(filters: type[Filters]) -> str:
    """Returns a Markdown table of the filters."""
    rows = [("filter", "values", "meaning"), ("---", "---", "---")]
    rows += [(f"`{one.parameter}`", _VALUES[one.type], one.description) for one in filters.declared]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _field(one: Filter) -> fields.Field[Any]:
    metadata = {"description": one.description}
    if one.type == "flag":
        return fields.Boolean(load_default=False, metadata=metadata)
    if one.type == "choice":
        return fields.String(
            load_default="", validate=validate.OneOf(one.choices), metadata=metadata
        )
    if one.type == "moment":
        return Timestamp(load_default=None, metadata=metadata)
    if one.type == "texts":
        return fields.List(
            fields.String(validate=validate.Length(1, one.max_chars)),
            load_default=list,
            validate=validate.Length(max=one.max_values),
            metadata=metadata,
        )
    if one.type == "any_of":
        return values(one.description, one.choices)
    return Values(load_default=list, metadata=metadata)


if __name__ == "__main__":
    for heading, shown in DOCUMENTED.items():
        sys.stdout.write(f"## {heading}\n\n{filters_table(shown)}\n\n")

"""Query parameters from declared filters, and their documentation.

`python -m web.filters` prints the lists of docs/use/reading.md. With `typescript` it prints the
declarations that the UI derives its filter bars from.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import Schema, fields, post_load, pre_load, validate

from shared.foundation.clickhouse.filters import Filter, Filters
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.events.filters import EventFilters
from shared.reading.events.latency.query import LatencyFilters
from shared.reading.sessions.selection import SessionFilters
from web.params import AttributesField, ListField, Timestamp, values

# A heading of docs/use/reading.md → the filters that it lists.
DOCUMENTED: dict[str, type[Filters]] = {
    "Events": EventFilters,
    "Latencies": LatencyFilters,
    "Sessions": SessionFilters,
    "Evaluations": EvaluationFilters,
}
# The page "Latency" takes its fields from those of events.
_IN_UI = {heading: one for heading, one in DOCUMENTED.items() if one is not LatencyFilters}
# A heading whose list leaves out what is the same below another one → that one.
_SAME_AS = {"Latencies": "Events"}
# A filter's type → its values, as docs/use/reading.md describes them.
_VALUES = {
    "number": "an integer of 0 or more",
    "any_of": "several",
    "choice": "one",
    "list": "several",
    "texts": "one; repeatable",
    "flag": "`true` or `false`",
    "moment": "RFC 3339",
    "attributes": "several",
}


# ClickHouse binds it as UInt64, and JavaScript reads it exactly.
MAX_NUMBER = 2**53 - 1


class _FilterSchema(Schema):
    """Builds `filters` from the parameters that are filters."""

    filters: ClassVar[type[Filters]]

    @pre_load
    def _gather(self, data: Any, **_: object) -> Any:
        """Gathers the parameters `attr.<key>` into the one of their name."""
        prefixes = [
            f"{one.parameter}." for one in self.filters.declared if one.type == "attributes"
        ]
        if not isinstance(data, Mapping):
            return data
        given = dict(data)
        for prefix in prefixes:
            found = {name: given.pop(name) for name in data if name.startswith(prefix)}
            given[prefix[:-1]] = {name.removeprefix(prefix): value for name, value in found.items()}
        return given

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
    base = _FilterSchema.from_dict(made)
    return type(own.__name__, (own, base), {"filters": filters})


def filters_list(heading: str) -> str:
    """Returns a Markdown list of the filters below a heading."""
    above = _items(_SAME_AS[heading]) if heading in _SAME_AS else []
    return "\n".join(item for item in _items(heading) if item not in above)


def _items(heading: str) -> list[str]:
    return [
        f"- `{one.parameter}` ({_VALUES[one.type]}): {one.description}"
        for one in DOCUMENTED[heading].declared
    ]


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
    if one.type == "number":
        return fields.Integer(
            load_default=None, validate=validate.Range(0, MAX_NUMBER), metadata=metadata
        )
    if one.type == "attributes":
        return AttributesField(load_default=dict, metadata=metadata)
    if one.type == "texts":
        return fields.List(
            fields.String(validate=validate.Length(1, one.max_chars)),
            load_default=list,
            validate=validate.Length(max=one.max_values),
            metadata=metadata,
        )
    if one.type == "any_of":
        return values(one.description, one.choices)
    return ListField(load_default=list, metadata=metadata)


def typescript() -> str:
    """Returns the declarations for the UI: by resource, without the range of time."""
    lines = ["// Made by `bin/ui types` from the declared filters. Do not edit.", _INTERFACE]
    for heading, filters in _IN_UI.items():
        lines.append(f"  {heading.lower()}: [")
        for one in filters.declared:
            if one.type != "moment":
                shown = {"param": one.parameter, "type": one.type, "label": one.label}
                lists = {"choices": list(one.choices), "names": list(one.names)}
                given = {name: values for name, values in lists.items() if values}
                # A list stands on a line of its own: lines have at most 120 characters.
                row = json.dumps(shown | given).replace(', "names"', ',\n      "names"')
                lines.append(f"    {row},")
        lines.append("  ],")
    return "\n".join([*lines, "};", ""])


_INTERFACE = """
export interface DeclaredFilter {
  param: string;
  type: string;
  /** The name on the filter bar; "" where it is not on it. */
  label: string;
  /** The only values. */
  choices?: readonly string[];
  /** The names that values begin with. */
  names?: readonly string[];
}

export const DECLARED: Record<string, readonly DeclaredFilter[]> = {"""


if __name__ == "__main__":
    if sys.argv[1:] == ["typescript"]:
        sys.stdout.write(typescript())
    else:
        for shown in DOCUMENTED:
            sys.stdout.write(f"### {shown}\n\n{filters_list(shown)}\n\n")

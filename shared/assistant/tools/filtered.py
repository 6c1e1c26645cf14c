"""Arguments of tools that read filtered rows: a field for each filter that the read declares."""

from collections.abc import Collection
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from shared.assistant.tools.times import InRange
from shared.assistant.tools.tool import Text, Texts
from shared.foundation.clickhouse.filters import Filter, Filters
from shared.reading.dimensions.names import MAX_ATTRIBUTE_FILTERS

# Types of values that are declared elsewhere.
_ONE_OF: Any = Literal


class FilterArguments(InRange):
    """Arguments with a range of time, and with the fields that `filtered` adds."""

    reads: ClassVar[type[Filters]] = Filters

    @property
    def filters(self) -> Any:
        """Returns the filters of the read. Raises `Invalid` for a value that one cannot parse."""
        return self.filters_of(self.reads)

    def filters_of(self, filters: type[Filters]) -> Any:
        """Returns these values for a read that declares the same filters otherwise."""
        given: dict[str, object] = {}
        for one in filters.declared:
            if value := getattr(self, one.parameter, None):
                given[one.parameter] = one.parse(value) if one.parse else value
        return filters(**given, **self.bounds)


def filtered(name: str, filters: type[Filters], without: Collection[str] = ()) -> Any:
    """Returns the base of a tool's arguments: `since`, `until`, and all filters but `without`."""
    fields = [
        (one.parameter, *_field(one))
        for one in filters.declared
        if one.type != "moment" and one.parameter not in without
    ]
    return msgspec.defstruct(
        name,
        fields,
        bases=(FilterArguments,),
        namespace={"reads": filters},
        kw_only=True,
        forbid_unknown_fields=True,
    )


def _field(one: Filter) -> tuple[Any, object]:
    """Returns the type of an argument, and its value when it is left out."""
    about = Meta(description=one.description)
    if one.type == "flag":
        return Annotated[bool, about], False
    if one.type == "number":
        return Annotated[int, Meta(ge=0, description=one.description)] | None, None
    if one.type == "choice":
        return Annotated[_ONE_OF[one.choices], about], one.choices[0]
    if one.type == "attributes":
        by_key = Meta(max_length=MAX_ATTRIBUTE_FILTERS, description=f"by key; {one.description}")
        return Annotated[dict[Text, Texts], by_key], {}
    if one.choices:
        return Annotated[tuple[_ONE_OF[one.choices], ...], about], ()
    if one.max_values is not None:
        many = Meta(max_length=one.max_values, description=one.description)
        return Annotated[tuple[Text, ...], many], ()
    return Annotated[Texts, about], ()

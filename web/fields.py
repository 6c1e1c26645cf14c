"""The fields of requests and answers: `fields.text("the caller's own words", maxLength=200)`.

A field takes its description first. It is required. With `null=True` its value can be null, and
with `optional=True` an absent or null field loads as None. Options of marshmallow are passed on,
and all other keywords go to the OpenAPI document.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import marshmallow as ma

from web.params import ListField, Switch, Timestamp
from web.shapes import StructField

Field = ma.fields.Field[Any]
# Keywords of a field, for several fields that share them.
Details = dict[str, Any]

_OPTIONS = {
    *("data_key", "keys", "load_default", "required", "shape", "strict", "validate", "values"),
}


def _field(
    make: Callable[..., Field],
    about: str = "",
    *,
    null: bool = False,
    optional: bool = False,
    **details: Any,
) -> Field:
    options = {name: details.pop(name) for name in _OPTIONS & details.keys()}
    if optional:
        options["load_default"] = None
    options.setdefault("required", "load_default" not in options)
    metadata = {**details, "description": about} if about else details
    return make(allow_none=null or optional, metadata=metadata, **options)


text = partial(_field, ma.fields.String)
integer = partial(_field, ma.fields.Integer)
number = partial(_field, ma.fields.Float)
flag = partial(_field, ma.fields.Boolean)
uuid = partial(_field, ma.fields.UUID)
moment = partial(_field, Timestamp)
mapping = partial(_field, ma.fields.Dict)
shaped = partial(_field, StructField)
raw = partial(_field, ma.fields.Raw)
author = partial(text, "the address of a person or the name of a key")
texts = partial(_field, partial(ma.fields.List, ma.fields.String))
# Several values in one parameter, none of them when it is absent.
values = partial(_field, ListField, load_default=list)


def list_of(item: Field, about: str = "", **details: Any) -> Field:
    """Returns a field for a list of such items."""
    return _field(partial(ma.fields.List, item), about, **details)


def nested(schema: type[ma.Schema], about: str = "", **details: Any) -> Field:
    """Returns a field for an object."""
    return _field(partial(ma.fields.Nested, schema), about, **details)


def rows(schema: type[ma.Schema], about: str = "", **details: Any) -> Field:
    """Returns a field for a list of objects."""
    return list_of(ma.fields.Nested(schema), about, **details)


def reference(collection: str, about: str) -> Field:
    """Returns a field for the id of a row of this collection, such as `/v1/queries`."""
    details: Details = {"x-refers-to": collection}
    return text(about, format="uuid", **details)


def order(about: str) -> Field:
    """Returns a field for the direction of a list, `desc` by default."""
    return text(about, load_default="desc", validate=ma.validate.OneOf(["asc", "desc"]))


def cursor() -> Field:
    """Returns a field for the opaque cursor of a list: the `next_cursor` of the previous page."""
    return text("`next_cursor` of the previous page", optional=True)


def next_cursor() -> Field:
    """Returns a field for the cursor of the next page, null on the last page."""
    return text("null on the last page", null=True)


def name(most: int, note: str = "") -> Field:
    """Returns a field for a name of 1 to `most` characters (`bounds.require_name`)."""
    return text(f"{note}surrounding blanks are removed", minLength=1, maxLength=most)


def description(most: int) -> Field:
    """Returns a field for a description of at most `most` characters, with line breaks."""
    example = "An example of a description"
    return text("empty when absent", optional=True, maxLength=most, example=example)


def count(default: int, least: int, most: int, about: str) -> Field:
    """Returns a field for an optional whole number. `shared` enforces the documented bounds."""
    bounds: Details = {"minimum": least, "maximum": most}
    return integer(about, optional=True, strict=True, default=default, **bounds)


def switch(default: bool, about: str, **details: Any) -> Field:
    """Returns a field for an optional boolean that accepts only true and false."""
    return _field(Switch, about, optional=True, default=default, **details)

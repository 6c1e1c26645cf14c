"""Fields about groups of rules and levels of budgets."""

import marshmallow as ma

from web import fields


def group_field(about: str) -> fields.Field:
    """Returns a field for a group, `{field: value}`; the value is null without one."""
    values = ma.fields.String(allow_none=True)
    return fields.mapping(about, null=True, values=values, example={"user_id": "zoe"})


def level_field(about: str) -> fields.Field:
    """Returns a field for a level: a percentage, or `forecast`."""
    kinds = [{"type": "integer"}, {"type": "string", "enum": ["forecast"]}, {"type": "null"}]
    return fields.raw(about, null=True, anyOf=kinds)

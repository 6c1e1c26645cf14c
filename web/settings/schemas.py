"""Request and response schemas of the routes of settings."""

from typing import Any

from marshmallow import Schema, fields, pre_load

from shared.settings import Current, Setting, Value
from web.params import Body, Timestamp

_VALUE = {"type": ["string", "integer", "array"], "items": {"type": "string"}}


class SettingBody(Body):
    """The value; a body that is no object is the value itself."""

    value = fields.Raw(
        required=True,
        allow_none=True,
        metadata={
            **_VALUE,
            "description": "as its `kind` asks; null takes the setting back to its default",
        },
    )

    @pre_load
    def wrap(self, data: Any, **_options: object) -> Any:
        """Makes the object that a bare value stands for."""
        return data if isinstance(data, dict) else {"value": data}


class SettingEntry(Schema):
    """What a setting is and what it can be."""

    key = fields.String(required=True)
    kind = fields.String(required=True, metadata={"description": "how a value is checked"})
    title = fields.String(required=True)
    description = fields.String(required=True)
    default = fields.Raw(
        required=True, metadata={**_VALUE, "description": "in force until somebody sets another"}
    )
    min = fields.Integer(required=True, allow_none=True)
    max = fields.Integer(required=True, allow_none=True)
    unit = fields.String(required=True, allow_none=True)
    options = fields.List(
        fields.String(),
        required=True,
        allow_none=True,
        metadata={"description": "what a choice is made from"},
    )


class SettingRow(Schema):
    """A setting with the value that is in force."""

    key = fields.String(required=True)
    value = fields.Raw(
        required=True, metadata={**_VALUE, "description": "of a secret always empty"}
    )
    value_set = fields.Boolean(
        required=True,
        metadata={"description": "somebody set it; a secret: to something"},
    )
    updated_at = Timestamp(required=True, allow_none=True)
    updated_by = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "a person's address, else the key's name"},
    )
    scope = fields.String(required=True, metadata={"enum": ["org"]})
    schema = fields.Nested(SettingEntry, required=True)


class SettingList(Schema):
    """Every setting, in a fixed order."""

    settings = fields.List(fields.Nested(SettingRow), required=True)


class SettingEntryList(Schema):
    """What there is to set, in a fixed order."""

    settings = fields.List(fields.Nested(SettingEntry), required=True)


def row_of(current: Current) -> dict[str, Any]:
    """A `SettingRow`."""
    return {
        "key": current.setting.key,
        "value": current.value,
        "value_set": current.value_set,
        "updated_at": current.updated_at,
        "updated_by": current.updated_by,
        "scope": "org",
        "schema": entry_of(current.setting, current.default),
    }


def entry_of(setting: Setting, default: Value) -> dict[str, Any]:
    """A `SettingEntry`."""
    return {
        "key": setting.key,
        "kind": setting.kind,
        "title": setting.title,
        "description": setting.description,
        "default": default,
        "min": setting.minimum,
        "max": setting.maximum,
        "unit": setting.unit,
        "options": setting.options,
    }

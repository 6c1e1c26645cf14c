"""Request and response schemas of the routes of settings."""

from typing import Any

from marshmallow import Schema, fields, pre_load

from shared.settings import Current, Setting, Value
from web.params import Body, Timestamp

_VALUE = {"type": ["string", "integer", "array"], "items": {"type": "string"}}


class SettingBody(Body):
    """The value. A body that is not an object is the value itself."""

    value = fields.Raw(
        required=True,
        allow_none=True,
        metadata={
            **_VALUE,
            "description": "a value of the setting's `kind`; null resets it to its default",
        },
    )

    @pre_load
    def wrap(self, data: Any, **_options: object) -> Any:
        """Wraps a bare value in an object."""
        return data if isinstance(data, dict) else {"value": data}


class SettingEntry(Schema):
    """The description of a setting and its allowed values."""

    key = fields.String(required=True)
    kind = fields.String(
        required=True, metadata={"description": "determines how a value is checked"}
    )
    title = fields.String(required=True)
    description = fields.String(required=True)
    default = fields.Raw(
        required=True, metadata={**_VALUE, "description": "used until another value is set"}
    )
    min = fields.Integer(required=True, allow_none=True)
    max = fields.Integer(required=True, allow_none=True)
    unit = fields.String(required=True, allow_none=True)
    options = fields.List(
        fields.String(),
        required=True,
        allow_none=True,
        metadata={"description": "the allowed values of a choice"},
    )


class SettingRow(Schema):
    """A setting with its current value."""

    key = fields.String(required=True)
    value = fields.Raw(
        required=True, metadata={**_VALUE, "description": "always empty for a secret"}
    )
    value_set = fields.Boolean(
        required=True,
        metadata={"description": "a value has been set; for a secret, a non-empty one"},
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
    """All settings, in a fixed order."""

    settings = fields.List(fields.Nested(SettingEntry), required=True)


def row_of(current: Current) -> dict[str, Any]:
    """Returns a `SettingRow`."""
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
    """Returns a `SettingEntry`."""
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

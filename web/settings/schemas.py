"""Request and response schemas of the routes of settings."""

from typing import Any

from marshmallow import Schema, pre_load

from shared.access.settings.catalogue import Setting, Value
from shared.access.settings.service import Current
from web import fields
from web.params import Body
from web.responses import row_of

_VALUE: fields.Details = {
    "type": ["boolean", "string", "integer", "array"],
    "items": {"type": "string"},
}


class SettingBody(Body):
    """The value. A body that is not an object is the value itself."""

    value = fields.raw(
        "a value of the setting's `kind`; null resets it to its default", null=True, **_VALUE
    )

    @pre_load
    def wrap(self, data: Any, **_options: object) -> Any:
        """Wraps a bare value in an object."""
        return data if isinstance(data, dict) else {"value": data}


class SettingEntry(Schema):
    """The description of a setting and its allowed values."""

    key = fields.text()
    kind = fields.text("determines how a value is checked")
    title = fields.text()
    description = fields.text()
    default = fields.raw("used until another value is set", **_VALUE)
    min = fields.integer(null=True)
    max = fields.integer(null=True)
    unit = fields.text(null=True)
    options = fields.texts("the allowed values of a choice", null=True)


class SettingRow(Schema):
    """A setting with its current value."""

    key = fields.text()
    value = fields.raw(
        "always empty for a secret; of a URL only `https://host/…` without `settings:write`",
        **_VALUE,
    )
    value_set = fields.flag("a value has been set; for a secret, a non-empty one")
    updated_at = fields.moment(null=True)
    updated_by = fields.text("a person's address, else the key's name", null=True)
    note = fields.text("the reason why the value will not work here", null=True)
    scope = fields.text(enum=["org"])
    schema = fields.nested(SettingEntry)


class SettingList(Schema):
    """Every setting, in a fixed order."""

    settings = fields.rows(SettingRow)


class SettingEntryList(Schema):
    """All settings, in a fixed order."""

    settings = fields.rows(SettingEntry)


def setting_row(current: Current) -> dict[str, Any]:
    """Returns a `SettingRow`."""
    setting = current.setting
    schema = setting_entry(setting, current.default)
    return row_of(SettingRow, current, key=setting.key, scope="org", schema=schema)


def setting_entry(setting: Setting, default: Value) -> dict[str, Any]:
    """Returns a `SettingEntry`."""
    bounds = {"min": setting.minimum, "max": setting.maximum}
    return row_of(SettingEntry, setting, **bounds, default=default)

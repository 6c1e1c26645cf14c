"""Request and response schemas of the routes of dimensions."""

from marshmallow import Schema

from shared.reading.dimensions.attribute_keys import DAYS, MAX_KEYS
from shared.reading.dimensions.left_out import HOURS, MAX_SHOWN_KEYS
from shared.reading.sessions.dimension_values import FIELDS, MAX_VALUES
from shared.reading.sessions.selection import SessionFilters
from web import fields
from web.filters import filtered
from web.params import Limit


class AttributeKey(Schema):
    """A key of attributes."""

    key = fields.text()
    sessions = fields.integer("sessions with a value of it")
    last_seen_at = fields.moment("the last event of these sessions")


class OmittedCounts(Schema):
    """Values that had no place, by reason."""

    too_long = fields.integer("a text or a key was too long")
    too_many = fields.integer("more tags or attributes than an event may have")
    bad_key = fields.integer("a key had other characters than letters, digits and `_.:/-`")
    not_scalar = fields.integer("an object or a list, or no text where only a text counts")
    keys_full = fields.integer(f"further keys than the {MAX_KEYS} of the last {DAYS} days")


class Dimensions(Schema):
    """The dimensions of an organization's sessions."""

    attributes = fields.rows(AttributeKey, "those of most sessions first", maxItems=MAX_KEYS)
    users = fields.integer(f"different users in sessions of the last {DAYS} days")
    versions = fields.integer("different versions of agents, likewise")
    tags = fields.integer("different tags, likewise")
    left_out = fields.nested(OmittedCounts, f"of the last {HOURS} hours")
    left_out_keys = fields.texts(
        "some of the keys for which there was no place", maxItems=MAX_SHOWN_KEYS
    )
    complete_since = fields.moment(
        "filters find all events from this time on; null: all events", null=True
    )


class _Values(Schema):
    """The dimension, and the part of its values that is asked for."""

    field = fields.text(f"one of {', '.join(f'`{name}`' for name in FIELDS)}, `attr.<key>`")
    q = fields.text("any part of a value, in any case", load_default="", maxLength=256)
    limit = Limit(default=20, cap=MAX_VALUES)


ValuesQuery = filtered(SessionFilters, _Values)


class DimensionValue(Schema):
    """A value of a dimension."""

    value = fields.text()
    sessions = fields.integer("sessions with this value")
    last_seen_at = fields.moment("the last event of these sessions")


class DimensionValues(Schema):
    """The values of a dimension."""

    field = fields.text("as in the request")
    values = fields.rows(DimensionValue, "those of most sessions first, then by value")
    truncated = fields.flag("there are more values than `limit`")

"""Time zones by their names."""

from zoneinfo import ZoneInfo

from shared.foundation.core.errors import Invalid


def require_zone(field: str, name: str) -> ZoneInfo:
    """Returns the zone of an IANA name; raises `Invalid` naming the field."""
    try:
        return ZoneInfo(name)
    # A name that is no file's, a folder's, or one with a path in it.
    except (KeyError, ValueError, OSError):
        raise Invalid.field(field, "must be a time zone, such as Europe/Berlin") from None

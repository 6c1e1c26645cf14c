"""Rules for the name and the description of a permission set."""

from shared.foundation.core.errors import Invalid

MAX_NAME_LENGTH = 64
MAX_DESCRIPTION_LENGTH = 1000
# Clients resolve these in a path before they send it, so such a set could not be reached.
_PATH_STEPS = (".", "..")


def is_name(name: str) -> bool:
    """Returns whether a set can have this name; a lookup of any other name finds nothing."""
    return (
        1 <= len(name) <= MAX_NAME_LENGTH
        and name.isprintable()
        and name == name.strip()
        and name not in _PATH_STEPS
    )


def require_name(name: str) -> str:
    """Returns the name without surrounding blanks; raises `Invalid` naming `name`."""
    trimmed = name.strip()
    if trimmed in _PATH_STEPS:
        raise Invalid.field("name", f"cannot be {trimmed!r}")
    if not is_name(trimmed):
        raise Invalid.field("name", f"must have 1 to {MAX_NAME_LENGTH} printable characters")
    return trimmed


def require_description(description: str) -> None:
    """Raises `Invalid` naming `description`; line breaks are allowed."""
    if len(description) > MAX_DESCRIPTION_LENGTH:
        raise Invalid.field("description", f"must have at most {MAX_DESCRIPTION_LENGTH} characters")
    if not all(character.isprintable() or character in "\n\t" for character in description):
        raise Invalid.field("description", "must not contain control characters")

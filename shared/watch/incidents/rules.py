"""The rules for texts and values of incidents. Pure decisions."""

from collections.abc import Sequence

from shared.foundation.core import bounds
from shared.foundation.core.email_address import normal_address
from shared.foundation.core.errors import Invalid

STATES = ("firing", "acknowledged", "resolved")
OPEN_STATES = ("firing", "acknowledged")
SEVERITIES = ("info", "warning", "critical")

MAX_SUMMARY_LENGTH = 2000
MAX_TITLE_LENGTH = 200
MAX_BODY_LENGTH = 8000
# An incident is read with all of its comments.
MAX_COMMENTS = 2000
MAX_ASSIGNEES = 50

# The length of a title that is made from a summary.
_TITLE_WORDS_LENGTH = 80


def checked_summary(text: str) -> str:
    """Returns 1 to 2000 characters without surrounding blanks.

    Raises `Invalid` naming `summary`.
    """
    return _some_text("summary", text, MAX_SUMMARY_LENGTH)


def checked_body(text: str) -> str:
    """Returns 1 to 8000 characters; raises `Invalid` naming `body`."""
    return _some_text("body", text, MAX_BODY_LENGTH)


def checked_title(text: str | None) -> str | None:
    """Returns at most 200 characters on one line, None if empty.

    Raises `Invalid` naming `title`.
    """
    return bounds.require_line("title", text or "", most=MAX_TITLE_LENGTH) or None


def title_of(summary: str) -> str:
    """Returns the first words of a summary, on one line of at most 80 characters."""
    line = " ".join(summary.split())
    if len(line) <= _TITLE_WORDS_LENGTH:
        return line
    words = line[: _TITLE_WORDS_LENGTH - 1].rpartition(" ")[0] or line[: _TITLE_WORDS_LENGTH - 1]
    return f"{words}…"


def checked_state(states: Sequence[str]) -> tuple[str, ...]:
    """Returns the states to list; raises `Invalid` naming `state`."""
    if not set(states) <= set(STATES):
        raise Invalid.field("state", f"must be one or more of {', '.join(STATES)}")
    return tuple(states)


def checked_severity(severity: str) -> str:
    """Raises `Invalid` naming `severity`."""
    return bounds.require_one_of("severity", severity, SEVERITIES)


def checked_assignees(field: str, texts: Sequence[str], members: set[str]) -> list[str]:
    """Returns the addresses in the order given, each once; raises `Invalid` naming the field.

    The reason names an address that is not an active member's.
    """
    if len(texts) > MAX_ASSIGNEES:
        raise Invalid.field(field, f"must have at most {MAX_ASSIGNEES} addresses")
    assignees = []
    for text in texts:
        try:
            address = normal_address(text, field)
        except Invalid:
            address = text[:MAX_TITLE_LENGTH]
        if address not in members:
            raise Invalid.field(field, f"{address} is not an active member of the organization")
        assignees.append(address)
    return list(dict.fromkeys(assignees))


def _some_text(field: str, text: str, most: int) -> str:
    trimmed = bounds.require_text(field, text.strip(), most=most)
    if not trimmed:
        raise Invalid.field(field, "must not be empty")
    return trimmed

"""What people may say about incidents. Pure decisions."""

from collections.abc import Sequence

from shared.core import bounds
from shared.core.email_address import normal_address
from shared.core.errors import Invalid

STATES = ("firing", "acknowledged", "resolved")
OPEN_STATES = ("firing", "acknowledged")
SEVERITIES = ("info", "warning", "critical")

MAX_SUMMARY_LENGTH = 2000
MAX_TITLE_LENGTH = 200
MAX_BODY_LENGTH = 8000
# An incident is read with all of its comments.
MAX_COMMENTS = 2000
MAX_ASSIGNEES = 50

# A title that is made of a summary.
_TITLE_WORDS_LENGTH = 80


def checked_summary(text: str) -> str:
    """1 to 2000 characters without the blanks around them; raises `Invalid` naming `summary`."""
    return _some_text("summary", text, MAX_SUMMARY_LENGTH)


def checked_body(text: str) -> str:
    """1 to 8000 characters; raises `Invalid` naming `body`."""
    return _some_text("body", text, MAX_BODY_LENGTH)


def checked_title(text: str | None) -> str | None:
    """At most 200 characters on one line, None where nothing is left; raises as above, `title`."""
    return bounds.require_line("title", text or "", most=MAX_TITLE_LENGTH) or None


def title_of(summary: str) -> str:
    """The first words of a summary, on one line of at most 80 characters."""
    line = " ".join(summary.split())
    if len(line) <= _TITLE_WORDS_LENGTH:
        return line
    words = line[: _TITLE_WORDS_LENGTH - 1].rpartition(" ")[0] or line[: _TITLE_WORDS_LENGTH - 1]
    return f"{words}…"


def checked_state(states: Sequence[str]) -> tuple[str, ...]:
    """States to be listed; raises `Invalid` naming `state`."""
    if not set(states) <= set(STATES):
        raise Invalid.field("state", f"must be some of {', '.join(STATES)}")
    return tuple(states)


def checked_severity(severity: str) -> str:
    """Raises `Invalid` naming `severity`."""
    if severity not in SEVERITIES:
        raise Invalid.field("severity", f"must be one of {', '.join(SEVERITIES)}")
    return severity


def checked_assignees(field: str, texts: Sequence[str], members: set[str]) -> list[str]:
    """The addresses in the order given, each once; raises `Invalid` naming the field.

    The reason names an address that is no active member's.
    """
    if len(texts) > MAX_ASSIGNEES:
        raise Invalid.field(field, f"must be at most {MAX_ASSIGNEES} addresses")
    assignees = []
    for text in texts:
        try:
            address = normal_address(text, field)
        except Invalid:
            address = text[:MAX_TITLE_LENGTH]
        if address not in members:
            raise Invalid.field(field, f"{address} is no active member of the organization")
        assignees.append(address)
    return list(dict.fromkeys(assignees))


def _some_text(field: str, text: str, most: int) -> str:
    trimmed = bounds.require_text(field, text.strip(), most=most)
    if not trimmed:
        raise Invalid.field(field, "must not be empty")
    return trimmed

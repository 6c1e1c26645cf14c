"""Somebody else's text as Markdown that shows it, and does nothing else."""

import re

# What begins or ends something inside a line; an underscore inside a word does not.
_SPECIAL = re.compile(r"[\\`*\[\]~@$]|(?<![^\W_])_|_(?![^\W_])")
# What makes a line a list, a quotation or a heading, or the line above it one.
_OPENING = re.compile(r"^(?:[-+=#>]|\d+(?=[.)]))")
# Renderers that look for addresses in plain text find them in spite of a backslash.
_ADDRESS = re.compile(r"://|www\.", re.IGNORECASE)
_DISARMED = {"://": "[:]//", "www.": "www[.]"}
# What a code span shows as it is, also where somebody takes the Markdown for HTML.
_CODE = re.compile(r"[^`<&\s](?:[^`<&]*[^`<&\s])?")


def plain(text: str) -> str:
    """The text on one line: neither HTML nor links, headings or images come of it.

    Addresses are disarmed as people disarm them in mails: `https[:]//`, `www[.]`.
    """
    printable = "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(printable.split())
    disarmed = _ADDRESS.sub(lambda found: _DISARMED[found[0].lower()], line)
    escaped = _SPECIAL.sub(r"\\\g<0>", disarmed)
    # References rather than backslashes: nobody who forgets to render it gets HTML from it either.
    without_html = escaped.replace("&", "&amp;").replace("<", "&lt;")
    return _OPENING.sub(_escaped_opening, without_html)


def name(text: str) -> str:
    """An id, letter by letter: in a code span unless it holds what could leave one."""
    if text.isprintable() and "  " not in text and _CODE.fullmatch(text):
        return f"`{text}`"
    return plain(text)


def _escaped_opening(found: re.Match[str]) -> str:
    opening = found[0]
    return f"{opening}\\" if opening[0].isdigit() else f"\\{opening}"

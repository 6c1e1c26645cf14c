"""Escapes foreign text for Markdown, so that it is shown and has no other effect."""

import re

# Characters that begin or end markup inside a line; an underscore inside a word does not.
_SPECIAL = re.compile(r"[\\`*\[\]~@$]|(?<![^\W_])_|_(?![^\W_])")
# Text that makes a line a list, a quotation or a heading, or the line above it a heading.
_OPENING = re.compile(r"^(?:[-+=#>]|\d+(?=[.)]))")
# Renderers that find addresses in plain text ignore a backslash in them.
_ADDRESS = re.compile(r"://|www\.", re.IGNORECASE)
_DISARMED = {"://": "[:]//", "www.": "www[.]"}
# Text that a code span shows unchanged, even if the Markdown is treated as HTML.
_CODE = re.compile(r"[^`<&\s](?:[^`<&]*[^`<&\s])?")


def plain(text: str) -> str:
    """Returns the text on one line; it cannot produce HTML, links, headings or images.

    Addresses are disarmed as is usual in mails: `https[:]//`, `www[.]`.
    """
    printable = "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(printable.split())
    disarmed = _ADDRESS.sub(lambda found: _DISARMED[found[0].lower()], line)
    escaped = _SPECIAL.sub(r"\\\g<0>", disarmed)
    # Character references instead of backslashes, so that text that is not rendered is safe as HTML
    # too.
    without_html = escaped.replace("&", "&amp;").replace("<", "&lt;")
    return _OPENING.sub(_escaped_opening, without_html)


def name(text: str) -> str:
    """Returns an id letter by letter: in a code span unless it could end one."""
    if text.isprintable() and "  " not in text and _CODE.fullmatch(text):
        return f"`{text}`"
    return plain(text)


def _escaped_opening(found: re.Match[str]) -> str:
    opening = found[0]
    return f"{opening}\\" if opening[0].isdigit() else f"\\{opening}"

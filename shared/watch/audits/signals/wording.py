"""Names from events for titles and descriptions: on one line, printable, of limited length."""

_MAX_CHARS = 80


def shown(name: str, most: int = _MAX_CHARS) -> str:
    """Returns the name in readable form: at most `most` characters; a cut name ends with `…`.

    Control and format characters, which could turn or hide text, become spaces. A run of them
    becomes one space.
    """
    # Four times the shown length is enough, whatever is collapsed.
    head = name[: most * 4]
    line = " ".join("".join(char if char.isprintable() else " " for char in head).split())
    if len(line) > most:
        return f"{line[: most - 1]}…"
    return f"{line}…" if len(name) > len(head) else line or "(empty)"


def counted(count: int, noun: str) -> str:
    """Returns a count with its noun: `1 session`, `2 sessions`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

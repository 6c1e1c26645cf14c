"""Names from events in titles and descriptions: on one line, printable, of bounded length."""

_MAX_CHARS = 80


def shown(name: str, most: int = _MAX_CHARS) -> str:
    """The name as people can read it: at most `most` characters, cut ones marked by `…`.

    Control and format characters, which could turn or hide text, become spaces; runs of them one.
    """
    # Four times as much as is shown is enough to fill it, whatever is collapsed.
    head = name[: most * 4]
    line = " ".join("".join(char if char.isprintable() else " " for char in head).split())
    if len(line) > most:
        return f"{line[: most - 1]}…"
    return f"{line}…" if len(name) > len(head) else line or "(empty)"


def counted(count: int, noun: str) -> str:
    """`1 session`, `2 sessions`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

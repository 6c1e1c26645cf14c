"""Literals of ClickHouse, for statements whose values cannot be bound."""

_ESCAPED = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def text(value: str) -> str:
    """Returns a string literal of ClickHouse with exactly this value, in printable characters."""
    return f"'{''.join(map(_escaped, value))}'"


def _escaped(char: str) -> str:
    if known := _ESCAPED.get(char):
        return known
    if char.isprintable():
        return char
    # ClickHouse reads UTF-8 byte by byte; half of a surrogate pair has no bytes.
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "replace"))

"""Bounds on JSON that a parser alone does not have."""

import re

# Brackets of one body. Each object in it takes about 80 bytes of memory.
MAX_BRACKETS = 2**21
# Of brackets, more than any value has that is not nested too deeply: an object inside an object
# has four of them in OTLP.
_MAX_DEPTH = 400

# A string without an end is one token, and possessive repeats do not backtrack.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_OPENING, _CLOSING = frozenset(b"[{"), frozenset(b"]}")


def has_too_many_brackets(text: bytes) -> bool:
    """Returns whether the text might need too much memory; counts those in strings too."""
    return text.count(b"{") + text.count(b"[") > MAX_BRACKETS


def prune(text: bytes) -> bytes:
    """Returns the text with null for everything that is nested `_MAX_DEPTH` levels deep.

    The parser needs recursion, and refuses a whole body for one such value.
    """
    pieces: list[bytes] = []
    copied = depth = 0
    for token in _TOKEN.finditer(text):
        symbol = text[token.start()]
        if symbol in _OPENING:
            depth += 1
            if depth == _MAX_DEPTH:
                pieces += text[copied : token.start()], b"null"
        elif symbol in _CLOSING:
            if depth == _MAX_DEPTH:
                copied = token.end()
            depth -= 1
    # If brackets do not match, the parser says so.
    return b"".join((*pieces, text[copied:]))

"""Tells the elements of a JSON array apart without reading them.

The slow way round for bodies that the parser gives up on as a whole: one element nested 100,000
levels deep must not take the good ones beside it along. Counts brackets outside strings, so it
needs neither recursion nor well-formed elements.
"""

import re

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)
_EVENTS_KEY = re.compile(rb'\{\s*"events"\s*:\s*(?=\[)')
_OPENING, _CLOSING = frozenset(b"[{"), frozenset(b"]}")


def split_elements(text: bytes) -> list[bytes] | None:
    """The raw elements of `[…]` or `{"events": […]}`; None when the brackets do not add up."""
    wrapped = _EVENTS_KEY.match(text)
    start = wrapped.end() if wrapped else 0
    elements: list[bytes] = []
    if text[start : start + 1] != b"[":
        return None
    depth, begin = 0, start + 1
    for token in _TOKEN.finditer(text, start):
        symbol = text[token.start()]
        if symbol in _OPENING:
            depth += 1
        elif symbol in _CLOSING:
            depth -= 1
            if depth == 0:
                return _finish(text, elements, begin, token.start(), wrapped is not None)
        elif depth == 1 and symbol == ord(","):
            elements.append(text[begin : token.start()])
            begin = token.end()
    return None


def _finish(
    text: bytes, elements: list[bytes], begin: int, end: int, wrapped: bool
) -> list[bytes] | None:
    if text[end : end + 1] != b"]" or text[end + 1 :].strip() != (b"}" if wrapped else b""):
        return None
    if elements or text[begin:end].strip():
        elements.append(text[begin:end])
    return elements

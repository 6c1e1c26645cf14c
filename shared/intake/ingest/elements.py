"""Separates the elements of a JSON array without parsing them.

This is the slow way for bodies that the parser rejects as a whole, and for those that may have too
many elements for memory: one element nested 100,000 levels deep must not cost the good ones next to
it. It counts brackets outside strings, so it needs neither recursion nor well-formed elements.
"""

import re
from collections.abc import Iterator
from itertools import islice

from shared.foundation.core.errors import TooLarge

# A string without an end is one token, and possessive repeats do not backtrack. Without either, a
# few megabytes of quotes and backslashes take hours or gigabytes.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{},]', re.DOTALL)
_EVENTS_KEY = re.compile(rb'"events"\s*:\s*(?=\[)')
# Without a limit, the brackets in 120 KB of gzip take more than half a minute. A body of the
# largest size may have one bracket in every eight bytes.
_MAX_TOKENS = 2**24
_OPENING, _CLOSING = frozenset(b"[{"), frozenset(b"]}")
_QUOTE, _COMMA = b'",'


def split_elements(text: bytes, most: int) -> list[bytes] | None:
    """Returns the raw elements of `[…]` or `{"events": […]}`; None if the brackets do not match.

    Raises `TooLarge` as soon as there are more than `most`, or too many brackets to count.
    """
    outside = 1 if text.startswith(b"{") else 0
    array = _Array(most)
    opens_at = 0 if outside == 0 else -1
    depth = 0
    for token in _tokens(text):
        at = token.start()
        symbol = text[at]
        if symbol in _OPENING:
            if at == opens_at:
                array.open(at)
            depth += 1
        elif symbol in _CLOSING:
            depth -= 1
            if depth == outside:
                array.close(text, at)
            if depth == 0:
                return array.elements if not text[at + 1 :].strip() else None
        elif symbol == _COMMA and depth == outside + 1:
            array.next(text, at)
        elif symbol == _QUOTE and depth == outside == 1:
            key = _EVENTS_KEY.match(text, at)
            opens_at = key.end() if key else opens_at
    return None


def _tokens(text: bytes) -> Iterator[re.Match[bytes]]:
    tokens = _TOKEN.finditer(text)
    yield from islice(tokens, _MAX_TOKENS)
    if next(tokens, None) is not None:
        raise TooLarge("the body has too many brackets to separate its events")


class _Array:
    """The array of events during the walk; of two such arrays the last counts."""

    def __init__(self, most: int) -> None:
        self.elements: list[bytes] | None = None
        self._most = most
        self._begin: int | None = None

    def open(self, at: int) -> None:
        self.elements = []
        self._begin = at + 1

    def next(self, text: bytes, at: int) -> None:
        """Ends an element at a comma, if one of this array was being read."""
        if self.elements is None or self._begin is None:
            return
        if len(self.elements) >= self._most:
            raise TooLarge(f"the body has more than {self._most} events")
        self.elements.append(text[self._begin : at])
        self._begin = at + 1

    def close(self, text: bytes, at: int) -> None:
        if self.elements is None or self._begin is None:
            return
        if self.elements or text[self._begin : at].strip():
            self.next(text, at)
        self._begin = None

"""Separates the elements of a JSON array without parsing them.

This is the slow way for bodies that the parser rejects as a whole, and for those that may have too
many elements for memory: one element nested 100,000 levels deep must not cost the good ones next to
it. It counts brackets outside strings, so it needs neither recursion nor well-formed elements.
"""

import re
from collections.abc import Iterator
from itertools import islice, pairwise

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
    opens_at = 0 if outside == 0 else -1
    # Where the array of events begins, has a comma, and ends; of two such arrays the last counts.
    cuts: list[int] = []
    is_inside = False
    depth = 0
    for token in _tokens(text):
        at = token.start()
        symbol = text[at]
        if symbol in _OPENING:
            if at == opens_at:
                cuts, is_inside = [at], True
            depth += 1
        elif symbol in _CLOSING:
            depth -= 1
            if is_inside and depth == outside:
                _cut(cuts, at, most)
                is_inside = False
            if depth == 0:
                return _pieces(text, cuts) if not text[at + 1 :].strip() else None
        elif symbol == _COMMA and is_inside and depth == outside + 1:
            _cut(cuts, at, most)
        elif symbol == _QUOTE and depth == outside == 1:
            key = _EVENTS_KEY.match(text, at)
            opens_at = key.end() if key else opens_at
    return None


def _cut(cuts: list[int], at: int, most: int) -> None:
    if len(cuts) > most:
        raise TooLarge(f"the body has more than {most} events")
    cuts.append(at)


def _pieces(text: bytes, cuts: list[int]) -> list[bytes] | None:
    if not cuts:
        return None
    pieces = [text[begin + 1 : end] for begin, end in pairwise(cuts)]
    return pieces if len(pieces) > 1 or pieces[0].strip() else []


def _tokens(text: bytes) -> Iterator[re.Match[bytes]]:
    tokens = _TOKEN.finditer(text)
    yield from islice(tokens, _MAX_TOKENS)
    if next(tokens, None) is not None:
        raise TooLarge("the body has too many brackets to separate its events")

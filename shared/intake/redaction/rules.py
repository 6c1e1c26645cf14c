"""Removes the values of listed keys from an event, and leaves every other byte unchanged.

An accepted event is JSON that a parser has checked, so its quotation marks suffice: a string
followed by a colon is a key, any other one a value. That needs no recursion however deep the event
is, handles duplicate keys, and copies the bytes between redacted values.
"""

import json
import re
from collections.abc import Iterable
from itertools import groupby

import msgspec

REDACTED = b'"[redacted]"'

# Possessive throughout, so that a megabyte of quotes and backslashes causes no backtracking. Group
# 1 is the text inside the quotes, group 2 exists for a key. A string without an end, as in text
# that was cut off, reaches to the end.
_STRING = re.compile(rb'"((?:[^"\\]++|\\.)*+)(?:"(?:\s*+(:)\s*+)?|\\?\Z)', re.DOTALL)
_BRACKET = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_SCALAR = re.compile(rb"[^,\]}\s]*+")
# A key of an event without escapes. An unescaped mark opens or closes a string; a closing one is
# followed by punctuation or a space, and no searched name begins with these.
_KEY = re.compile(rb'"(?<!\\")([^"\\]++)"\s*+:\s*+')
# Names that JSON can or must write in several ways without `\u`, or that begin as `_KEY` cannot.
_ODD = re.compile(r'["\\/\x00-\x1f]|^[\s,:\]}]')
# The start of JSON in a text: its beginning if the text is one string, else its first bracket. The
# part before that may contain quotation marks of its own.
_JSON = re.compile(rb'\A\s*+"(?:[^"\\]++|\\.)*+(?:"\s*+|\\?)\Z|[\[{]', re.DOTALL)

# Characters that need no `\u`. Such escapes can hide a listed name or, in JSON text inside a
# string, the marks around it and an escape that hides it.
_PLAIN = frozenset(rb"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz\"")

# This many names are searched one by one; for more, searching all at once is faster
# (`bench/redaction.py`).
_FEW = 6
# The possible places of listed keys: nowhere, among an event's own keys, in the text inside
# strings.
_NOWHERE, _KEYS, _ANYWHERE = range(3)

_decode_text = json.JSONDecoder(strict=False).decode


class Redactor:
    """The listed keys of one organization; false if there are none. Safe for several threads.

    A key is listed if it is one of `names`, in any case, at any depth of the event, however JSON
    escapes spell it. Text in a string is searched from its first bracket on, as if it were JSON,
    and so are the strings of that text.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(map(_fold, names))
        self._plain = frozenset(name.encode() for name in self._names if name.isascii())
        self._any_odd = any(map(_ODD.search, self._names))
        self._any_wide = len(self._plain) < len(self._names)
        self._escapes = _escapes_of(_PLAIN.union(*self._plain))

    def __bool__(self) -> bool:
        return bool(self._names)

    def redact(self, payload: bytes) -> bytes:
        """Returns an accepted event with `"[redacted]"` in place of each value of a listed key.

        Returns the very same object if there is none.
        """
        reach = self._reach(payload)
        if reach == _NOWHERE:
            return payload
        return self._replace(payload) if reach == _KEYS else self._walk(payload)

    def is_named_in(self, text: bytes) -> bool:
        """Returns whether a listed key may occur in any text, with or without marks around it."""
        lowered = text.decode(errors="replace").lower()
        return self._reach(text) != _NOWHERE or any(name in lowered for name in self._names)

    def _reach(self, text: bytes) -> int:
        """Finds the possible places of listed keys quickly, for any number of keys.

        Never misses any.
        """
        if self._any_odd or (self._any_wide and not text.isascii()):
            return _ANYWHERE
        lowered = text.lower()
        # The single character first, because searching for it is three times as fast.
        escaped = b"\\" in lowered and b"\\u" in lowered
        if escaped and (self._any_wide or self._escapes.search(lowered)):
            return _ANYWHERE
        if len(self._plain) <= _FEW and not _holds_one(lowered, self._plain):
            return _NOWHERE
        # However deep a text is nested in others, only backslashes come between a name and its
        # marks.
        found = self._plain.intersection(lowered.replace(b"\\", b"").split(b'"'))
        if any(name + b"\\" in lowered for name in found):
            return _ANYWHERE
        return _KEYS if found else _NOWHERE

    def _replace(self, payload: bytes) -> bytes:
        """Redacts among an event's own keys, none of which has an escape."""
        pieces: list[bytes] = []
        copied = 0
        for key in _KEY.finditer(payload):
            if key[1].lower() in self._plain and key.start() >= copied:
                pieces += payload[copied : key.end()], REDACTED
                copied = _end_of_value(payload, key.end())
        return b"".join((*pieces, payload[copied:])) if pieces else payload

    def _walk(self, text: bytes, start: int = 0) -> bytes:
        """Redacts in any text, from `start` on, and in the texts inside its strings."""
        pieces: list[bytes] = []
        copied = 0
        for found in _STRING.finditer(text, start):
            if found.start() < copied:
                continue
            if found[2] is None:
                mended = self._look_inside(found[1])
                if mended is not None:
                    pieces += text[copied : found.start()], mended
                    copied = found.end()
            elif self._is_listed(found[1]):
                pieces += text[copied : found.end()], REDACTED
                copied = _end_of_value(text, found.end())
        return b"".join((*pieces, text[copied:])) if pieces else text

    def _is_listed(self, quoted: bytes) -> bool:
        if b"\\" not in quoted and quoted.isascii():
            return quoted.lower() in self._plain
        name = _unquote(quoted)
        return name is not None and _fold(name) in self._names

    def _look_inside(self, quoted: bytes) -> bytes | None:
        """Returns a string value with its JSON text redacted; None if there is nothing to redact.

        Each nested text needs twice the backslashes, which limits the depth.
        """
        if b"\\" not in quoted or self._reach(quoted) == _NOWHERE:
            return None
        value = _unquote(quoted)
        if value is None:
            return None
        text = value.encode("utf-8", "surrogatepass")
        begin = _JSON.search(text)
        redacted = text if begin is None else self._walk(text, begin.start())
        return None if redacted is text else _quote(redacted)


def _holds_one(text: bytes, names: Iterable[bytes]) -> bool:
    # A loop, because a generator costs twice as much.
    for name in names:  # noqa: SIM110
        if name in text:
            return True
    return False


def _fold(name: str) -> str:
    """Folds the case of a name; the Kelvin sign and similar characters are not ASCII letters."""
    folded = name.lower()
    return folded if folded.isascii() == name.isascii() else name


def _escapes_of(characters: Iterable[int]) -> re.Pattern[bytes]:
    """Returns a pattern that finds, in lower-case text, the `\\u` escape of one of these."""
    codes = sorted(b"%02x" % character for character in characters)
    groups = groupby(codes, lambda code: code[:1])
    digits = [b"%s[%s]" % (high, b"".join(code[1:] for code in same)) for high, same in groups]
    return re.compile(rb"\\u00(?:%s)" % b"|".join(digits))


def _end_of_value(text: bytes, start: int) -> int:
    """Returns the end of the value that begins at `start`; cut-off text ends every value."""
    first = text[start : start + 1]
    if first == b'"':
        string = _BRACKET.match(text, start)
        return len(text) if string is None else string.end()
    if first not in (b"{", b"["):
        scalar = _SCALAR.match(text, start)
        return start if scalar is None else scalar.end()
    depth = 0
    for token in _BRACKET.finditer(text, start):
        symbol = token[0]
        if symbol in (b"{", b"["):
            depth += 1
        elif symbol in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                return token.end()
    return len(text)


def _unquote(quoted: bytes) -> str | None:
    """Decodes a JSON string, even half of a surrogate pair; None if it is not a JSON string."""
    try:
        value: str = _decode_text('"' + quoted.decode("utf-8", "surrogatepass") + '"')
    except (UnicodeDecodeError, json.JSONDecodeError):
        return None
    return value


def _quote(text: bytes) -> bytes:
    value = text.decode("utf-8", "surrogatepass")
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value).encode()

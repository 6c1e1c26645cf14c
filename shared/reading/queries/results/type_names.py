"""Parses the names of ClickHouse's types, such as `Array(Tuple(a String, b UInt8))`."""

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^'\\]|\\.)*')|(?P<quoted>`(?:[^`\\]|\\.)*`)"
    r"|(?P<number>-?[0-9]+)|(?P<word>[A-Za-z_][A-Za-z0-9_.]*)|(?P<mark>[(),=]))",
    re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "f": "\f", "a": "\a", "v": "\v"}
_MAX_DEPTH = 60


class Type(NamedTuple):
    """A type and its arguments."""

    name: str
    args: tuple["Arg", ...] = ()


class Arg(NamedTuple):
    """An argument of a type: another type or a literal, with an optional label in front.

    `Tuple(a String)` has the label `a`, `Enum8('x' = 1)` the label `x` and the literal `1`.
    """

    label: str | None
    type: Type | None
    literal: str = ""


def parse(text: str) -> Type:
    """Parses a type name; raises `ValueError` if it is not one."""
    parser = _TypeParser(text)
    found = parser.type(0)
    parser.require_end()
    return found


class _TypeParser:
    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(text.rstrip()):
            token = _TOKEN.match(text, at)
            if token is None:
                raise ValueError(f"not the name of a type: {text}")
            kind = str(token.lastgroup)
            self._tokens.append((kind, token[kind]))
            at = token.end()
        self._tokens.append(("end", ""))
        self._at = 0

    def type(self, depth: int) -> Type:
        kind, name = self._take()
        if kind != "word" or depth > _MAX_DEPTH:
            raise ValueError(f"a type was expected at {name!r}")
        if not self._accept("("):
            return Type(name)
        args = []
        while not self._accept(")"):
            args.append(self._arg(depth + 1))
            if not self._accept(",") and self._tokens[self._at] != ("mark", ")"):
                raise ValueError(f"the arguments of {name} do not end")
        return Type(name, tuple(args))

    def require_end(self) -> None:
        if self._tokens[self._at][0] != "end":
            raise ValueError(f"unexpected {self._tokens[self._at][1]!r} after a type")

    def _arg(self, depth: int) -> Arg:
        kind, text = self._tokens[self._at]
        after_kind, after = self._tokens[min(self._at + 1, len(self._tokens) - 1)]
        if (after_kind, after) == ("mark", "="):
            self._at += 2
            return Arg(_bare(text), None, self._take()[1])
        if kind in ("text", "number"):
            self._at += 1
            return Arg(None, None, _bare(text))
        if kind in ("word", "quoted") and after_kind == "word":
            self._at += 1
            return Arg(_bare(text), self.type(depth))
        return Arg(None, self.type(depth))

    def _accept(self, mark: str) -> bool:
        if self._tokens[self._at] != ("mark", mark):
            return False
        self._at += 1
        return True

    def _take(self) -> tuple[str, str]:
        token = self._tokens[self._at]
        if token[0] == "end":
            raise ValueError("the name of a type ends too early")
        self._at += 1
        return token


def _bare(text: str) -> str:
    """Returns a token without its quotes and escapes."""
    if text[:1] not in ("'", "`"):
        return text
    return re.sub(
        r"\\(.)", lambda pair: _ESCAPES.get(pair[1], pair[1]), text[1:-1], flags=re.DOTALL
    )

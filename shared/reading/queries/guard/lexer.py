"""Reads SQL by ClickHouse's lexical rules and rewrites it in one plain spelling.

The result contains no comment, no heredoc, no foreign quote and no control character. Every string
and every quoted name is spelled so that sqlglot and ClickHouse see the same boundaries. The guard
parses that text and the server receives it, so neither can see a part that the other does not.
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum, auto

MAX_LENGTH = 8000
MAX_DEPTH = 60


class StatementRefused(Exception):
    """The reason why a statement is refused: one sentence."""


class TokenKind(Enum):
    """The kind of a token."""

    WORD = auto()
    NAME = auto()  # a quoted identifier; its text is without the quotes
    STRING = auto()  # its text is the canonical literal, quotes included
    NUMBER = auto()
    PARAM = auto()  # $1; its text is the digits
    MARK = auto()  # brackets and operators


@dataclass(frozen=True)
class Token:
    """One token, its position in the original text, and whether a gap precedes it."""

    kind: TokenKind
    text: str
    at: int
    spaced: bool

    @property
    def word(self) -> str:
        """The word in capitals; empty for any other kind of token."""
        return self.text.upper() if self.kind is TokenKind.WORD else ""

    def is_mark(self, *marks: str) -> bool:
        """Returns whether the token is one of these operators or brackets."""
        return self.kind is TokenKind.MARK and self.text in marks


_SPACE = re.compile(r"[ \t\n\r\f\v]+")
_LINE_COMMENT = re.compile(r"(?:--|//|#!|# )[^\n]*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAM = re.compile(r"\$([1-9][0-9]{0,3})(?![A-Za-z0-9_$])")
_INTEGER = re.compile(r"[0-9]+")
_NUMBER = re.compile(
    r"0[xX][0-9a-fA-F]+|0[bB][01]+"
    r"|(?:[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+)?"
)
_STRING = re.compile(r"'((?:[^'\\]|\\.|'')*)'", re.DOTALL)
# One spelling for characters with several, and without line breaks.
_RESPELLED = re.compile(r"\\.|''|[\n\r]", re.DOTALL)
_SPELLINGS = {"''": r"\'", "\n": r"\n", "\\\n": r"\n", "\r": r"\r", "\\\r": r"\r"}
_NAMES = {
    "`": re.compile(r"`([^`\\]+)`(?!`)"),
    '"': re.compile(r'"([^"\\]+)"(?!")'),
}
_MARK = re.compile(r"<=>|::|->|<=|>=|<>|!=|==|\|\||[-+*/%=<>?:,.;()\[\]]")
_CLOSES = {")": "(", "]": "["}
# Curly, low and angular quotes, acute accents, and their full-width forms.
_FOREIGN_QUOTES = frozenset(
    "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u00b4\uff07\uff02\uff40"
)
_PREFIXES = frozenset({"X", "B", "E", "N", "R", "U", "Q", "BR", "RB"})


def tokens_of(sql: str) -> list[Token]:
    """Returns the tokens of a statement, without its trailing semicolons.

    Raises `StatementRefused` for text that ClickHouse would read differently than it looks, or not
    at all.
    """
    _check_text(sql)
    tokens: list[Token] = []
    at, spaced = 0, False
    while at < len(sql):
        past = _gap(sql, at)
        if past > at:
            at, spaced = past, True
            continue
        token, at = _token(sql, at, spaced, tokens[-1] if tokens else None)
        tokens.append(token)
        spaced = False
    while tokens and tokens[-1].is_mark(";"):
        tokens.pop()
    _check_marks(tokens)
    return tokens


def where(sql: str, at: int) -> str:
    """Returns a position in the text as line and column."""
    line = sql.count("\n", 0, at) + 1
    column = at - (sql.rfind("\n", 0, at) + 1) + 1
    return f"line {line}, column {column}"


def _check_text(sql: str) -> None:
    if len(sql) > MAX_LENGTH:
        raise StatementRefused(
            f"a statement has at most {MAX_LENGTH} characters, this one has {len(sql)}"
        )
    for at, char in enumerate(sql):
        category = unicodedata.category(char) if char > "\x7f" or char < " " else ""
        if category == "Cs" or (category == "Cc" and char not in "\t\n\r\f\v"):
            raise StatementRefused(f"there is an unprintable character at {where(sql, at)}")


def _gap(sql: str, at: int) -> int:
    """Returns the end of the white space or comment at `at`; `at` itself if there is none."""
    char = sql[at]
    if char > "\x7f":
        return at + 1 if unicodedata.category(char) in ("Zs", "Zl", "Zp") else at
    if space := _SPACE.match(sql, at):
        return space.end()
    if comment := _LINE_COMMENT.match(sql, at):
        return comment.end()
    if sql.startswith("/*", at):
        end = sql.find("*/", at + 2)
        inner = sql.find("/*", at + 2)
        if end < 0:
            raise StatementRefused(f"the comment at {where(sql, at)} does not end")
        if 0 <= inner < end:
            raise StatementRefused(f"the comment at {where(sql, at)} contains another one")
        return end + 2
    return at


def _token(sql: str, at: int, spaced: bool, before: Token | None) -> tuple[Token, int]:
    char = sql[at]
    place = where(sql, at)
    if char == "'":
        return _string(sql, at, spaced, before)
    if char in _NAMES:
        return _name(sql, at, spaced)
    if char == "$":
        if found := _PARAM.match(sql, at):
            return Token(TokenKind.PARAM, found[1], at, spaced), found.end()
        raise StatementRefused(f"the $ at {place} does not begin a parameter such as $1")
    if found := _WORD.match(sql, at):
        _ends(sql, found.end())
        return Token(TokenKind.WORD, found[0], at, spaced), found.end()
    if number := _number(sql, at, before):
        _ends(sql, at + len(number))
        return Token(TokenKind.NUMBER, number, at, spaced), at + len(number)
    if found := _MARK.match(sql, at):
        return Token(TokenKind.MARK, found[0], at, spaced), found.end()
    if char in _FOREIGN_QUOTES:
        raise StatementRefused(f"the quote {char} at {place} is not valid in SQL: write ' or \"")
    if char in "{}":
        raise StatementRefused(
            f"{char} at {place}: write parameters as $1, and maps as map('key', value)"
        )
    shown = char if char.isprintable() else f"U+{ord(char):04X}"
    raise StatementRefused(f"{shown} at {place} is not SQL outside of quotes")


def _string(sql: str, at: int, spaced: bool, before: Token | None) -> tuple[Token, int]:
    found = _STRING.match(sql, at)
    if found is None:
        raise StatementRefused(f"the string at {where(sql, at)} does not end")
    if before and not spaced and before.word in _PREFIXES:
        raise StatementRefused(
            f"a string cannot have a prefix, as at {where(sql, at)}: use unhex('…')"
        )
    body = _RESPELLED.sub(lambda part: _SPELLINGS.get(part[0], part[0]), found[1])
    return Token(TokenKind.STRING, f"'{body}'", at, spaced), found.end()


def _name(sql: str, at: int, spaced: bool) -> tuple[Token, int]:
    found = _NAMES[sql[at]].match(sql, at)
    if found is None:
        raise StatementRefused(
            f"the quoted name at {where(sql, at)} does not end, is empty, or contains a backslash"
        )
    if any(char in '`"' or not (char.isprintable() or char == " ") for char in found[1]):
        raise StatementRefused(
            f"the quoted name at {where(sql, at)} contains a character that names cannot have"
        )
    return Token(TokenKind.NAME, found[1], at, spaced), found.end()


def _number(sql: str, at: int, before: Token | None) -> str | None:
    char, after = sql[at], sql[at + 1 : at + 2]
    if before and before.is_mark(".") and char.isascii() and char.isdigit():
        # In x.1.2, the second element of a tuple's first one, the numbers are no fraction.
        return _INTEGER.match(sql, at)[0]  # type: ignore[index] # it begins with a digit
    if char == "." and (not after.isdigit() or (before and _ends_operand(before))):
        return None
    found = _NUMBER.match(sql, at)
    return found[0] if found else None


def _ends_operand(token: Token) -> bool:
    return token.kind is not TokenKind.MARK or token.text in ")]"


def _ends(sql: str, at: int) -> None:
    """Raises `StatementRefused` if another character directly follows a word or number."""
    if at < len(sql) and (sql[at] in "$_" or (sql[at].isascii() and sql[at].isalnum())):
        raise StatementRefused(f"{sql[at]} at {where(sql, at)} cannot follow without a space")


def _check_marks(tokens: list[Token]) -> None:
    open_brackets: list[str] = []
    for token in tokens:
        if token.is_mark(";"):
            raise StatementRefused("send one statement: a ; may only stand at its end")
        if token.is_mark("(", "["):
            open_brackets.append(token.text)
            if len(open_brackets) > MAX_DEPTH:
                raise StatementRefused(f"brackets may be nested at most {MAX_DEPTH} deep")
        elif token.is_mark(")", "]") and (
            not open_brackets or open_brackets.pop() != _CLOSES[token.text]
        ):
            raise StatementRefused(f"a {token.text} has no opening bracket")
    if open_brackets:
        raise StatementRefused(f"a {open_brackets[-1]} is not closed")


def spelled(token: Token) -> str:
    """Returns the token's spelling in the normalized text; a parameter stays `$N`."""
    if token.kind is TokenKind.NAME:
        return f"`{token.text}`"
    return f"${token.text}" if token.kind is TokenKind.PARAM else token.text

"""The normalized text of a statement, with the original positions of its tokens."""

from bisect import bisect_right
from collections.abc import Callable, Sequence

from shared.reading.queries.guard import lexer, moments
from shared.reading.queries.guard.lexer import Token, TokenKind


class Text:
    """Tokens written on one line; `sql` is the text, without comments."""

    def __init__(
        self, original: str, tokens: Sequence[Token], bind: Callable[[int, bool], str]
    ) -> None:
        """Writes the tokens; `bind` gives a parameter's replacement, true if it may be a moment."""
        self._original = original
        self._tokens = tokens
        self._starts: list[int] = []
        parts: list[str] = []
        length = 0
        before: Token | None = None
        compared = moments.compared(tokens)
        for at, token in enumerate(tokens):
            if token.kind is TokenKind.PARAM:
                written = bind(int(token.text), at in compared)
            else:
                written = _moment(token) if at in compared else lexer.spelled(token)
            # Two adjacent names, "a"`b`, would become one: `a``b`.
            touches = before is not None and TokenKind.MARK not in (before.kind, token.kind)
            if parts and (token.spaced or touches):
                written = f" {written}"
            before = token
            self._starts.append(length)
            parts.append(written)
            length += len(written)
        self.sql = "".join(parts)

    def place(self, offset: int) -> str:
        """Returns the position in the original text of the token at an offset of `sql`."""
        token = self._tokens[max(bisect_right(self._starts, offset) - 1, 0)]
        return lexer.where(self._original, token.at)


def _moment(token: Token) -> str:
    moment = moments.spelled(token.text[1:-1])
    return lexer.spelled(token) if moment is None else f"toDateTime64('{moment}', 6, 'UTC')"

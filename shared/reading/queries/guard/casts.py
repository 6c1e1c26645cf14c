"""Types that are named by a text: `CAST(x, 'Array(UInt8)')`.

The state of an aggregate function is a dump of the engine's memory, and the engine trusts it.
Thirty thousand forged states did not end an engine, but one of rankCorr kept it busy forever, and
that process reads the rows of every organization. So no text may become a state. `sumState` and the
like create states, which `sumMerge` and the like consume.
"""

from collections.abc import Sequence

from shared.reading.queries.guard import lexer
from shared.reading.queries.guard.lexer import StatementRefused, Token, TokenKind

_CASTS = frozenset(
    {
        *("cast", "_cast", "kqlparametercast"),
        *("accuratecast", "accuratecastornull", "accuratecastordefault"),
    }
)


def check(sql: str, tokens: Sequence[Token], at: int) -> None:
    """Raises `StatementRefused` if the function called at `at` turns a text into a state, or might.

    The type has to be one text, because `concat('Aggregate', …)` would work as well.
    """
    if tokens[at].text.lower() not in _CASTS:
        return
    argument = _second_argument(tokens, at + 1)
    if not argument:
        return
    place = lexer.where(sql, argument[0].at)
    text = argument[0].text.replace("\\'", "'")
    if len(argument) > 1 or argument[0].kind is not TokenKind.STRING or "\\" in text:
        raise StatementRefused(f"the type at {place} must be written as one text without escapes")
    if "aggregatefunction" in text.lower():
        raise StatementRefused(
            f"the type at {place} is a state; values cannot be converted to states"
        )


def _second_argument(tokens: Sequence[Token], opening: int) -> Sequence[Token]:
    """Returns the tokens between the first comma of a bracket and the end of that argument."""
    depth, start = 0, None
    for at in range(opening, len(tokens)):
        token = tokens[at]
        if token.is_mark("(", "["):
            depth += 1
        elif token.is_mark(")", "]"):
            depth -= 1
        if depth == 0 or (depth == 1 and token.is_mark(",")):
            if start is not None or depth == 0:
                return tokens[start:at] if start is not None else ()
            start = at + 1
    return ()

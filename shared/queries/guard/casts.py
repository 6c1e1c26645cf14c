"""Types that are named by a text: `CAST(x, 'Array(UInt8)')`.

The state of an aggregate function is the engine's memory written down. A forged one is believed:
thirty thousand of them ended no engine, but one of rankCorr kept it busy without end, and it is the
process that reads every organization's rows. So no text becomes a state. `sumState` and its like
make states, which `sumMerge` and its like take.
"""

from collections.abc import Sequence

from shared.queries.guard import lexer
from shared.queries.guard.lexer import Kind, Refused, Token

_CASTS = frozenset(
    {
        *("cast", "_cast", "kqlparametercast"),
        *("accuratecast", "accuratecastornull", "accuratecastordefault"),
    }
)


def check(sql: str, tokens: Sequence[Token], at: int) -> None:
    """Raises `Refused` where the function called at `at` turns a text into a state, or might.

    Its type has to be one text, since `concat('Aggregate', …)` would be read as well.
    """
    if tokens[at].text.lower() not in _CASTS:
        return
    argument = _second_argument(tokens, at + 1)
    if not argument:
        return
    place = lexer.where(sql, argument[0].at)
    text = argument[0].text.replace("\\'", "'")
    if len(argument) > 1 or argument[0].kind is not Kind.STRING or "\\" in text:
        raise Refused(f"the type at {place} is not written as one text without escapes")
    if "aggregatefunction" in text.lower():
        raise Refused(f"the type at {place} is a state, which nothing can be turned into")


def _second_argument(tokens: Sequence[Token], opening: int) -> Sequence[Token]:
    """The tokens between the first comma of a bracket and what ends that argument."""
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

"""Checks the SQL that people send before the database sees it (docs/use/queries.md).

The engine separates tenants by itself: a user with grants on three views, under a row policy. This
guard is an additional check. It accepts one SELECT over the published tables, and explains every
refusal in a sentence.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from shared.foundation.core.errors import Invalid
from shared.reading.queries.guard import casts, lexer, moments, tree
from shared.reading.queries.guard.lexer import StatementRefused, Token, TokenKind
from shared.reading.queries.guard.params import typed
from shared.reading.queries.guard.refusals import BARE, WORDS, refused_function
from shared.reading.queries.guard.text import Text

_FIRST = ("SELECT", "WITH")
# Databases of every server; no qualifier may have one of these names, not even an alias.
_SYSTEM = frozenset({"SYSTEM", "INFORMATION_SCHEMA"})


@dataclass(frozen=True)
class GuardedStatement:
    """The statement for the database, with `params` as its values.

    `$N` becomes `{pN:Type}`, or `{tN:…}` if it is a moment that a column of time is compared with.
    """

    sql: str
    params: dict[str, object]


def guard(sql: str, params: Sequence[object] | None, *, schema: str) -> GuardedStatement:
    """Returns the statement in the form in which it may run, with the values of its parameters.

    `params` are JSON values, or None if there are none yet, as when a query is saved: then the text
    is only checked. Raises `Invalid` (`query_refused`) naming `sql` or `params`.
    """
    bound: dict[str, object] = {}

    def bind(number: int, is_compared: bool) -> str:
        return (
            f"{{p{number}:String}}" if params is None else _bind(number, params, bound, is_compared)
        )

    try:
        tokens = lexer.tokens_of(sql)
        _check_tokens(sql, tokens)
        text = Text(sql, tokens, bind)
        tree.check(tree.parse(text), text, schema)
    except StatementRefused as refused:
        raise _invalid("sql", str(refused)) from None
    return GuardedStatement(text.sql, bound)


def _bind(
    number: int, params: Sequence[object], bound: dict[str, object], is_compared: bool
) -> str:
    """Returns the replacement of `$number`, and adds its value to `bound`."""
    if number > len(params):
        raise _invalid("params", f"${number} has no value: {len(params)} were given")
    value = params[number - 1]
    moment = moments.spelled(value) if is_compared else None
    if moment is not None:
        bound[f"t{number}"] = moment
        return f"{{t{number}:{moments.TYPE}}}"
    try:
        type_, value = typed(value)
    except StatementRefused as refused:
        raise _invalid("params", f"${number} {refused}") from None
    if value is None:
        return "NULL"
    bound[f"p{number}"] = value
    return f"{{p{number}:{type_}}}"


def _check_tokens(sql: str, tokens: Sequence[Token]) -> None:
    """Refuses words whose effect must not depend on a parser."""
    words = [token for token in tokens if not token.is_mark("(")]
    if not words or words[0].word not in _FIRST:
        raise StatementRefused("only SELECT and WITH … SELECT can be run")
    for at, token in enumerate(tokens):
        if token.kind not in (TokenKind.WORD, TokenKind.NAME):
            continue
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        place = lexer.where(sql, token.at)
        called = after is not None and after.is_mark("(")
        if (reason := WORDS.get(token.word)) and not (token.word == "FORMAT" and called):
            raise StatementRefused(f"{token.text} at {place}: {reason}; quote it if it is a name")
        if called and token.kind is TokenKind.NAME and token.text.lower() == "in":
            raise StatementRefused(f"in at {place}: write the operator IN, not the function")
        if after is not None and after.is_mark(".") and token.text.upper() in _SYSTEM:
            raise StatementRefused(
                f"{token.text} at {place}: the server's own tables are not published"
            )
        if (called or token.word in BARE or _is_passed(tokens, at)) and (
            reason := refused_function(token.text)
        ):
            raise StatementRefused(f"{token.text} at {place} is not available: {reason}")
        if called:
            casts.check(sql, tokens, at)


def _is_passed(tokens: Sequence[Token], at: int) -> bool:
    """Returns whether a name is passed as a function: `APPLY f`, `arrayMap(f, values)`."""
    before = tokens[at - 1] if at > 0 else None
    if before is None:
        return False
    if before.word == "APPLY":
        return True
    if not before.is_mark("(") or at < 2:
        return False
    caller = tokens[at - 2].text.upper()
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    return caller == "APPLY" or (
        caller.startswith(("ARRAY", "MAP")) and after is not None and after.is_mark(",")
    )


def _invalid(field: str, why: str) -> Invalid:
    return Invalid(f"{field}: {why}", fields={field: [why]}, code="query_refused")

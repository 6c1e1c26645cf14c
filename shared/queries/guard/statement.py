"""Judges the SQL that people send before the database sees it (docs/queries.md).

The engine keeps tenants apart by itself: a user with grants on three views, under a row policy.
This guard stands in front of it, lets through one SELECT over the published tables, and says in a
sentence what it does not let through.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from shared.clickhouse.published import TABLES
from shared.core.errors import Invalid
from shared.queries.guard import casts, lexer, moments, tree
from shared.queries.guard.lexer import Kind, Refused, Token
from shared.queries.guard.params import typed
from shared.queries.guard.refusals import BARE, WORDS, refused_function
from shared.queries.guard.text import Text

PUBLISHED = frozenset(table.name for table in TABLES)
_FIRST = ("SELECT", "WITH")
# Databases of every server: no name of these qualifies anything here, an alias neither.
_SYSTEM = frozenset({"SYSTEM", "INFORMATION_SCHEMA"})


@dataclass(frozen=True)
class Statement:
    """What is sent to the database: `$N` stands as `{pN:Type}`, or as `{tN:…}` where it is a moment
    that a column of time is compared with; `params` holds the values.
    """

    sql: str
    params: dict[str, object]


def guard(sql: str, params: Sequence[object] | None, *, schema: str) -> Statement:
    """The statement as it may be run, and the values of its parameters.

    `params` are JSON values; None where there are none yet, as when a query is saved: then the
    text is only checked. Raises `Invalid` (`query_refused`) naming `sql` or `params`.
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
        tree.check(tree.parse(text), text, schema, PUBLISHED)
    except Refused as refused:
        raise _invalid("sql", str(refused)) from None
    return Statement(text.sql, bound)


def _bind(
    number: int, params: Sequence[object], bound: dict[str, object], is_compared: bool
) -> str:
    """What stands for `$number`; its value is added to `bound`."""
    if number > len(params):
        raise _invalid("params", f"${number} has no value: {len(params)} were given")
    value = params[number - 1]
    moment = moments.spelled(value) if is_compared else None
    if moment is not None:
        bound[f"t{number}"] = moment
        return f"{{t{number}:{moments.TYPE}}}"
    try:
        type_, value = typed(value)
    except Refused as refused:
        raise _invalid("params", f"${number} {refused}") from None
    if value is None:
        return "NULL"
    bound[f"p{number}"] = value
    return f"{{p{number}:{type_}}}"


def _check_tokens(sql: str, tokens: Sequence[Token]) -> None:
    """Refuses by words what must not depend on how anybody parses them."""
    words = [token for token in tokens if not token.is_mark("(")]
    if not words or words[0].word not in _FIRST:
        raise Refused("only a SELECT, or WITH … SELECT, is run")
    for at, token in enumerate(tokens):
        if token.kind not in (Kind.WORD, Kind.NAME):
            continue
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        place = lexer.where(sql, token.at)
        called = after is not None and after.is_mark("(")
        if (reason := WORDS.get(token.word)) and not (token.word == "FORMAT" and called):
            raise Refused(f"{token.text} at {place}: {reason}; quote it where it is a name")
        if called and token.kind is Kind.NAME and token.text.lower() == "in":
            raise Refused(f"in at {place}: write the operator IN, not the function")
        if after is not None and after.is_mark(".") and token.text.upper() in _SYSTEM:
            raise Refused(f"{token.text} at {place}: the server's own tables are not published")
        if (called or token.word in BARE or _is_passed(tokens, at)) and (
            reason := refused_function(token.text)
        ):
            raise Refused(f"{token.text} at {place} is not available: {reason}")
        if called:
            casts.check(sql, tokens, at)


def _is_passed(tokens: Sequence[Token], at: int) -> bool:
    """Whether a name stands where a function can be passed: `APPLY f`, `arrayMap(f, values)`."""
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

"""Judges the SQL that people send before the database sees it (wire §6).

The engine keeps tenants apart by itself: a user with grants on three views, under a row policy.
This guard stands in front of it, lets through one SELECT over the published tables, and says in a
sentence what it does not let through.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from shared.errors import Invalid
from shared.queries import lexer
from shared.queries import params as parameters
from shared.queries.lexer import Kind, Refused, Token


@dataclass(frozen=True)
class Statement:
    """What is sent to the database: `$N` stands as `{pN:Type}`, and `params` holds the values."""

    sql: str
    params: dict[str, object]


def guard(sql: str, params: Sequence[object] | None, *, schema: str) -> Statement:
    """The statement as it may be run; with `params` None it is only checked.

    Raises `Invalid` (`query_refused`) naming `sql` or `params`.
    """
    try:
        tokens = lexer.tokens_of(sql)
    except Refused as refused:
        raise _invalid("sql", str(refused)) from None
    bound: dict[str, object] = {}
    parts = []
    for token in tokens:
        text = lexer.spelled(token)
        if token.kind is Kind.PARAM and params is not None:
            text = _bind(token, params, bound)
        parts.append(f" {text}" if token.spaced else text)
    return Statement("".join(parts).strip(), bound)


def _bind(token: Token, params: Sequence[object], bound: dict[str, object]) -> str:
    number = int(token.text)
    if number > len(params):
        raise _invalid("params", f"${number} has no value: there are {len(params)}")
    try:
        kind, value = parameters.typed(params[number - 1])
    except Refused as refused:
        raise _invalid("params", f"${number} {refused}") from None
    bound[f"p{number}"] = value
    return f"{{p{number}:{kind}}}"


def _invalid(field: str, why: str) -> Invalid:
    return Invalid(f"{field}: {why}", fields={field: [why]}, code="query_refused")

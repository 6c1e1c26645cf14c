"""Checks on the parsed statement: one query, over the published tables, and nothing beside it."""

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.dialects.clickhouse import ClickHouse
from sqlglot.errors import ErrorLevel, ParseError
from sqlglot.parsers.clickhouse import ClickHouseParser
from sqlglot.tokenizer_core import TokenType

from shared.queries.guard.lexer import Refused
from shared.queries.guard.refusals import GENERATORS
from shared.queries.guard.text import Text

# What the parser makes of other statements, and of those that it only holds as text.
_STATEMENTS = (exp.Command, exp.DML, exp.DDL, exp.Describe, exp.Set, exp.Use, exp.Kill, exp.Into)
_NOT_HERE = (exp.Lateral, exp.Parameter, exp.SessionParameter, exp.Lock)
_SOURCES = (exp.Table, exp.Subquery, exp.Values, exp.Final)


class _Parser(ClickHouseParser):
    """Reads LIMIT … BY beside LIMIT, which sqlglot takes for the same clause twice; gives up early.

    Where sqlglot tries one reading after the other it can take time exponential in the depth of
    brackets. Ordinary statements take two steps a token.
    """

    QUERY_MODIFIER_PARSERS = {  # noqa: RUF012 # as in the base class
        **ClickHouseParser.QUERY_MODIFIER_PARSERS,
        TokenType.LIMIT: lambda self: self._limit(),
    }
    _steps = 0

    def _limit(self) -> tuple[str, exp.Expr | None]:
        limit = self._parse_limit()
        if limit is None or limit.expressions:
            return "limit_by", limit
        after = self._index
        if self._match(TokenType.OFFSET):
            limit.set("offset", self._parse_term())
            limit.set("expressions", self._parse_limit_by())
            if limit.expressions:
                return "limit_by", limit
            limit.set("offset", None)
            self._retreat(after)
        return "limit", limit

    def _advance(self, times: int = 1) -> None:
        self._steps += 1
        if self._steps > 5000 + 10 * self._tokens_size:
            raise _TooDeep
        super()._advance(times)


class _Dialect(ClickHouse):
    # Taking 1 from every index would infer the types of all that stands before it, each time.
    INDEX_OFFSET = 0

    Parser = _Parser


class _TooDeep(Exception):
    """The parser took more steps than any sensible statement needs."""


_DIALECT = _Dialect()


def parse(text: Text) -> exp.Query:
    """The statement as a tree. Raises `Refused` unless it is one SELECT, or several combined."""
    try:
        parsed = _DIALECT.parse(text.sql, error_level=ErrorLevel.IMMEDIATE)
    except ParseError as error:
        raise _unreadable(error, text) from None
    except (RecursionError, _TooDeep):
        raise Refused("the statement is nested too deep") from None
    except Exception:  # noqa: BLE001 # whatever the parser trips over, it did not understand it
        raise Refused("the statement cannot be read") from None
    if len(parsed) != 1 or not isinstance(parsed[0], exp.Query):
        raise Refused("only a SELECT, or WITH … SELECT, is run")
    return parsed[0]


def _unreadable(error: ParseError, text: Text) -> Refused:
    if not error.errors:
        return Refused("the statement cannot be read")
    first = error.errors[0]
    what = str(first["description"]).rstrip(".").removeprefix("Invalid expression / ")
    if "<class" in what:
        what = "Something is missing"
    place = text.place(int(first["col"] or 1) - 1)
    return Refused(f"{what} at {place}, near {first['highlight']}")


def check(tree: exp.Query, text: Text, schema: str, published: frozenset[str]) -> None:
    """Raises `Refused` for a table, a source or a clause that user SQL may not have."""
    for node in tree.walk():
        if isinstance(node, _STATEMENTS):
            raise Refused("only a SELECT, or WITH … SELECT, is run")
        if isinstance(node, _NOT_HERE) or (isinstance(node, exp.Placeholder) and not node.this):
            raise Refused(f"{node.key} is not available; parameters are written $1")
        if isinstance(node, exp.Select) and not node.expressions:
            raise Refused("a SELECT has nothing to select")
        if isinstance(node, exp.From) or (isinstance(node, exp.Join) and "ARRAY" not in node.kind):
            _source(node.this)
        elif isinstance(node, exp.Table):
            _table(node, text, schema, published)
        elif isinstance(node, exp.In):
            _right_of_in(node, text, schema, published)


def _source(node: object) -> None:
    if not isinstance(node, _SOURCES):
        raise Refused("FROM and JOIN take a published table, a name of WITH, or a subquery")


def _table(table: exp.Table, text: Text, schema: str, published: frozenset[str]) -> None:
    name = table.this
    if isinstance(name, exp.Func):
        called = name.name if isinstance(name, exp.Anonymous) else name.sql_name()
        # With a database before it, it is a view that takes parameters.
        if called.lower() not in GENERATORS or table.args.get("db"):
            raise Refused(f"the table function {called} is not available")
        return
    if not isinstance(name, exp.Identifier) or table.args.get("catalog"):
        raise Refused("a table is named events or schema.events")
    place = _place(text, table.args.get("db") or name)
    _allowed(name.name, table.db, table, place, schema, published)


def _allowed(
    name: str, db: str, node: exp.Expr, place: str, schema: str, published: frozenset[str]
) -> None:
    if db not in ("", schema):
        raise Refused(f"{db}.{name} at {place} is not a published table; these are in {schema}")
    if name in published or (not db and name in _names_of_with(node)):
        return
    known = ", ".join(sorted(published))
    raise Refused(f"{name} at {place} is not a published table; these are {known}")


def _place(text: Text, name: exp.Expr) -> str:
    return text.place(name.meta.get("start", 0))


def _names_of_with(node: exp.Expr) -> Iterator[str]:
    """The names that WITH gives in the queries around a node."""
    above = node.parent
    while above is not None:
        with_ = above.args.get("with_")
        if with_ is not None:
            yield from (cte.alias for cte in with_.expressions)
        above = above.parent


def _right_of_in(node: exp.In, text: Text, schema: str, published: frozenset[str]) -> None:
    """`x IN name` reads the table of that name, brackets around it or not."""
    right = node.args.get("field")
    if right is None and len(node.expressions) == 1:
        right = node.expressions[0]
    while isinstance(right, exp.Paren):
        right = right.this
    if not isinstance(right, exp.Column) or not right.table:
        return
    place = _place(text, right.args["table"])
    if right.args.get("db"):
        _allowed(right.name, f"{right.text('db')}.{right.table}", node, place, schema, published)
    if right.table == schema:
        _allowed(right.name, right.table, node, place, schema, published)
    elif right.table not in _names_here(node):
        raise Refused(f"{right.table}.{right.name} at {place} is not a published table")


def _names_here(node: exp.Expr) -> Iterator[str]:
    """What qualifies a column in the queries around a node: tables and their aliases."""
    above: exp.Expr | None = node
    while above is not None:
        if isinstance(above, exp.Select):
            sources = [above.args.get("from_"), *above.args.get("joins", ())]
            yield from (source.this.alias_or_name for source in sources if source is not None)
        above = above.parent

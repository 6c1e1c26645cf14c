"""Checks of the parsed statement: one query over the published tables, and nothing else."""

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.dialects.clickhouse import ClickHouse
from sqlglot.errors import ErrorLevel, ParseError
from sqlglot.parsers.clickhouse import ClickHouseParser
from sqlglot.tokenizer_core import TokenType

from shared.foundation.clickhouse.published import TABLES
from shared.reading.queries.guard.lexer import StatementRefused
from shared.reading.queries.guard.refusals import GENERATORS
from shared.reading.queries.guard.text import Text

PUBLISHED = frozenset(table.name for table in TABLES)
# The nodes that the parser makes of other statements, and of statements that it only keeps as text.
_STATEMENTS = (exp.Command, exp.DML, exp.DDL, exp.Describe, exp.Set, exp.Use, exp.Kill, exp.Into)
_NOT_HERE = (exp.Lateral, exp.Parameter, exp.SessionParameter, exp.Lock)
_SOURCES = (exp.Table, exp.Subquery, exp.Values, exp.Final)


class _GuardParser(ClickHouseParser):
    """A parser that reads LIMIT … BY next to LIMIT and limits its number of steps.

    sqlglot takes the two LIMIT clauses for one that occurs twice. Where it tries one reading after
    the other, it can take time exponential in the depth of brackets. Ordinary statements take two
    steps per token.
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
    # Subtracting 1 from every index would infer the types of everything before it, each time.
    INDEX_OFFSET = 0

    Parser = _GuardParser


class _TooDeep(Exception):
    """The parser took more steps than any sensible statement needs."""


_DIALECT = _Dialect()


def parse(text: Text) -> exp.Query:
    """Parses the statement.

    Raises `StatementRefused` unless it is one SELECT, or several combined.
    """
    try:
        parsed = _DIALECT.parse(text.sql, error_level=ErrorLevel.IMMEDIATE)
    except ParseError as error:
        raise _unreadable(error, text) from None
    except (RecursionError, _TooDeep):
        raise StatementRefused("the statement is nested too deeply") from None
    except Exception:  # noqa: BLE001 # any error means that the parser did not understand it
        raise StatementRefused("the statement cannot be read") from None
    if len(parsed) != 1 or not isinstance(parsed[0], exp.Query):
        raise StatementRefused("only a SELECT, or WITH … SELECT, is run")
    return parsed[0]


def _unreadable(error: ParseError, text: Text) -> StatementRefused:
    if not error.errors:
        return StatementRefused("the statement cannot be read")
    first = error.errors[0]
    what = str(first["description"]).rstrip(".").removeprefix("Invalid expression / ")
    if "<class" in what:
        what = "Something is missing"
    place = text.place(int(first["col"] or 1) - 1)
    return StatementRefused(f"{what} at {place}, near {first['highlight']}")


def check(tree: exp.Query, text: Text, schema: str) -> None:
    """Raises `StatementRefused` for a table, a source or a clause that user SQL may not use."""
    for node in tree.walk():
        if isinstance(node, _STATEMENTS):
            raise StatementRefused("only a SELECT, or WITH … SELECT, is run")
        if isinstance(node, _NOT_HERE) or (isinstance(node, exp.Placeholder) and not node.this):
            raise StatementRefused(f"{node.key} is not available; write parameters as $1")
        if isinstance(node, exp.Select) and not node.expressions:
            raise StatementRefused("a SELECT selects no columns")
        if isinstance(node, exp.From) or (isinstance(node, exp.Join) and "ARRAY" not in node.kind):
            _source(node.this)
        elif isinstance(node, exp.Table):
            _table(node, text, schema)
        elif isinstance(node, exp.In):
            _right_of_in(node, text, schema)


def _source(node: object) -> None:
    if not isinstance(node, _SOURCES):
        raise StatementRefused(
            "use a published table, a name of WITH, or a subquery after FROM and JOIN"
        )


def _table(table: exp.Table, text: Text, schema: str) -> None:
    name = table.this
    if isinstance(name, exp.Func):
        called = name.name if isinstance(name, exp.Anonymous) else name.sql_name()
        # With a database in front, it is a view that takes parameters.
        if called.lower() not in GENERATORS or table.args.get("db"):
            raise StatementRefused(f"the table function {called} is not available")
        return
    if not isinstance(name, exp.Identifier) or table.args.get("catalog"):
        raise StatementRefused("name a table as events or schema.events")
    place = _place(text, table.args.get("db") or name)
    _allowed(name.name, table.db, table, place, schema)


def _allowed(name: str, db: str, node: exp.Expr, place: str, schema: str) -> None:
    if db not in ("", schema):
        raise StatementRefused(
            f"{db}.{name} at {place} is not a published table; use those in {schema}"
        )
    if name in PUBLISHED or (not db and name in _names_of_with(node)):
        return
    known = ", ".join(sorted(PUBLISHED))
    raise StatementRefused(f"{name} at {place} is not a published table; use {known}")


def _place(text: Text, name: exp.Expr) -> str:
    return text.place(name.meta.get("start", 0))


def _names_of_with(node: exp.Expr) -> Iterator[str]:
    """Yields the names that WITH defines in the queries around a node."""
    above = node.parent
    while above is not None:
        with_ = above.args.get("with_")
        if with_ is not None:
            yield from (cte.alias for cte in with_.expressions)
        above = above.parent


def _right_of_in(node: exp.In, text: Text, schema: str) -> None:
    """Checks `x IN name`, which reads the table of that name, with or without brackets."""
    right = node.args.get("field")
    if right is None and len(node.expressions) == 1:
        right = node.expressions[0]
    while isinstance(right, exp.Paren):
        right = right.this
    if not isinstance(right, exp.Column) or not right.table:
        return
    place = _place(text, right.args["table"])
    if right.args.get("db"):
        _allowed(right.name, f"{right.text('db')}.{right.table}", node, place, schema)
    if right.table == schema:
        _allowed(right.name, right.table, node, place, schema)
    elif right.table not in _names_here(node):
        raise StatementRefused(f"{right.table}.{right.name} at {place} is not a published table")


def _names_here(node: exp.Expr) -> Iterator[str]:
    """Yields the qualifiers of columns in the queries around a node: tables and their aliases."""
    above: exp.Expr | None = node
    while above is not None:
        if isinstance(above, exp.Select):
            sources = [above.args.get("from_"), *above.args.get("joins", ())]
            yield from (source.this.alias_or_name for source in sources if source is not None)
        above = above.parent

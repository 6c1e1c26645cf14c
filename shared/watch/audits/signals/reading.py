"""Reads that several signals share, and comparisons with the window before.

Each number of a finding is one SQL expression. The signal evaluates it with bound values. Its
evidence query repeats it over the published views with literals; only the condition that a row lies
in the audit's window is written differently.
"""

from collections.abc import Mapping

from shared.foundation.clickhouse import Row, literals
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.where import Where, moment
from shared.foundation.core.clock import to_us
from shared.watch.audits.signals.interface import Look, Window

# A signal files only its strongest findings: the citations of each cost two more statements.
MAX_CANDIDATES = 20


def rows(look: Look, statement: str, params: Mapping[str, object]) -> list[Row]:
    """Returns the rows of a signal's statement, under the same time limit as any other read."""
    return look.clickhouse.rows(statement, params, settings=PAGE)


def with_before(look: Look) -> Window:
    """Joins the audit's window and the one before it."""
    return Window(look.window.before.start, look.window.stop)


def is_now(look: Look, where: Where, column: str = "ts") -> str:
    """Returns the SQL condition that a row lies in the audit's window.

    Binds the value in `where`.
    """
    where.params["start"] = to_us(look.window.start)
    return f"{column} >= {moment('start')}"


def is_now_literal(look: Look, column: str = "ts") -> str:
    """Returns the condition of `is_now` with a literal, for an evidence query."""
    return f"{column} >= {literals.moment(look.window.start)}"


def select_list(expressions: Mapping[str, str]) -> str:
    """Lists the expressions under their names."""
    return ", ".join(f"{expression} AS {name}" for name, expression in expressions.items())

"""The tables with results: one of the built-in evaluators, one of organizations' own.

A read that names no evaluator means the built-in ones, as it did before there were others.
"""

from collections.abc import Sequence
from typing import NamedTuple

from shared.reading.evaluations.records import BUILTINS, COLUMNS

EVERY = "*"

_COLUMNS = ", ".join(COLUMNS)


class ResultTable(NamedTuple):
    """SQL to read results from: with copies, and without them in `final`.

    `is_one`: it is a table, with the virtual columns of its parts.
    """

    sql: str
    final: str
    is_one: bool = True


BUILTIN = ResultTable("evaluations", "evaluations FINAL")
OWN = ResultTable("own_evaluations", "own_evaluations FINAL")
_UNION = (
    f"(SELECT {_COLUMNS} FROM evaluations{{final}}"
    f" UNION ALL SELECT {_COLUMNS} FROM own_evaluations{{final}})"
)
_BOTH = ResultTable(_UNION.format(final=""), _UNION.format(final=" FINAL"), is_one=False)


def table_of(evaluators: Sequence[str]) -> ResultTable:
    """Returns where the results of these evaluators are; no keys mean the built-in ones."""
    if EVERY in evaluators:
        return _BOTH
    kinds = {key in BUILTINS for key in evaluators}
    if len(kinds) == 2:
        return _BOTH
    return OWN if kinds == {False} else BUILTIN


def session_key(evaluators: Sequence[str]) -> str:
    """Returns the columns of which a result may be the newest."""
    return "session_id, evaluator" if evaluators else "session_id"

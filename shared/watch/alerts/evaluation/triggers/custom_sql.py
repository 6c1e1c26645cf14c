"""custom_sql: a statement of people, run like those of POST /queries/run.

Each statement runs alone, so that a slow or wrong one does not affect others. Rules with the same
statement share a run.
"""

import msgspec

from shared.foundation.core.errors import (
    Invalid,
    QueryFailed,
    QueryTimeout,
    RateLimited,
    WatchpostError,
)
from shared.foundation.core.text import number, storable
from shared.reading.queries.results.reader import Result
from shared.reading.queries.results.type_names import Type, parse
from shared.reading.queries.run import QueryOwner
from shared.watch.alerts.evaluation.triggers.interface import (
    NotEvaluated,
    Rule,
    RuleContext,
    RuleOutcome,
    RuleReading,
)
from shared.watch.alerts.evaluation.triggers.plan import BreachLimit, comparison
from shared.watch.alerts.evidence import RowCounts, SqlEvidence, SqlResult
from shared.watch.alerts.specs import CustomSql, Op, holds, symbol

METRIC_VALUE = "metric_value"

_NUMERIC = ("Int", "UInt", "Float", "BFloat", "Decimal")
_WRAPPERS = ("Nullable", "LowCardinality")
# A comparison needs one row; keeping many longer results at once would take much memory.
_KEPT_ROWS = 10
# The part of a result in the evidence.
_SHOWN_ROWS, _SHOWN_COLUMNS, _SHOWN_CHARS = 3, 10, 200


class _NoNumber(Exception):
    """The first row has no number to compare; the reason is a sentence."""


def evaluate(context: RuleContext, rule: Rule, spec: CustomSql) -> RuleOutcome:
    """Evaluates the rule's statement over the organization's rows.

    With `op` and `value` the number in the first row is compared, and without a row there is
    nothing to compare. Otherwise any row is a breach. Raises `Unavailable`.
    """
    if context.runtime.settings.clickhouse_readonly_url is None:
        # A retry would not help until the configuration changes.
        return NotEvaluated("this deployment does not run queries")
    result = _answer(context, rule, spec.sql)
    if isinstance(result, NotEvaluated):
        return result
    if spec.op is None or spec.value is None:
        return _of_rows(result)
    try:
        return _of_number(result, spec.op, spec.value)
    except _NoNumber as reason:
        return NotEvaluated(str(reason))


def _answer(context: RuleContext, rule: Rule, sql: str) -> Result | NotEvaluated:
    known = context.answers.get(sql)
    if known is not None:
        return known
    answer: Result | NotEvaluated
    try:
        asker = QueryOwner(context.org_id, f"alert {rule.alert_id}")
        answer = context.runner.run(asker, sql, []).result
    except (Invalid, QueryFailed, QueryTimeout, RateLimited) as error:
        answer = NotEvaluated(_refusal(error))
    if isinstance(answer, NotEvaluated) or len(answer.rows) <= _KEPT_ROWS:
        context.answers[sql] = answer
    return answer


def _refusal(error: WatchpostError) -> str:
    return f"{error.message}: {error.detail}" if isinstance(error, QueryFailed) else error.message


def _of_rows(result: Result) -> RuleOutcome:
    count = len(result.rows)
    more = " or more" if result.truncated else ""
    told = "1 row" if count == 1 else f"{count or 'no'} rows"
    evidence: SqlEvidence = {**comparison("rows", count, BreachLimit(">", 0)), **_shown(result)}
    return RuleReading(float(count), count > 0, f"the query returned {told}{more}", evidence)


def _of_number(result: Result, op: Op, bound: float) -> RuleOutcome:
    name, place = _column(result)
    value = _number(name, result.rows[0][place]) if result.rows else None
    breached = value is not None and holds(op, value, bound)
    compared = comparison(name, value, BreachLimit(symbol(op), bound))
    evidence: SqlEvidence = {**compared, **_shown(result)}
    seen = "no row was returned" if value is None else f"{name} was {number(value)}"
    return RuleReading(value, breached, f"{seen} ({symbol(op)} {number(bound)})", evidence)


def _column(result: Result) -> tuple[str, int]:
    """Returns the name and index of the column to compare: metric_value, or the only number."""
    names = _names(result)
    if METRIC_VALUE in names:
        place = names.index(METRIC_VALUE)
        type_ = result.columns[place][1]
        if not _is_numeric(type_):
            raise _NoNumber(f"{METRIC_VALUE} has the type {type_}, which is not a number")
        return METRIC_VALUE, place
    places = [place for place, (_, type_) in enumerate(result.columns) if _is_numeric(type_)]
    if not places:
        raise _NoNumber(f"no column of the result is a number: return one named {METRIC_VALUE}")
    if len(places) > 1:
        told = ", ".join(names[place] for place in places)
        raise _NoNumber(f"several columns are numbers ({told}): name one of them {METRIC_VALUE}")
    return names[places[0]], places[0]


def _is_numeric(type_: str) -> bool:
    try:
        found = parse(type_)
    except (ValueError, IndexError):
        return False
    while found.name in _WRAPPERS:
        found = _inner(found)
    return found.name.startswith(_NUMERIC)


def _inner(wrapper: Type) -> Type:
    return wrapper.args[0].type or Type("")


def _number(name: str, shown: object) -> float:
    """Reads a number.

    Results contain long integers and decimals as text, and null for values that are not finite.
    """
    if shown is None:
        raise _NoNumber(f"{name} is null or not finite: use ifNull() or ifNotFinite()")
    return float(str(shown))


def _shown(result: Result) -> SqlResult:
    """Returns the beginning of a result."""
    rows = [[_short(value) for value in row[:_SHOWN_COLUMNS]] for row in result.rows[:_SHOWN_ROWS]]
    counts: RowCounts = {"rows": len(result.rows), "truncated": result.truncated}
    return {"counts": counts, "columns": _names(result)[:_SHOWN_COLUMNS], "rows": rows}


def _names(result: Result) -> list[str]:
    return [storable(name, _SHOWN_CHARS) for name, _ in result.columns]


def _short(value: object) -> object:
    if isinstance(value, bool | int | float | None):
        return value
    told = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return storable(told, _SHOWN_CHARS)

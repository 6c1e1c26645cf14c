"""custom_sql: people's own statement, run like those of POST /queries/run.

Each statement by itself: a slow or wrong one spoils no other. Rules with the same one share a run.
"""

from typing import Any

import msgspec

from shared.alerts.evaluation.triggers.interface import (
    Context,
    NotEvaluated,
    Outcome,
    Reading,
    Rule,
)
from shared.alerts.evaluation.triggers.wording import number, storable
from shared.alerts.specs import CustomSql, Op, holds, symbol
from shared.core.errors import Invalid, QueryFailed, QueryTimeout, RateLimited, WatchpostError
from shared.queries.results.reader import Result
from shared.queries.results.type_names import Type, parse
from shared.queries.run import Asker

METRIC_VALUE = "metric_value"

_NUMERIC = ("Int", "UInt", "Float", "BFloat", "Decimal")
_WRAPPERS = ("Nullable", "LowCardinality")
# What is compared has one row; of longer answers many at once would be a lot to hold.
_KEPT_ROWS = 10
# Of a result, in evidence.
_SHOWN_ROWS, _SHOWN_COLUMNS, _SHOWN_CHARS = 3, 10, 200


class _NoNumber(Exception):
    """The first row has no number to compare, with the reason as a sentence."""


def evaluate(context: Context, rule: Rule, spec: CustomSql) -> Outcome:
    """What the rule's statement finds in the organization's rows.

    With `op` and `value` the number in the first row is compared, and no row at all is nothing to
    compare; without them any row is a breach. Raises `Unavailable`.
    """
    if context.runtime.settings.clickhouse_readonly_url is None:
        # Nobody knows when there will be one: no reason to try again until then.
        return NotEvaluated("this deployment runs no queries")
    result = _answer(context, rule, spec.sql)
    if isinstance(result, NotEvaluated):
        return result
    if spec.op is None or spec.value is None:
        return _of_rows(result)
    try:
        return _of_number(result, spec.op, spec.value)
    except _NoNumber as reason:
        return NotEvaluated(str(reason))


def _answer(context: Context, rule: Rule, sql: str) -> Result | NotEvaluated:
    known = context.answers.get(sql)
    if known is not None:
        return known
    answer: Result | NotEvaluated
    try:
        asker = Asker(context.org_id, f"alert {rule.alert_id}")
        answer = context.runner.run(asker, sql, []).result
    except (Invalid, QueryFailed, QueryTimeout, RateLimited) as error:
        answer = NotEvaluated(_refusal(error))
    if isinstance(answer, NotEvaluated) or len(answer.rows) <= _KEPT_ROWS:
        context.answers[sql] = answer
    return answer


def _refusal(error: WatchpostError) -> str:
    return f"{error.message}: {error.detail}" if isinstance(error, QueryFailed) else error.message


def _of_rows(result: Result) -> Outcome:
    count = len(result.rows)
    more = " or more" if result.truncated else ""
    told = "1 row" if count == 1 else f"{count or 'no'} rows"
    evidence = {"metric": "rows", "value": count, "op": ">", "bound": 0, **_shown(result)}
    return Reading(float(count), count > 0, f"the query returned {told}{more}", evidence)


def _of_number(result: Result, op: Op, bound: float) -> Outcome:
    name, place = _column(result)
    value = _number(name, result.rows[0][place]) if result.rows else None
    breached = value is not None and holds(op, value, bound)
    evidence = {
        "metric": name,
        "value": value,
        "op": symbol(op),
        "bound": bound,
        **_shown(result),
    }
    seen = "no row was returned" if value is None else f"{name} was {number(value)}"
    return Reading(value, breached, f"{seen} ({symbol(op)} {number(bound)})", evidence)


def _column(result: Result) -> tuple[str, int]:
    """The name and the place of the column to compare: metric_value, or the only number."""
    names = _names(result)
    if METRIC_VALUE in names:
        place = names.index(METRIC_VALUE)
        type_ = result.columns[place][1]
        if not _is_numeric(type_):
            raise _NoNumber(f"{METRIC_VALUE} is no number but of type {type_}")
        return METRIC_VALUE, place
    places = [place for place, (_, type_) in enumerate(result.columns) if _is_numeric(type_)]
    if not places:
        raise _NoNumber(f"no column of the result is a number: name one {METRIC_VALUE}")
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
    """Integers of more than 53 bits and decimals are shown as text; what is not finite as null."""
    if shown is None:
        raise _NoNumber(f"{name} is null or not finite: ifNull() or ifNotFinite() helps")
    return float(str(shown))


def _shown(result: Result) -> dict[str, Any]:
    """The beginning of a result."""
    rows = [[_short(value) for value in row[:_SHOWN_COLUMNS]] for row in result.rows[:_SHOWN_ROWS]]
    counts = {"rows": len(result.rows), "truncated": result.truncated}
    return {"counts": counts, "columns": _names(result)[:_SHOWN_COLUMNS], "rows": rows}


def _names(result: Result) -> list[str]:
    return [storable(name[:_SHOWN_CHARS]) for name, _ in result.columns]


def _short(value: object) -> object:
    if isinstance(value, bool | int | float | None):
        return value
    told = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return storable(told[:_SHOWN_CHARS])

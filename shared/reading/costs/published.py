"""People's SQL that adds up the same calls by the same groups: for "Open in SQL", with literals."""

from collections.abc import Sequence

from shared.foundation.clickhouse import literals
from shared.foundation.core.clock import from_us
from shared.reading.costs.figures import COLUMNS, TOKENS
from shared.reading.costs.groups import SESSION, TAG, require_groups
from shared.reading.costs.sums import span_of
from shared.reading.dimensions.conditions import FIRSTS
from shared.reading.dimensions.names import PREFIX
from shared.reading.events.filters import EventFilters

MOST_ROWS = 1000

_ORDERS = {
    "cost": "cost_usd DESC NULLS LAST",
    "tokens": "input_tokens + output_tokens DESC",
    "calls": "calls DESC",
}
_EACH_TAG = "arrayJoin(if(empty(s.tags), [NULL], CAST(s.tags, 'Array(Nullable(String))')))"
# Users, versions and tags of calls are also those of their sessions.
_SESSIONS = """
LEFT JOIN (
  SELECT session_id, {columns} FROM agent_sessions
) AS s USING (session_id)"""


def grouped(
    *, filters: EventFilters, group_by: Sequence[str], sort: str = "cost", **_: object
) -> str:
    """Returns the statement of the groups, in the same order; without `group_by` of all calls.

    Raises `Invalid` naming the parameter, as `sum_costs` does.
    """
    require_groups(group_by)
    start, stop = map(from_us, span_of(filters))
    conditions = filters.replace(ts_from=start, ts_to=stop).sql()
    keys = [f"{_key(name)} AS `{name}`" for name in group_by]
    read = ", ".join(dict.fromkeys((SESSION, *COLUMNS, *map(_column, group_by))))
    by = ", ".join(f"`{name}`" for name in group_by)
    orders = [_ORDERS[sort], *(f"`{name}` NULLS LAST" for name in group_by)]
    columns = ",\n  ".join([*keys, *_figures()])
    return (
        f"SELECT {columns}\nFROM (\n  SELECT {read}\n  FROM events"
        f"{literals.clause(['cost_source IS NOT NULL', *conditions])}\n) AS c{_joined(group_by)}\n"
        + (f"GROUP BY {by}\nORDER BY {', '.join(orders)}\n" if by else "")
        + f"LIMIT {MOST_ROWS}"
    )


def _column(name: str) -> str:
    if name.startswith(PREFIX):
        return "attributes"
    return "tags" if name == TAG else name


def _key(name: str) -> str:
    if name == TAG:
        return _EACH_TAG
    if name in FIRSTS:
        return f"coalesce(c.{name}, s.of_session_{name})"
    if name.startswith(PREFIX):
        key = literals.text(name.removeprefix(PREFIX))
        return f"if(mapContains(c.attributes, {key}), c.attributes[{key}], NULL)"
    return f"c.{name}"


def _joined(group_by: Sequence[str]) -> str:
    columns = [f"{name} AS of_session_{name}" for name in group_by if name in FIRSTS]
    columns += ["tags"] if TAG in group_by else []
    return _SESSIONS.format(columns=", ".join(columns)) if columns else ""


def _figures() -> list[str]:
    reported, computed = _exact("reported_usd"), _exact("computed_usd")
    return [
        "count() AS calls",
        "countIf(c.cost_source = 'unpriced') AS unpriced_calls",
        "countIf(notEmpty(c.cost_notes)) AS assumed_calls",
        "uniqExact(c.session_id) AS sessions",
        *(f"sum(coalesce(c.{name}, 0)) AS {name}" for name in TOKENS),
        f"toFloat64(sum({_exact('cost_usd')})) AS cost_usd",
        f"toFloat64(coalesce(sum({reported}), 0)) AS reported_usd",
        f"toFloat64(coalesce(sum({computed}), 0)) AS computed_usd",
        f"toFloat64(coalesce(sum({reported} - {computed}), 0)) AS difference_usd",
    ]


def _exact(name: str) -> str:
    """Returns SQL of an amount as the decimal that it was stored as: the view has it as a float."""
    return f"toDecimal128OrNull(toString(c.{name}), 12)"

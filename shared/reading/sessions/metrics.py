"""The figures of a session that lists are ordered and filtered by, `name:min..max`."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from typing import NamedTuple

from shared.foundation.clickhouse.filters import Filter
from shared.foundation.core.errors import Invalid
from shared.reading.evaluations.score_filters import MAX_FILTERS, parse_ranges

_PARAMETER = "metric_filters"
_PICODOLLAR, _ONE = Decimal("1e-12"), Decimal(1)


class SessionMetric(NamedTuple):
    """A figure of all events of a session, or of its times.

    `sql` is over its events, or with `of_times` over its rows of `agent_sessions`. It is a whole
    number, of which `scale` are one of the metric, or an amount of dollars, null if no event has
    one. `which` are conditions of the events that can have a part in it; without such an event it
    is null. `published` is the same over the view `agent_sessions` of people's SQL.
    """

    sql: str
    published: str
    scale: Decimal = _ONE
    is_amount: bool = False
    of_times: bool = False
    which: tuple[str, ...] = ()


# No other event has a cost. What an event reports stays when its cost is computed again.
_CALLS = "(event_type = 'model_response' OR event_type = 'tool_result' AND isNotNull(reported_usd))"
METRICS: dict[str, SessionMetric] = {
    "cost_usd": SessionMetric("sum(cost_usd)", "cost_usd", is_amount=True, which=(_CALLS,)),
    "tokens": SessionMetric(
        "toInt64(sum(coalesce(input_tokens, 0)) + sum(coalesce(output_tokens, 0)))",
        "input_tokens + output_tokens",
    ),
    "duration_ms": SessionMetric(
        "dateDiff('microsecond', min(started_at), max(last_event_at))",
        "dateDiff('microsecond', started_at, last_event_at)",
        Decimal(1000),
        of_times=True,
    ),
    "error_count": SessionMetric("toInt64(countIf(is_error))", "error_count"),
    "event_count": SessionMetric("toInt64(count())", "event_count"),
    "model_calls": SessionMetric("toInt64(countIf(isNotNull(cost_source)))", "model_calls"),
}
# No figure is larger, and the types of bounds hold it.
MOST = Decimal(10**18)
_EXACT = Context(prec=60)


class MetricFilter(NamedTuple):
    """The metric `name` lies within the inclusive bounds; None is no bound.

    Bounds have the unit of the metric's SQL. One between two possible values is rounded inwards.
    """

    name: str
    low: Decimal | None
    high: Decimal | None


def parse_metric_filters(items: Sequence[str]) -> tuple[MetricFilter, ...]:
    """Parses filters from separated `items`.

    Raises `Invalid` naming `metric_filters` for the reasons of score filters, and for another name.
    """
    ranges = parse_ranges(_PARAMETER, items, _decimal)
    for name, _, _ in ranges:
        if name not in METRICS:
            raise Invalid.field(_PARAMETER, f"{name!r} is none of {', '.join(METRICS)}")
    return tuple(
        MetricFilter(name, _rounded(name, low, ROUND_CEILING), _rounded(name, high, ROUND_FLOOR))
        for name, low, high in ranges
    )


METRIC_FILTERS = Filter(
    _PARAMETER,
    "list",
    f"`name:min..max` of {', '.join(f'`{name}`' for name in METRICS)}, either bound optional;"
    f" several, comma-separated, must all match; at most {MAX_FILTERS}",
    parse=parse_metric_filters,
    names=tuple(METRICS),
)


def conditions_of(
    filters: Sequence[MetricFilter], *, of_times: bool
) -> tuple[list[str], dict[str, object]]:
    """Returns SQL conditions on the metrics of events, or on those of times, and parameters."""
    texts: list[str] = []
    params: dict[str, object] = {}
    for number, one in enumerate(filters):
        metric = METRICS[one.name]
        if metric.of_times != of_times:
            continue
        type_ = "Decimal(38, 12)" if metric.is_amount else "Int64"
        # A session without an amount is in no range.
        texts += [f"isNotNull({metric.sql})"] if metric.is_amount else []
        for operator, side, bound in ((">=", "low", one.low), ("<=", "high", one.high)):
            if bound is not None:
                texts.append(f"{metric.sql} {operator} {{metric_{number}_{side}:{type_}}}")
                params[f"metric_{number}_{side}"] = f"{bound:f}"
    return texts, params


def metric_sql(wanted: MetricFilter) -> list[str]:
    """Returns the conditions over the view `agent_sessions`, in literals."""
    metric = METRICS[wanted.name]
    parts = [f"{metric.published} IS NOT NULL"] if metric.is_amount else []
    parts += [] if wanted.low is None else [f"{metric.published} >= {wanted.low:f}"]
    parts += [] if wanted.high is None else [f"{metric.published} <= {wanted.high:f}"]
    return parts


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        # The exponent has more digits than any number needs.
        return Decimal("inf")


def _rounded(name: str, bound: Decimal | None, rounding: str) -> Decimal | None:
    """Returns a bound in the unit of the metric's SQL."""
    if bound is None:
        return None
    metric = METRICS[name]
    scaled = min(max(_EXACT.multiply(bound, metric.scale), -MOST), MOST)
    unit = _PICODOLLAR if metric.is_amount else _ONE
    # `plus` makes 0 of -0.
    return _EXACT.plus(scaled.quantize(unit, rounding, _EXACT))

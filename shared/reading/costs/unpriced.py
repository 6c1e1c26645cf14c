"""The calls without a price, by what would price them."""

from collections.abc import Sequence

import msgspec
import redis
import xxhash

from shared.foundation.cache.answers import remembered
from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.event_columns import ORDER_KEY
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.where import us
from shared.foundation.core.clock import format_us
from shared.reading.costs.figures import IS_CALL
from shared.reading.costs.places import cost_place
from shared.reading.costs.statement import calls_sql
from shared.reading.costs.sums import FRESH, span_of
from shared.reading.events.filters import EventFilters

MAX_MODELS = 500
_COLUMNS = (
    *("ts", "arrival", "id", "session_id", "model", "provider", "service_tier"),
    *("cost_source", "unpriced_reason", "input_tokens", "output_tokens"),
)
# Calls with a cost are one row, the first.
_MODELS = f"""
SELECT *, sum(calls) OVER (), sum(calls) FILTER (WHERE unpriced) OVER (),
    sum(inputs + outputs) OVER (), sum(inputs + outputs) FILTER (WHERE unpriced) OVER ()
FROM (
    SELECT cost_source = 'unpriced' AS unpriced,
        if(unpriced, CAST(model, 'Nullable(String)'), NULL) AS model_,
        if(unpriced, CAST(provider, 'Nullable(String)'), NULL) AS provider_,
        if(unpriced, CAST(service_tier, 'Nullable(String)'), NULL) AS tier,
        if(unpriced, CAST(unpriced_reason, 'Nullable(String)'), NULL) AS reason,
        count() AS calls,
        sum(coalesce(input_tokens, 0)) AS inputs, sum(coalesce(output_tokens, 0)) AS outputs,
        {us("min(ts)")}, {us("max(ts)")}, argMax((session_id, id), {ORDER_KEY})
    FROM ({{calls}})
    GROUP BY unpriced, model_, provider_, tier, reason
)
ORDER BY unpriced, calls DESC, model_ NULLS LAST, provider_ NULLS LAST, tier NULLS LAST, reason
LIMIT {MAX_MODELS + 1}
"""
_SUMS = 4


class UnpricedExample(msgspec.Struct):
    """The newest call of some."""

    session_id: str
    event_id: int


class UnpricedCalls(msgspec.Struct):
    """Calls without a price; shares are of all calls, and of the tokens of all calls."""

    model: str | None
    provider: str | None
    service_tier: str | None
    reason: str
    calls: int
    input_tokens: int
    output_tokens: int
    share_of_calls: float
    share_of_tokens: float
    first_at: str
    last_at: str
    example: UnpricedExample


class UnpricedShare(msgspec.Struct):
    """All calls, and the part of them that has no price; shares without any call are 0."""

    calls: int
    unpriced_calls: int
    share_of_calls: float
    share_of_tokens: float


class UnpricedAnswer(msgspec.Struct):
    """The calls without a price, those of most calls first, at most 500 rows."""

    models: list[UnpricedCalls]
    total: UnpricedShare


def unpriced(
    clickhouse: ClickHouse, client: redis.Redis, org_id: str, filters: EventFilters
) -> UnpricedAnswer:
    """Returns the calls without a price that the filters describe, at most 10 s old.

    The range is that of `sum_costs`, and so are the errors.
    """

    def answer() -> UnpricedAnswer:
        where = filters.where(org_id).add(IS_CALL)
        sql = _MODELS.format(calls=calls_sql(where, span_of(filters), _COLUMNS))
        with cost_place(client, clickhouse, org_id):
            return _answer(clickhouse.rows(sql, where.params, settings=PAGE))

    name = f"costs:unpriced:{org_id}:{xxhash.xxh3_128_hexdigest(repr(filters).encode())}"
    return remembered(client, name, UnpricedAnswer, FRESH, answer)


def _answer(rows: Sequence[Row]) -> UnpricedAnswer:
    calls, without, tokens, tokens_without = rows[0][-_SUMS:] if rows else (0, 0, 0, 0)
    # Over no rows ClickHouse adds up to nothing.
    shares = _share(without or 0, calls), _share(tokens_without or 0, tokens)
    total = UnpricedShare(calls, without or 0, *shares)
    models = [_model(row[1:-_SUMS], calls, tokens) for row in rows if row[0]]
    return UnpricedAnswer(models[:MAX_MODELS], total)


def _model(row: Row, all_calls: int, all_tokens: int) -> UnpricedCalls:
    model, provider, tier, reason, calls, inputs, outputs, first, last, example = row
    return UnpricedCalls(
        model,
        provider,
        tier,
        reason,
        calls,
        inputs,
        outputs,
        _share(calls, all_calls),
        _share(inputs + outputs, all_tokens),
        format_us(first),
        format_us(last),
        UnpricedExample(*example),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0

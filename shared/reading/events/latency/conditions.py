"""SQL of the conditions and names of pairs, for both ways to compute pairs.

Each way is a SELECT of one row a pair, or an event without a partner, with these columns: `started`
(microseconds), `latency` (milliseconds), `failed`, `name` in the distribution, `sum_…` of the
requested fields, and the flags `counts` (a selected pair), `start_counts`, `end_counts` and
`lone_counts` (events inside the range, and starts without a close). `is_odd` means that the row may
be wrong.
"""

from shared.foundation.clickhouse.where import Where
from shared.reading.events.latency.paths import value_of
from shared.reading.events.latency.query import LatencyQuery

MAX_NAME_BYTES = 1024
# The name of pairs that have none.
NONE = "(none)"

# By the requested outcome.
OUTCOMES = {"all": "1", "error": "failed", "success": "NOT failed"}


def met_bits(query: LatencyQuery, where: Where) -> tuple[str, int]:
    """Returns SQL of a number with a bit for each filter that an event meets, and that of all.

    Adds the bound parameters to `where`.
    """
    conditions = _conditions(query, where)
    bits = [
        f"bitShiftLeft(toUInt64(ifNull({text}, 0)), {bit:d})" for bit, text in enumerate(conditions)
    ]
    return " + ".join(bits) or "0", (1 << len(conditions)) - 1


def _conditions(query: LatencyQuery, where: Where) -> list[str]:
    """Returns SQL of each filter except the session, which both events of a pair share."""
    filters = query.filters.replace(session_id=None).where(str(where.params["org_id"]))
    for number, contains in enumerate(query.contains):
        value = value_of(contains.path, where)
        text = f"contains_{number}"
        filters.add(
            f"positionCaseInsensitiveUTF8({value}, {{{text}:String}}) > 0", **{text: contains.text}
        )
    where.params.update(filters.params)
    return list(filters.added)

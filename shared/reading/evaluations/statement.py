"""People's SQL that answers like a read of results: for "Open in SQL", with literals."""

from shared.foundation.clickhouse import literals
from shared.reading.evaluations.aggregate.buckets import UNITS, Buckets
from shared.reading.evaluations.filters import EvaluationFilters

MOST_ROWS = 1000

_COLUMNS = """completed_at, session_id, agent_id, environment, status, scores, summary, error,
  attempt_count, duration_ms, id"""
# The evaluations of any evaluator, each with its values.
_RESULT_COLUMNS = """completed_at, session_id, agent_id, environment, evaluator,
  evaluator_version, status, scores, results, error, id"""
_OF_EVALUATIONS = (
    "evaluation_id, session_id, agent_id, environment, evaluator, evaluator_version, status, error,"
    " completed_at"
)
_OF_RESULTS = f"""(SELECT {_OF_EVALUATIONS}, evaluation_id AS id,
  mapFromArrays(groupArrayIf(key, isNotNull(number)),
    groupArrayIf(assumeNotNull(number), isNotNull(number))) AS scores,
  groupArray((key, kind, label, text, passed, reasoning)) AS results
FROM results GROUP BY {_OF_EVALUATIONS})"""
# From a Monday, where weeks begin, to 1970.
_TO_MONDAY_SECS = 3 * UNITS["day"]
# A session without events has no other time than that of its result. A range leaves it out.
_SESSION_TIME = "coalesce(nullIf(last, toDateTime64(0, 6, 'UTC')), completed_at)"
_AT_SESSION = """(SELECT * FROM {source} AS r {join} JOIN (
  SELECT session_id, last_event_at AS last FROM agent_sessions) AS s USING (session_id))"""


def listed(*, filters: EvaluationFilters, lowest: str | None = None, **_: object) -> str:
    """Returns the statement that lists the same results: the newest, or the lowest first."""
    columns, source = _COLUMNS, "evaluations"
    if filters["evaluator"]:
        columns, source = _RESULT_COLUMNS, _OF_RESULTS
    conditions, order = filters.sql(), "completed_at DESC, id DESC"
    if lowest is not None:
        is_key = literals.is_text("k", lowest)
        pairs = "mapKeys(scores), mapValues(scores)"
        conditions.append(f"arrayExists((k, v) -> {is_key}, {pairs})")
        order = f"arrayFirst((v, k) -> {is_key}, mapValues(scores), mapKeys(scores)), {order}"
    return (
        f"SELECT {columns}\nFROM {source}{literals.clause(conditions)}\n"
        f"ORDER BY {order}\nLIMIT {MOST_ROWS}"
    )


def over_time(filters: EvaluationFilters, buckets: Buckets) -> str:
    """Returns the statement of each score by agent and environment, in these buckets."""
    time, source = "completed_at", _OF_RESULTS if filters["evaluator"] else "evaluations"
    conditions = filters.sql()
    if filters.is_by_session:
        join = "INNER" if filters.ts_from or filters.ts_to else "LEFT"
        time, source = _SESSION_TIME, _AT_SESSION.format(join=join, source=source)
    return f"""SELECT {_start_of(time, buckets.secs)} AS at, score, agent_id, environment,
  avg(value) AS average, count() AS results, min(value) AS lowest, max(value) AS highest
FROM {source}
ARRAY JOIN mapKeys(scores) AS score, mapValues(scores) AS value{literals.clause(conditions)}
GROUP BY at, score, agent_id, environment
ORDER BY at, score, agent_id, environment"""


def _start_of(time: str, secs: int) -> str:
    """Returns SQL of the beginning of the bucket that a time belongs to."""
    if secs < UNITS["week"]:
        return f"toStartOfInterval({time}, INTERVAL {secs} SECOND, 'UTC')"
    weeks = f"intDiv(toUnixTimestamp({time}) + {_TO_MONDAY_SECS}, {secs}) * {secs}"
    return f"toDateTime({weeks} - {_TO_MONDAY_SECS}, 'UTC')"

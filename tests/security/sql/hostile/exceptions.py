"""Messages of the database with a value in them. It must be the caller's own value."""

_EVENT_COLUMNS = [
    "id",
    "session_id",
    "agent_id",
    "event_type",
    "environment",
    "payload",
    "summary",
    "error_type",
    "tool_name",
    "tool_call_id",
    "hook_name",
    "hook_id",
    "trigger_event",
    "input_id",
    "pause_id",
    "request_id",
    "model",
    "parent_id",
    "outcome",
]
_EVALUATION_COLUMNS = [
    "evaluation_id",
    "id",
    "session_id",
    "agent_id",
    "environment",
    "status",
    "summary",
    "error",
]

REFUSED: dict[str, str] = {}

CONTAINED = {
    **{f"number-of-{name}": f"SELECT toInt8({name}) FROM events" for name in _EVENT_COLUMNS},
    **{
        f"date-of-evaluation-{name}": f"SELECT toDate(toString({name})) FROM evaluations"
        for name in _EVALUATION_COLUMNS
    },
    **{
        f"uuid-where-{name}": f"SELECT 1 FROM events WHERE toUUID(toString({name})) != toUUID('x')"
        for name in ("session_id", "agent_id", "environment", "tool_name", "payload")
    },
    **{
        f"prewhere-{name}": f"SELECT 1 FROM events PREWHERE toUInt64(toString({name})) = 1"
        for name in ("session_id", "agent_id", "environment", "tool_name", "model", "payload")
    },
    **{
        f"throw-on-foreign-{name}": f"SELECT throwIf({name} LIKE 'zqforeign%', 'seen') FROM events"
        for name in ("session_id", "agent_id", "environment", "event_type", "payload", "summary")
    },
    "throw-in-where": "SELECT 1 FROM events WHERE throwIf(payload LIKE '%zqforeign%') = 0",
    "throw-in-prewhere": "SELECT 1 FROM events PREWHERE throwIf(agent_id LIKE 'zqforeign%') = 0",
    "throw-in-order": "SELECT 1 FROM events ORDER BY throwIf(id > 7000000000000)",
    "throw-in-group": "SELECT count() FROM events GROUP BY throwIf(environment LIKE 'zqforeign%')",
    "throw-in-having": "SELECT agent_id FROM events GROUP BY agent_id"
    " HAVING throwIf(agent_id LIKE 'zqforeign%') = 0",
    "throw-in-join": "SELECT 1 FROM events e JOIN evaluations v ON e.session_id = v.session_id"
    " AND throwIf(v.session_id LIKE 'zqforeign%') = 0",
    "throw-in-aggregate": "SELECT sumIf(1, throwIf(tool_name LIKE 'zqforeign%') = 0) FROM events",
    "throw-in-window": "SELECT sum(throwIf(payload LIKE '%zqforeign%')) OVER () FROM events",
    "throw-in-scalar": "SELECT (SELECT max(throwIf(payload LIKE '%zqforeign%')) FROM events)",
    "throw-in-in": "SELECT 1 IN (SELECT throwIf(session_id LIKE 'zqforeign%') FROM events)",
    "throw-in-sessions": "SELECT throwIf(session_id LIKE 'zqforeign%') FROM agent_sessions",
    "throw-in-evaluations": "SELECT throwIf(scores['zqforeign-score'] > 0) FROM evaluations",
    "throw-on-reasoning": "SELECT throwIf(arrayExists(x -> x LIKE 'zqforeign%',"
    " mapValues(reasoning))) FROM evaluations",
    "throw-in-lambda": "SELECT arrayMap(x -> throwIf(x.1 LIKE 'zqforeign%'), agents) FROM"
    " agent_sessions",
    "throw-in-if": "SELECT if(agent_id LIKE 'zqforeign%', throwIf(1), 0) FROM events",
    "throw-in-limit-by": "SELECT 1 FROM events LIMIT 1 BY throwIf(agent_id LIKE 'zqforeign%')",
    "throw-with-value": "SELECT throwIf(1, 'x') FROM events WHERE agent_id != 'own-agent'",
    "message-of-value": "SELECT throwIf(1, payload) FROM events",
    "cast": "SELECT CAST(payload AS UInt64) FROM events",
    "cast-enum": "SELECT CAST(agent_id AS Enum8('x' = 1)) FROM events",
    "cast-operator": "SELECT environment::UInt8 FROM events",
    "cast-accurate": "SELECT accurateCast(id, 'UInt8') FROM events",
    "cast-fixed-string": "SELECT toFixedString(payload, 1) FROM events",
    "cast-ip": "SELECT toIPv4(session_id) FROM events",
    "cast-decimal": "SELECT toDecimal32(payload, 2) FROM events",
    "cast-bool": "SELECT toBool(agent_id) FROM events",
    "cast-array": "SELECT CAST(payload, 'Array(UInt8)') FROM events",
    "cast-map": "SELECT CAST(payload, 'Map(String, UInt8)') FROM events",
    "cast-json": "SELECT CAST(summary, 'JSON') FROM events",
    "cast-low-cardinality": "SELECT CAST(agent_id, 'LowCardinality(FixedString(2))') FROM events",
    "parse-time": "SELECT parseDateTime(session_id, '%Y') FROM events",
    "parse-best-effort": "SELECT parseDateTimeBestEffort(tool_name) FROM events",
    "parse-size": "SELECT parseReadableSize(agent_id) FROM events",
    "format-time": "SELECT formatDateTime(now(), payload) FROM events",
    "regexp": "SELECT match('x', concat('(', payload)) FROM events",
    "regexp-extract": "SELECT extractAllGroups(payload, concat('[', agent_id)) FROM events",
    "array-element": "SELECT [1][id] FROM events",
    "array-of-size": "SELECT arrayWithConstant(id, 1) FROM events",
    "array-sizes": "SELECT arrayMap((a, b) -> a, [1], range(attempt_count + 5)) FROM evaluations",
    "divide": "SELECT intDiv(1, id - id) FROM events",
    "json-path": "SELECT JSON_VALUE(payload, concat('$', session_id)) FROM events",
    "json-type": "SELECT JSONExtract(payload, agent_id) FROM events",
    "unhex": "SELECT unhex(payload)::UInt64 FROM events",
    "base64": "SELECT base64Decode(session_id) FROM events",
    "decrypt": "SELECT decrypt('aes-128-ecb', payload, agent_id) FROM events",
    "char": "SELECT char(7770000000000) FROM events",
    "replace": "SELECT replaceRegexpAll(payload, '.', '\\\\9') FROM events",
    "aggregate-of-text": "SELECT sum(payload) FROM events",
    "aggregate-parameter": "SELECT quantile(session_id)(id) FROM events",
    "map-of-odd": "SELECT map(session_id) FROM events",
    "time-zone": "SELECT toTimeZone(ts, session_id) FROM events",
    "time-zone-materialized": "SELECT toTimezone(ts, materialize(agent_id)) FROM events",
    "date-part": "SELECT dateDiff(agent_id, ts, ts) FROM events",
    "interval": "SELECT toInterval(1, agent_id) FROM events",
    "scalar-of-many": "SELECT (SELECT payload FROM events)",
    "single-value": "SELECT singleValueOrNull(payload) FROM events",
    "unknown-column": "SELECT zqforeign FROM events",
    "unknown-function": "SELECT zqforeign(payload) FROM events",
    "ambiguous": "SELECT session_id FROM events, evaluations",
    "wrong-union": "SELECT id FROM events UNION ALL SELECT payload, 1 FROM events",
    "type-name": "SELECT toTypeName(*) FROM events",
}

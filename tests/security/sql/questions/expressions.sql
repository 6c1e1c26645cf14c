--- star-except
SELECT * EXCEPT(payload) FROM events LIMIT 1

--- star-except-bare
SELECT * EXCEPT payload FROM events LIMIT 1

--- star-replace
SELECT * REPLACE(lower(agent_id) AS agent_id) FROM events LIMIT 1

--- star-apply
SELECT * EXCEPT(scores, reasoning) APPLY(toString) FROM evaluations LIMIT 1

--- columns-regexp
SELECT COLUMNS('tokens$') FROM events LIMIT 1

--- columns-apply
SELECT COLUMNS('tokens$') APPLY(sum) FROM events

--- star-qualified
SELECT s.*, v.status FROM agent_sessions s JOIN evaluations v USING session_id LIMIT 1

--- dates
SELECT toDate(ts), toStartOfHour(ts), toStartOfInterval(ts, INTERVAL 15 MINUTE), toYYYYMM(ts),
toDayOfWeek(ts), formatDateTime(ts, '%Y-%m-%d %H:00'), toUnixTimestamp(ts), toTimeZone(ts,
'Europe/Berlin') FROM events LIMIT 1

--- date-arithmetic
SELECT ts - INTERVAL 1 HOUR, ts + toIntervalDay(1), addDays(ts, 1), subtractHours(ts, 2),
dateDiff('minute', min(ts), max(ts)) FROM events GROUP BY ts LIMIT 1

--- date-names
SELECT DATE_TRUNC('day', ts), date_diff('hour', ts, ts), EXTRACT(YEAR FROM ts), DATE_ADD(DAY, 1,
ts), dateName('weekday', ts) FROM events LIMIT 1

--- date-literals
SELECT count() FROM events WHERE ts >= '2026-11-02' AND ts < toDateTime('2026-11-05 00:00:00') AND
toDate(ts) >= DATE '2026-11-02' AND ts > TIMESTAMP '2026-11-01 00:00:00'

--- date-literal-rfc
SELECT count() FROM events WHERE ts >= '2026-11-02T00:00:00Z'

--- date-best-effort
SELECT parseDateTimeBestEffort('2026-11-02T08:00:00Z')

--- date-now
SELECT count() FROM events WHERE ts > now() - INTERVAL 30 DAY OR ts < today()

--- strings
SELECT lower(agent_id), substring(session_id, 1, 3), splitByChar('-', agent_id),
replaceAll(agent_id, 'a', 'b'), concat(agent_id, '/', session_id), length(payload),
position(payload, 'x'), startsWith(agent_id, 'h'), trim(agent_id) FROM events LIMIT 1

--- string-operators
SELECT agent_id || '-' || event_type FROM events WHERE agent_id LIKE 'h%' AND agent_id NOT LIKE '%9'
AND agent_id ILIKE 'H%' LIMIT 1

--- string-regexp
SELECT extract(session_id, '(\\d+)'), match(agent_id, '^helper-\\d$'), replaceRegexpAll(agent_id,
'[0-9]+', '#') FROM events LIMIT 1

--- string-standard
SELECT substring(agent_id FROM 1 FOR 2), position('a' IN agent_id), trim(BOTH '-' FROM agent_id),
upper(agent_id) FROM events LIMIT 1

--- string-format
SELECT format('{}: {}', agent_id, event_type), leftPad('1', 3, '0'), formatReadableSize(123456) FROM
events LIMIT 1

--- case
SELECT CASE WHEN is_error THEN 'bad' ELSE 'good' END AS g, CASE event_type WHEN 'error' THEN 1 ELSE
0 END AS e FROM events GROUP BY g, e

--- ternary
SELECT count() > 5 ? 'many' : 'few' FROM events

--- multi-if
SELECT multiIf(duration_ms > 1000, 'slow', duration_ms > 100, 'fine', 'fast') AS s, count() FROM
events GROUP BY s

--- nulls
SELECT coalesce(tool_name, 'none'), ifNull(duration_ms, 0), nullIf(agent_id, 'main'), isNull(model),
tool_name IS NOT NULL, assumeNotNull(tool_name) FROM events LIMIT 1

--- null-safe
SELECT count() FROM events WHERE tool_name IS NOT DISTINCT FROM NULL OR tool_name <=> 'book'

--- casts
SELECT id::String, CAST(id AS Nullable(Int64)), CAST(id, 'Float64'), toInt32('5'),
toUInt8OrZero('x'), toFloat64OrNull('y'), CAST([1], 'Array(UInt8)') FROM events LIMIT 1

--- decimals
SELECT toDecimal64(1.25, 2), 1e3, .5 + 1., 0x1F, 1_000

--- arithmetic
SELECT 7 % 3, intDiv(7, 2), 7 / 2, -5, +5, abs(-2), round(2.567, 1), pow(2, 8), greatest(1, 2), 5
DIV 2

--- comparisons
SELECT 1 = 1, 1 == 1, 1 != 2, 1 <> 2, 1 <= 2 AND NOT 2 < 1 OR FALSE, xor(1, 0)

--- between
SELECT count() FROM events WHERE duration_ms BETWEEN 100 AND 2000

--- numbers
SELECT number * 2 FROM numbers(5)

--- numbers-joined
SELECT d, count(e.id) FROM (SELECT toDate('2026-11-02') + number AS d FROM numbers(5)) AS days LEFT
JOIN events AS e ON toDate(e.ts) = d GROUP BY d ORDER BY d

--- series
SELECT * FROM generateSeries(0, 10, 5)

--- values
SELECT * FROM values('env String, owner String', ('production', 'x'))

--- comments
-- how many
SELECT count() /* all */ FROM events -- done

--- semicolon
SELECT count() FROM events;

--- quoted
SELECT `agent_id` AS "the agent", count() AS `n` FROM "events" GROUP BY `agent_id`

--- qualified
SELECT analytics.events.agent_id FROM analytics.events LIMIT 1

--- unicode
SELECT 'Anné 😀', countIf(JSONExtractString(payload, 'customer', 'name') LIKE 'Anné%') FROM events

--- type-names
SELECT toTypeName(ts), toTypeName(scores) FROM events, evaluations LIMIT 1

--- select-without-from
SELECT 1 AS one, 'two' AS two, [3] AS three, NULL AS four, true AS five

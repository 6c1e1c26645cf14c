--- param-text
SELECT count() FROM events WHERE session_id = $1

--- param-time
SELECT count() FROM events WHERE ts >= $1

--- param-time-offset
SELECT count() FROM events WHERE ts >= $1

--- param-times
SELECT count() FROM events WHERE ts BETWEEN $1 AND $2

--- param-date
SELECT count() FROM events WHERE toDate(ts) = $1

--- param-limit
SELECT id FROM events ORDER BY id LIMIT $1

--- param-limit-offset
SELECT id FROM events ORDER BY id LIMIT $1 OFFSET $2

--- param-limit-by
SELECT agent_id, id FROM events ORDER BY id LIMIT $1 BY agent_id

--- param-list
SELECT count() FROM events WHERE environment IN $1

--- param-list-of-numbers
SELECT count() FROM evaluations WHERE attempt_count IN $1

--- param-list-empty
SELECT count() FROM events WHERE environment IN $1

--- param-list-with-null
SELECT count() FROM events WHERE tool_name IN $1

--- param-list-of-nulls
SELECT count() FROM events WHERE has($1, tool_name)

--- param-has
SELECT count() FROM events WHERE has($1, tool_name)

--- param-null
SELECT count() FROM events WHERE $1 IS NULL OR environment = $1

--- param-not-null
SELECT count() FROM events WHERE $1 IS NULL OR environment = $1

--- param-null-number
SELECT count() FROM events WHERE $1 IS NULL OR input_tokens > $1

--- param-bool
SELECT count() FROM events WHERE is_error = $1

--- param-float
SELECT count() FROM evaluations WHERE scores['helpful'] >= $1

--- param-int-as-float
SELECT count() FROM evaluations WHERE scores['helpful'] = $1

--- param-big
SELECT count() FROM events WHERE id < $1

--- param-quote
SELECT count() FROM events WHERE tool_name = $1

--- param-backslash
SELECT count() FROM events WHERE tool_name = $1

--- param-twice
SELECT countIf(tool_name = $1), countIf(tool_name != $1) FROM events

--- param-like
SELECT count() FROM events WHERE tool_name LIKE $1

--- param-in-json
SELECT DISTINCT JSONExtractString(payload, 'customer', $1) FROM events

--- param-map-key
SELECT avg(scores[$1]) FROM evaluations WHERE mapContains(scores, $1)

--- param-interval
SELECT count() FROM events WHERE ts > now() - toIntervalDay($1)

--- param-in-subquery
SELECT count() FROM evaluations WHERE session_id IN (SELECT session_id FROM events WHERE
JSONExtractString(payload, 'customer', 'plan') = $1)

--- param-between
SELECT count() FROM events WHERE duration_ms BETWEEN $1 AND $2

--- param-array-element
SELECT $1[1], length($1)

--- param-if
SELECT if(scores['helpful'] > $1, 'good', 'bad') AS g, count() FROM evaluations GROUP BY g

--- param-coalesce
SELECT coalesce($1, 5)

--- param-mixed-numbers
SELECT arraySum($1)

--- param-cast
SELECT $1::UInt8 + 1

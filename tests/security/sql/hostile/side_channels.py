"""Questions whose answer or size could reveal others' values. It must not depend on them."""

REFUSED = {
    "delay-on-foreign": "SELECT if(agent_id LIKE 'zqforeign%', sleep(0.01), 0) FROM events",
    "delay-each-row": "SELECT sleepEachRow(if(agent_id LIKE 'zqforeign%', 0.01, 0)) FROM events",
    "size-of-tables": "SELECT total_rows, total_bytes FROM system.tables",
    "size-of-parts": "SELECT sum(rows) FROM system.parts",
    "size-of-disk": "SELECT filesystemAvailable()",
    "cache-of-marks": "SELECT * FROM system.events WHERE event LIKE 'MarkCache%'",
    "running-statements": "SELECT count() FROM system.processes",
}

CONTAINED = {
    "count-foreign": "SELECT count() FROM events WHERE payload LIKE '%zqforeign%'",
    "count-like-letter": "SELECT countIf(agent_id LIKE 'z%') FROM events",
    "count-by-year": "SELECT toYear(ts) AS y, count() FROM events GROUP BY y",
    "exists-foreign": "SELECT EXISTS (SELECT 1 FROM events WHERE agent_id LIKE 'z%')",
    "is-in": "SELECT 'zqforeign-session-1' IN (SELECT session_id FROM events)",
    "is-in-tuple": "SELECT ('zqforeign-session-1', 'zqforeign-agent') IN"
    " (SELECT session_id, agent_id FROM events)",
    "has-any": "SELECT has(groupUniqArray(session_id), 'zqforeign-session-1') FROM events",
    "division-on-foreign": "SELECT intDiv(1, count()) FROM events WHERE agent_id LIKE 'z%'",
    "range-on-foreign": "SELECT length(range(count())) FROM events WHERE agent_id LIKE 'z%'",
    "repeat-on-foreign": "SELECT length(repeat('x', toUInt32(count() % 1000000))) FROM events"
    " WHERE agent_id LIKE 'z%'",
    "numbers-on-foreign": "SELECT count() FROM numbers((SELECT count() FROM events))",
    "limit-on-foreign": "SELECT number FROM numbers(50) LIMIT (SELECT count() FROM events"
    " WHERE agent_id LIKE 'z%')",
    "distinct-counts": "SELECT uniq(session_id), uniqExact(agent_id), uniqHLL12(environment) FROM"
    " events",
    "sums": "SELECT sum(input_tokens), sum(output_tokens), max(duration_ms), avg(context_fill) FROM"
    " events",
    "sums-of-sessions": "SELECT sum(event_count), max(input_tokens), min(started_at) FROM"
    " agent_sessions",
    "scores": "SELECT max(arrayMax(mapValues(scores))), sum(length(scores)) FROM evaluations",
    "quantiles": "SELECT quantiles(0, 0.5, 1)(duration_ms), quantilesExact(0, 1)(id) FROM events",
    "extremes": "SELECT min(payload), max(payload), min(session_id), max(session_id) FROM events",
    "binary-search": "SELECT count() FROM events WHERE substring(payload, 1, 1) > 'a'",
    "first-letters": "SELECT groupUniqArray(substring(agent_id, 1, 1)) FROM events",
    "lengths": "SELECT groupUniqArray(length(environment)) FROM events",
    "ordering": "SELECT rank() OVER (ORDER BY payload) AS r, id FROM events ORDER BY r",
    "row-numbers": "SELECT max(n) FROM (SELECT row_number() OVER () AS n FROM events)",
    "ids": "SELECT min(id), max(id) FROM events",
    "next-after": "SELECT min(session_id) FROM events WHERE session_id > 'own-session-9'",
    "missing-in-others": "SELECT count() FROM evaluations WHERE session_id NOT IN"
    " (SELECT session_id FROM events)",
    "outer-rows": "SELECT count() FROM events e FULL JOIN agent_sessions s USING session_id",
    "duplicates": "SELECT id, count() FROM events GROUP BY id HAVING count() > 1",
}

"""Attempts to reach others' rows by combining queries. All of them see only the caller's rows."""

REFUSED = {
    "union-without-kind": "SELECT payload FROM events UNION SELECT payload FROM events",
    "lateral": "SELECT * FROM events e, LATERAL (SELECT * FROM evaluations)",
    "org-id-of-base": "SELECT watchpost.events.org_id FROM watchpost.events",
}

CONTAINED = {
    "where-true": "SELECT * FROM events WHERE 1 = 1 OR environment = 'zqforeign-environment'",
    "where-foreign-session": "SELECT * FROM events WHERE session_id LIKE 'zqforeign%'",
    "where-foreign-id": "SELECT * FROM events WHERE id >= 7770000000000",
    "where-not-own": "SELECT * FROM events WHERE session_id NOT LIKE 'own%'",
    "where-org-id": "SELECT org_id FROM events",
    "where-org-id-or": "SELECT * FROM events WHERE org_id = '' OR 1 = 1",
    "or-precedence": "SELECT payload FROM events WHERE 0 OR 1 OR (1 AND 1)",
    "closes-bracket": "SELECT payload FROM events WHERE (1) OR (1) = (1)",
    "prewhere-true": "SELECT * FROM events PREWHERE 1 WHERE 1",
    "having": "SELECT agent_id, count() FROM events GROUP BY agent_id HAVING 1",
    "qualify": "SELECT payload FROM events QUALIFY row_number() OVER () > 0",
    "distinct": "SELECT DISTINCT agent_id, environment, event_type, tool_name FROM events",
    "union-all": "SELECT payload FROM events UNION ALL SELECT reasoning::String FROM evaluations",
    "union-distinct": "SELECT session_id FROM events UNION DISTINCT SELECT session_id FROM"
    " agent_sessions UNION DISTINCT SELECT session_id FROM evaluations",
    "except": "SELECT session_id FROM events EXCEPT SELECT session_id FROM evaluations",
    "intersect": "SELECT session_id FROM events INTERSECT SELECT session_id FROM evaluations",
    "brackets-of-unions": "(SELECT agent_id FROM events) UNION ALL (SELECT agent_id FROM events)",
    "cte": "WITH e AS (SELECT * FROM events) SELECT * FROM e",
    "cte-of-cte": "WITH a AS (SELECT * FROM events), b AS (SELECT * FROM a) SELECT * FROM b, a",
    "cte-shadows-itself": "WITH events AS (SELECT * FROM events) SELECT * FROM events",
    "cte-nested-shadow": "WITH e AS (WITH events AS (SELECT * FROM evaluations) SELECT * FROM"
    " events) SELECT * FROM e, events",
    "cte-materialized": "WITH e AS MATERIALIZED (SELECT * FROM events) SELECT * FROM e",
    "cte-scalar": "WITH (SELECT groupArray(payload) FROM events) AS p SELECT p",
    "cte-scalar-table": "WITH (SELECT any(session_id) FROM events) AS s SELECT * FROM evaluations"
    " WHERE session_id = s",
    "cte-recursive": "WITH RECURSIVE r AS (SELECT 1 AS n, any(payload) AS p FROM events UNION ALL"
    " SELECT n + 1, p FROM r WHERE n < 5) SELECT * FROM r",
    "subquery-from": "SELECT * FROM (SELECT * FROM (SELECT * FROM events) AS a) AS b",
    "subquery-scalar": "SELECT (SELECT groupArray(payload) FROM events)",
    "subquery-tuple": "SELECT (SELECT (min(id), max(id)) FROM events)",
    "subquery-in": "SELECT * FROM events WHERE session_id IN (SELECT session_id FROM evaluations)",
    "subquery-not-in": "SELECT * FROM evaluations WHERE session_id NOT IN (SELECT '' FROM events)",
    "subquery-in-tuple": "SELECT * FROM events WHERE (session_id, agent_id) IN"
    " (SELECT session_id, agent_id FROM evaluations)",
    "subquery-global-in": "SELECT * FROM events WHERE id GLOBAL IN (SELECT id FROM events)",
    "subquery-exists": "SELECT * FROM events WHERE EXISTS (SELECT 1 FROM evaluations)",
    "subquery-any": "SELECT * FROM events WHERE id = ANY (SELECT id FROM events)",
    "subquery-all": "SELECT * FROM events WHERE id >= ALL (SELECT id FROM events)",
    "subquery-correlated": "SELECT session_id, (SELECT count() FROM events e WHERE e.session_id ="
    " s.session_id) FROM agent_sessions s",
    "subquery-correlated-exists": "SELECT * FROM agent_sessions s WHERE EXISTS (SELECT 1 FROM"
    " evaluations v WHERE v.session_id = s.session_id)",
    "in-table": "SELECT count() FROM events WHERE 1 IN (SELECT 1 FROM evaluations)",
    "join-inner": "SELECT * FROM events e JOIN evaluations v ON e.session_id = v.session_id",
    "join-left": "SELECT * FROM events e LEFT JOIN evaluations v USING (session_id)",
    "join-right": "SELECT * FROM evaluations v RIGHT JOIN events e USING session_id",
    "join-full": "SELECT * FROM events e FULL OUTER JOIN evaluations v ON e.session_id = v.id",
    "join-cross": "SELECT e.payload, v.reasoning FROM events e CROSS JOIN evaluations v",
    "join-comma": "SELECT e.payload, v.reasoning FROM events e, evaluations v",
    "join-semi": "SELECT * FROM events e LEFT SEMI JOIN evaluations v USING session_id",
    "join-anti": "SELECT * FROM events e LEFT ANTI JOIN evaluations v USING session_id",
    "join-any": "SELECT * FROM events e ANY LEFT JOIN agent_sessions s USING session_id",
    "join-asof": "SELECT e.id, v.id FROM events e ASOF LEFT JOIN evaluations v"
    " ON e.session_id = v.session_id AND e.ts <= v.completed_at",
    "join-global": "SELECT * FROM events e GLOBAL JOIN evaluations v USING session_id",
    "join-paste": "SELECT * FROM (SELECT id FROM events) a PASTE JOIN (SELECT id FROM events) b",
    "join-three": "SELECT * FROM agent_sessions s JOIN events e USING session_id"
    " JOIN evaluations v USING session_id",
    "join-not-equal": "SELECT e.id, v.id FROM events e JOIN evaluations v"
    " ON e.id > v.attempt_count",
    "join-on-true": "SELECT e.payload FROM events e LEFT JOIN evaluations v ON 1",
    "join-brackets": "SELECT count() FROM (events e JOIN evaluations v ON 1 = 1)",
    "join-self": "SELECT a.payload, b.payload FROM events a JOIN events b ON a.ts < b.ts",
    "array-join": "SELECT agent FROM agent_sessions ARRAY JOIN agents AS agent",
    "array-join-left": "SELECT k FROM evaluations LEFT ARRAY JOIN mapKeys(scores) AS k",
    "array-join-function": "SELECT arrayJoin(mapValues(reasoning)) FROM evaluations",
    "array-join-group": "SELECT x FROM (SELECT groupArray(payload) AS a FROM events)"
    " ARRAY JOIN a AS x",
    "with-totals": "SELECT agent_id, count() FROM events GROUP BY agent_id WITH TOTALS",
    "with-rollup": "SELECT agent_id, environment, count() FROM events"
    " GROUP BY agent_id, environment WITH ROLLUP",
    "with-cube": "SELECT agent_id, environment, count() FROM events GROUP BY CUBE(agent_id,"
    " environment)",
    "grouping-sets": "SELECT agent_id, environment, count() FROM events GROUP BY GROUPING SETS"
    " ((agent_id), (environment), ())",
    "with-fill": "SELECT toUInt32(number) AS n, any(payload) FROM numbers(3), events GROUP BY n"
    " ORDER BY n WITH FILL FROM 0 TO 9 STEP 1",
    "limit-by": "SELECT agent_id, payload FROM events ORDER BY ts LIMIT 2 BY agent_id LIMIT 10",
    "limit-offset": "SELECT payload FROM events ORDER BY id LIMIT 10 OFFSET 30",
    "limit-huge": "SELECT payload FROM events LIMIT 18446744073709551615",
    "offset-beyond": "SELECT payload FROM events ORDER BY id LIMIT 10 OFFSET 100000",
    "limit-negative": "SELECT payload FROM events ORDER BY id LIMIT -5",
    "window-all": "SELECT any(payload) OVER (), first_value(payload) OVER (ORDER BY ts),"
    " last_value(payload) OVER (ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED"
    " FOLLOWING) FROM events",
    "window-neighbours": "SELECT lagInFrame(payload, 1) OVER w, leadInFrame(payload, 1) OVER w"
    " FROM events WINDOW w AS (ORDER BY id ROWS BETWEEN 9 PRECEDING AND 9 FOLLOWING)",
    "neighbour-function": "SELECT neighbor(payload, -1), neighbor(payload, 1) FROM events",
    "running-functions": "SELECT runningDifference(id), runningAccumulate(s) FROM"
    " (SELECT id, countState() AS s FROM events GROUP BY id)",
    "columns-matcher": "SELECT COLUMNS('.*') FROM events",
    "columns-except": "SELECT * EXCEPT(id) FROM events",
    "columns-replace": "SELECT * REPLACE(upper(payload) AS payload) FROM events",
    "columns-apply": "SELECT * APPLY(toString) FROM evaluations",
    "star-of-alias": "SELECT e.*, s.* FROM events AS e, agent_sessions AS s",
    "aggregates": "SELECT groupArray(payload), groupUniqArray(agent_id), any(environment),"
    " anyLast(session_id), argMin(payload, ts), argMax(payload, ts), topK(9)(tool_name)"
    " FROM events",
    "aggregate-states": "SELECT finalizeAggregation(groupArrayState(payload)) FROM events",
    "aggregates-of-maps": "SELECT sumMap(scores), groupArray(reasoning) FROM evaluations",
    "tuples": "SELECT tuple(*) FROM events",
    "json-of-row": "SELECT toJSONString(tuple(*)) FROM evaluations",
    "untuple": "SELECT untuple(tuple(*)) FROM evaluations",
    "case-of-columns": "SELECT CASE WHEN id > 0 THEN payload ELSE summary END FROM events",
    "order-by-subquery": "SELECT payload FROM events ORDER BY (SELECT count() FROM evaluations)",
    "empty-table": "SELECT count(), min(id), max(payload) FROM events WHERE 0",
    "final": "SELECT count() FROM events FINAL",
    "counts": "SELECT (SELECT count() FROM events), (SELECT count() FROM agent_sessions),"
    " (SELECT count() FROM evaluations)",
}

--- cte
WITH slow AS (SELECT * FROM events WHERE duration_ms > 3000) SELECT tool_name, count() FROM slow
GROUP BY tool_name

--- cte-chain
WITH a AS (SELECT session_id, count() AS c FROM events GROUP BY session_id), b AS (SELECT max(c) AS
m FROM a) SELECT a.session_id FROM a, b WHERE a.c = b.m

--- cte-expression
WITH toStartOfDay(ts) AS day SELECT day, count() FROM events GROUP BY day

--- cte-scalar
WITH (SELECT count() FROM events) AS total SELECT event_type, count() / total FROM events GROUP BY
event_type

--- cte-lambda
WITH x -> x * 2 AS double SELECT double(21)

--- cte-recursive
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n

--- cte-named-like-table
WITH events AS (SELECT * FROM analytics.events WHERE is_error) SELECT count() FROM events

--- join
SELECT e.session_id, v.status, count() FROM events AS e JOIN evaluations AS v ON e.session_id =
v.session_id GROUP BY e.session_id, v.status

--- join-using
SELECT session_id, event_count, status FROM agent_sessions LEFT JOIN evaluations USING (session_id)

--- join-three
SELECT s.session_id, e.event_type, v.scores FROM agent_sessions s JOIN events e ON s.session_id =
e.session_id LEFT JOIN evaluations v ON v.session_id = s.session_id LIMIT 9

--- join-anti
SELECT session_id FROM agent_sessions LEFT ANTI JOIN evaluations USING session_id

--- join-semi
SELECT session_id FROM agent_sessions LEFT SEMI JOIN evaluations USING session_id

--- join-asof
SELECT a.ts, b.ts FROM events a ASOF LEFT JOIN (SELECT session_id, ts FROM events WHERE is_error) b
ON a.session_id = b.session_id AND a.ts >= b.ts

--- join-any
SELECT a.session_id, b.tool_name FROM agent_sessions a ANY LEFT JOIN events b ON a.session_id =
b.session_id

--- join-self
SELECT count() FROM events a JOIN events b ON a.session_id = b.session_id AND a.id = b.id

--- join-subquery
SELECT t.tool_name, t.c FROM (SELECT tool_name, count() AS c FROM events GROUP BY tool_name) AS t
CROSS JOIN (SELECT 3 AS least) AS l WHERE t.c > l.least

--- in-subquery
SELECT count() FROM events WHERE session_id IN (SELECT session_id FROM evaluations WHERE status =
'done')

--- in-list
SELECT count() FROM events WHERE event_type IN ('error', 'tool_use')

--- in-list-spelled
SELECT count() FROM events WHERE event_type IN('error') AND NOT agent_id IN('x')

--- in-tuple
SELECT count() FROM events WHERE (environment, event_type) IN (('staging', 'error'), ('default',
'error'))

--- in-array
SELECT count() FROM events WHERE event_type IN ['error']

--- not-in
SELECT count() FROM events WHERE event_type NOT IN ('error')

--- exists
SELECT count() FROM agent_sessions s WHERE EXISTS (SELECT 1 FROM evaluations v WHERE v.session_id =
s.session_id)

--- scalar-subquery
SELECT count() FROM events WHERE ts > (SELECT max(ts) FROM events) - INTERVAL 1 DAY

--- union
SELECT 'events' AS what, count() FROM events UNION ALL SELECT 'results', count() FROM evaluations

--- union-distinct
SELECT environment FROM events UNION DISTINCT SELECT environment FROM evaluations

--- union-brackets
(SELECT 1 AS n) UNION ALL (SELECT 2)

--- except
SELECT session_id FROM events EXCEPT SELECT session_id FROM evaluations

--- intersect
SELECT session_id FROM events INTERSECT SELECT session_id FROM evaluations

--- nested-select
SELECT avg(n) FROM (SELECT session_id, count() AS n FROM (SELECT * FROM events WHERE is_error) GROUP
BY session_id)

--- window-running
SELECT session_id, ts, sum(coalesce(output_tokens, 0)) OVER (PARTITION BY session_id ORDER BY ts)
FROM events ORDER BY ts LIMIT 5

--- window-named
SELECT id, row_number() OVER w, rank() OVER w, dense_rank() OVER w FROM events WINDOW w AS
(PARTITION BY session_id ORDER BY ts)

--- window-frame
SELECT avg(duration_ms) OVER (ORDER BY ts ROWS BETWEEN 4 PRECEDING AND CURRENT ROW) FROM events
WHERE duration_ms IS NOT NULL

--- window-range
SELECT count() OVER (ORDER BY toUnixTimestamp(ts) RANGE BETWEEN 60 PRECEDING AND CURRENT ROW) FROM
events

--- window-lag
SELECT ts, lagInFrame(ts) OVER (PARTITION BY session_id ORDER BY ts) AS before FROM events

--- window-lead-gap
SELECT max(dateDiff('second', ts, next)) FROM (SELECT ts, leadInFrame(ts, 1, ts) OVER (PARTITION BY
session_id ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS next FROM
events)

--- window-first-value
SELECT DISTINCT session_id, first_value(event_type) OVER (PARTITION BY session_id ORDER BY ts) FROM
events

--- window-nth
SELECT nth_value(event_type, 2) OVER (PARTITION BY session_id ORDER BY ts) FROM events LIMIT 3

--- window-percent
SELECT percent_rank() OVER (ORDER BY duration_ms) FROM events LIMIT 3

--- window-share
SELECT tool_name, count() AS c, c / sum(c) OVER () AS share FROM events WHERE tool_name IS NOT NULL
GROUP BY tool_name

--- qualify
SELECT session_id, ts FROM events QUALIFY row_number() OVER (PARTITION BY session_id ORDER BY ts
DESC) = 1

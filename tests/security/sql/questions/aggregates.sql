--- quantiles
SELECT quantile(duration_ms), quantile(0.95)(duration_ms), quantiles(0.5, 0.99)(duration_ms),
median(duration_ms) FROM events

--- quantile-exact
SELECT quantileExact(0.9)(duration_ms) FROM events

--- quantile-timing
SELECT quantileTiming(0.9)(duration_ms), quantileTDigest(0.9)(duration_ms) FROM events

--- limit-by
SELECT environment, session_id FROM agent_sessions ORDER BY session_id LIMIT 2 BY environment

--- limit-by-limit
SELECT environment, session_id FROM agent_sessions ORDER BY session_id LIMIT 2 BY environment LIMIT
3

--- limit-by-offset
SELECT environment, session_id FROM agent_sessions ORDER BY session_id LIMIT 1 OFFSET 1 BY
environment LIMIT 5 OFFSET 1

--- limit-comma
SELECT id FROM events ORDER BY id LIMIT 2, 3

--- limit-ties
SELECT environment FROM events ORDER BY environment LIMIT 1 WITH TIES

--- with-totals
SELECT environment, count() FROM events GROUP BY environment WITH TOTALS

--- with-rollup
SELECT environment, event_type, count() FROM events GROUP BY environment, event_type WITH ROLLUP

--- with-cube
SELECT environment, event_type, count() FROM events GROUP BY environment, event_type WITH CUBE

--- grouping-sets
SELECT environment, event_type, count() FROM events GROUP BY GROUPING SETS ((environment),
(event_type))

--- with-fill
SELECT toStartOfHour(ts) AS h, count() FROM events GROUP BY h ORDER BY h WITH FILL STEP INTERVAL 1
HOUR

--- with-fill-interpolate
SELECT toDate(ts) AS d, count() AS c FROM events GROUP BY d ORDER BY d WITH FILL FROM
toDate('2026-11-01') TO toDate('2026-11-09') INTERPOLATE (c AS c + 1)

--- if-combinators
SELECT countIf(is_error), sumIf(duration_ms, event_type = 'tool_result'), avgIf(input_tokens, model
= 'large'), uniqIf(session_id, is_error), anyIf(agent_id, is_error) FROM events

--- other-combinators
SELECT sumOrNull(duration_ms), avgOrDefault(duration_ms), uniqArray([agent_id]),
groupArrayIf(tool_name, is_error), countDistinct(agent_id) FROM events

--- state-combinators
SELECT uniqMerge(s) FROM (SELECT uniqState(session_id) AS s FROM events GROUP BY environment)

--- filter-clause
SELECT count() FILTER (WHERE is_error) FROM events

--- distinct-count
SELECT count(DISTINCT session_id), uniq(session_id), uniqExact(agent_id) FROM events

--- distinct-on
SELECT DISTINCT ON (environment) environment, session_id FROM events ORDER BY ts

--- top-k
SELECT topK(3)(tool_name), topKWeighted(2)(tool_name, 1) FROM events

--- arg-max
SELECT session_id, argMax(event_type, ts), argMin(event_type, ts) FROM events GROUP BY session_id

--- histogram
SELECT histogram(5)(duration_ms) FROM events

--- statistics
SELECT stddevPop(duration_ms), varSamp(duration_ms), corr(input_tokens, output_tokens),
covarPop(input_tokens, output_tokens), simpleLinearRegression(input_tokens, output_tokens) FROM
events

--- sequence
SELECT session_id, sequenceMatch('(?1).*(?2)')(toDateTime(ts), event_type = 'tool_use', event_type =
'error') FROM events GROUP BY session_id

--- funnel
SELECT windowFunnel(3600)(toDateTime(ts), event_type = 'agent_start', event_type = 'tool_use',
event_type = 'agent_end') FROM events GROUP BY session_id

--- retention
SELECT retention(event_type = 'agent_start', event_type = 'error') FROM events GROUP BY session_id

--- group-by-all
SELECT environment, count() FROM events GROUP BY ALL ORDER BY ALL

--- group-by-number
SELECT environment, count() FROM events GROUP BY 1 ORDER BY 2 DESC

--- group-by-alias
SELECT toHour(ts) AS hour, count() AS n FROM events GROUP BY hour HAVING n > 1 ORDER BY hour

--- order-nulls
SELECT tool_name FROM events ORDER BY tool_name DESC NULLS LAST LIMIT 3

--- conditional-aggregates
SELECT session_id, countIf(event_type = 'error') / count() AS rate FROM events GROUP BY session_id
HAVING rate > 0 ORDER BY rate DESC LIMIT 5

--- group-concat
SELECT groupConcat(', ')(agent_id) FROM (SELECT DISTINCT agent_id FROM events)

--- sample-of-hash
SELECT count() FROM events WHERE cityHash64(session_id) % 10 = 0

--- arrays
SELECT groupArray(tool_name) AS tools, arrayDistinct(tools), arraySort(tools), length(tools),
tools[1], arraySlice(tools, 1, 3) FROM events

--- array-lambda
SELECT arrayMap(x -> upper(x), groupArray(agent_id)) FROM events

--- array-lambda-two
SELECT arrayMap((x, y) -> x || ':' || toString(y), ['a', 'b'], [1, 2])

--- array-filter
SELECT arrayFilter(x -> x.2 > 2, agents) FROM agent_sessions

--- array-exists
SELECT countIf(arrayExists(x -> x IN ('a', 'b'), JSONExtract(payload, 'tags', 'Array(String)')))
FROM events

--- array-reduce
SELECT arrayReduce('max', groupArray(assumeNotNull(duration_ms))) FROM events

--- array-fold
SELECT arrayFold((acc, x) -> acc + x, [1, 2, 3], toInt64(0))

--- array-zip
SELECT arrayZip(['a'], [1]), arrayEnumerate(['x', 'y']), arrayCumSum([1, 2])

--- array-difference
SELECT arrayDifference(arraySort(groupArray(toUnixTimestamp(ts)))) FROM events WHERE session_id =
'session-01'

--- array-string
SELECT arrayStringConcat(arraySort(groupUniqArray(agent_id)), ', ') FROM events

--- array-join
SELECT session_id, a.agent_id, a.event_count FROM agent_sessions ARRAY JOIN agents AS a

--- array-join-left
SELECT session_id, k, v FROM evaluations LEFT ARRAY JOIN mapKeys(scores) AS k, mapValues(scores) AS
v

--- array-join-index
SELECT n, i FROM evaluations ARRAY JOIN mapKeys(scores) AS n, arrayEnumerate(mapKeys(scores)) AS i

--- array-index-negative
SELECT splitByChar('-', session_id)[-1] FROM events LIMIT 1

--- map-access
SELECT session_id, scores['helpful'], reasoning['helpful'] FROM evaluations

--- map-functions
SELECT mapKeys(scores), mapValues(scores), mapContains(scores, 'correct'), length(scores) FROM
evaluations

--- map-filter
SELECT mapFilter((k, v) -> v > 0.5, scores), mapApply((k, v) -> (k, v * 2), scores) FROM evaluations

--- map-build
SELECT map('a', 1, 'b', 2)['b'], mapFromArrays(['x'], [1])

--- map-subcolumns
SELECT scores.keys, scores.values FROM evaluations

--- map-sum
SELECT sumMap(scores), avgMap(scores), maxMap(scores) FROM evaluations

--- map-group
SELECT sumMap(map(event_type, 1)) FROM events

--- tuple
SELECT (min(ts), max(ts)) AS span, span.1, span.2 FROM events

--- tuple-nested
SELECT ((1, 'a'), 2).1.2, tuple(1, 2).2

--- tuple-named
SELECT agents.agent_id, agents[1].event_count FROM agent_sessions

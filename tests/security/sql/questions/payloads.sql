--- json-string
SELECT JSONExtractString(payload, 'customer', 'plan') AS plan, count() FROM events GROUP BY plan

--- json-float
SELECT sum(JSONExtractFloat(payload, 'cost')) FROM events

--- json-array
SELECT arrayJoin(JSONExtract(payload, 'tags', 'Array(String)')) AS tag, count() FROM events GROUP BY
tag

--- json-has
SELECT countIf(JSONHas(payload, 'cost')) FROM events

--- json-keys
SELECT arrayJoin(JSONExtractKeys(payload)) AS k, count() FROM events GROUP BY k

--- json-raw
SELECT JSONExtractRaw(payload, 'customer') FROM events LIMIT 1

--- json-value
SELECT JSON_VALUE(payload, '$.customer.plan') FROM events LIMIT 1

--- json-type
SELECT JSONType(payload, 'tags') AS t, count() FROM events GROUP BY t

--- json-simple
SELECT simpleJSONExtractString(payload, 'type') AS t, count() FROM events GROUP BY t

--- json-tuple
SELECT JSONExtract(payload, 'customer', 'Tuple(plan String, name String)').1 AS p FROM events LIMIT
1

--- json-cast
SELECT payload::JSON AS j, j.customer.plan::String FROM events LIMIT 2

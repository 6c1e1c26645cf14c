"""A week and two days of one organization's events and results, made inside ClickHouse.

Sessions have about 50 events: goals, model calls with messages of many lengths, tools with inputs
and results as JSON, hooks, errors of a few templates, ends. Each value is a hash of the numbers of
its session and event. Here and there a session loops, is abandoned, or leaks a credential. Every
third text contains words that also occur in credentials.
"""

from clickhouse_driver import Client

from shared.foundation.core.clock import now_us

DAYS = 7
# The signals compare with this many days before the audited week.
_DAYS_BEFORE = 2
_EVENTS_A_SESSION = 50
_SESSIONS_A_BLOCK = 1000


def fill(client: Client, org_id: str, events: int) -> None:
    """Stores about `events` events in the last week, and as many per day before it."""
    sessions = events // _EVENTS_A_SESSION * (DAYS + _DAYS_BEFORE) // DAYS
    span = (DAYS + _DAYS_BEFORE) * 86_400_000_000
    ended_at = now_us()
    values = {
        "org_id": org_id,
        "started_at": ended_at - span,
        "ended_at": ended_at,
        "gap": span // sessions,
    }
    for first in range(0, sessions, _SESSIONS_A_BLOCK):
        count = min(_SESSIONS_A_BLOCK, sessions - first)
        client.execute(_EVENTS.format(first=first, count=count, **values))
    client.execute(_EVALUATIONS.format(**values))


# j numbers the events of session s from 0. c numbers its calls of models and tools, which take four
# events each. One session in fifty of the block is sent twice.
_EVENTS = """
INSERT INTO events (
    org_id, id, session_id, agent_id, event_type, environment, ts, arrival, payload, summary,
    is_error, tool_name, tool_call_id, hook_name, hook_id, trigger_event, request_id, error_type,
    model, outcome, duration_ms, input_tokens, output_tokens, context_window, context_fill
)
WITH
    cityHash64(s, j) AS dice,
    cityHash64(s, c, 'call') AS call_dice,
    intDiv(j + 3, 4) AS c,
    toUInt16(20 + cityHash64(s, 'n') % 61) AS n,
    multiIf(j = 0, 'agent_start', j = n - 1, if(s % 29 = 0, 'model_request', 'agent_end'),
            (j - 1) % 4 = 0, 'model_request', (j - 1) % 4 = 1, 'model_response',
            call_dice % 41 = 0, if((j - 1) % 4 = 2, 'hook_triggered', 'hook_completed'),
            (j - 1) % 4 = 2, 'tool_use', if(dice % 23 = 0, 'error', 'tool_result')) AS kind,
    kind IN ('tool_use', 'tool_result') AS of_tool,
    kind IN ('model_request', 'model_response') AS of_model,
    kind IN ('hook_triggered', 'hook_completed') AS of_hook,
    kind = 'error' OR (kind = 'agent_end' AND dice % 9 = 0)
        OR (kind = 'tool_result' AND dice % if(tool = 'tool_5', 4, 19) = 0) AS failed,
    s % 400 = 3 AS loops,
    concat('tool_', toString(if(loops, 3, toUInt8(floor(12 * pow((call_dice % 1000) / 1000, 2))))))
        AS tool,
    concat('model-', toString(cityHash64(s) % 5)) AS llm,
    concat('agent-', toString(cityHash64(s, 'agent') % 6)) AS root,
    if(j = 0 OR j = n - 1 OR dice % 100 < 90, root,
        concat('helper-', toString(cityHash64(s, c) % 5))) AS agent,
    ['production', 'staging'][1 + (cityHash64(s, 'env') % 10 = 0)] AS place,
    toUInt32(20 + pow((dice % 1000) / 250, 6)) AS took,
    toUInt32(200 + dice % 9000 * (1 + (s % 300 = 5) * 20)) AS tokens_in,
    toUInt32(20 + dice % 800) AS tokens_out,
    {started_at} + s * {gap} + j * toInt64(1000000 + cityHash64(s, 'pace') % 9000000)
        + dice % 900000 AS us,
    hex(call_dice) AS call_id,
    multiIf(dice % 5000 = 0, 40000, dice % 200 = 0, 6000, toInt64(60 + dice % 400)) AS chars,
    arrayStringConcat(arrayMap(i -> concat(lower(hex(cityHash64(i) % 65521)),
        [' the task-list of the risk desk is ', ' a password is needed for ', ' the answer is '][
            1 + cityHash64(i, 2) % 3], toString(cityHash64(i, 1) % 997)), range(1500)),
        ' ') AS text,
    concat(substring(text, toInt64(1 + dice % 9000), chars),
        if(s % 4000 = 11 AND j = 2, concat(' gh', 'p_', substring(repeat(call_id, 3), 1, 36)), ''))
        AS said,
    ['seat % is taken on flight', 'payment of % does not add up for', 'no such order',
     'timeout after % ms at /srv/app/', 'the server at 10.0.0.% refused'] AS reasons,
    concat(replaceOne(reasons[1 + dice % 5], '%', toString(dice % 1000)), ' ', call_id) AS reason,
    multiIf(
        kind = 'agent_start', concat('"goal":"', said, '"'),
        kind = 'agent_end', concat('"outcome":"', if(failed, 'failed', 'success'), '"'),
        kind = 'tool_use', concat('"tool_name":"', tool, '","tool_call_id":"', call_id,
            '","input":{{"query":"', if(loops, 'same', call_id), '","limit":10}}'),
        kind = 'tool_result', concat('"tool_name":"', tool, '","tool_call_id":"', call_id,
            if(failed, concat('","error":"', reason, '"'),
               concat('","output":"{{\\\\"rows\\\\": \\\\"', said, '\\\\"}}"'))),
        kind = 'error', concat('"error_type":"Error', toString(dice % 7), '","message":"', reason,
            '"'),
        kind = 'model_request', concat('"model":"', llm, '","request_id":"', call_id,
            '","messages":[{{"role":"user","content":"', said, '"}}]'),
        kind = 'model_response', concat('"model":"', llm, '","request_id":"', call_id,
            '","content":"', said, '","input_tokens":', toString(tokens_in),
            ',"output_tokens":', toString(tokens_out)),
        '"hook_name":"policy"') AS fields
SELECT
    '{org_id}',
    bitShiftRight(cityHash64(s, j, 'id'), 11),
    concat('ses_', lower(hex(cityHash64(s, 'session')))) AS session_id,
    agent,
    kind,
    place,
    fromUnixTimestamp64Micro(us, 'UTC') AS ts,
    bitShiftLeft(toUInt64(intDiv(us, 1000) + 200 + again * 60000), 21) + j % 500,
    concat('{{"session_id":"', session_id, '","timestamp":"', replaceOne(toString(ts), ' ', 'T'),
           'Z","type":"', kind, '","agent_id":"', agent, '","environment":"', place, '",', fields,
           '}}'),
    substring(said, 1, 200),
    failed,
    if(of_tool, tool, NULL),
    if(of_tool, call_id, NULL),
    if(of_hook, 'policy', NULL),
    if(of_hook, call_id, NULL),
    if(of_hook, 'tool_use', NULL),
    if(of_model, call_id, NULL),
    if(kind = 'error', concat('Error', toString(dice % 7)), NULL),
    if(of_model, llm, NULL),
    if(kind = 'agent_end', if(failed, 'failed', 'success'), NULL),
    if(kind IN ('tool_result', 'model_response', 'hook_completed'), took, NULL),
    if(kind = 'model_response', tokens_in, NULL),
    if(kind = 'model_response', tokens_out, NULL),
    if(kind = 'model_response', 200000, NULL),
    if(kind = 'model_response', (tokens_in + tokens_out) / 200000, NULL)
FROM (SELECT number AS s FROM numbers({first}, {count}))
ARRAY JOIN range(n) AS j
ARRAY JOIN range(1 + (s % 50 = 0)) AS again
WHERE us < {ended_at}
"""

_EVALUATIONS = """
INSERT INTO evaluations (
    org_id, evaluation_id, session_id, agent_id, environment, status, scores, reasoning, summary,
    error, attempt_count, duration_ms, completed_at
)
SELECT '{org_id}', toString(reinterpretAsUUID(sipHash128(session_id))), session_id, agent_id,
    environment, if(cityHash64(session_id, 2) % 30 = 0, 'error', 'done'),
    if(cityHash64(session_id, 2) % 30 = 0, map(), map(
        'accuracy', (cityHash64(session_id, 3) % 1000) / 1000,
        'tone', (cityHash64(session_id, 4) % 1000) / 1000)),
    map(), NULL, NULL, 1, 500, last_event_at
FROM (
    SELECT session_id, argMin(agent_id, ts) AS agent_id,
        argMin(environment, ts) AS environment, max(ts) AS last_event_at
    FROM events
    WHERE org_id = '{org_id}' AND cityHash64(session_id) % 5 > 0
    GROUP BY session_id
)
"""

"""A month of events, sessions and evaluations of some organizations, made inside ClickHouse.

Every value is a hash of the numbers of the session and the event. The same size is therefore the
same workload each time, whenever it ends. The rows are inserted as ingest leaves them: in blocks of
about 32,000 events of all organizations in the order of time. One and a half percent of them are
sent again a block later, or another share.

The first event of a session names its user, the agent's version, tags and attributes; a tenth of
the sessions have no user. Each model has a price but the rarest.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import UUID

import msgspec

from bench.site import Site
from shared.access import organizations
from shared.foundation.core.clock import now_us
from shared.foundation.postgres import Postgres

ORGS = 20
EVENTS_A_SESSION = 50
DAYS = 30
EVALUATIONS = 200_000
RARE_TOOLS = 5
# The number of calls of a rare tool in the month, in an organization of any size.
_RARE_CALLS = 60
# One event of so many is sent again.
RESENT = 64
_SESSIONS_A_BLOCK = 650
# Of all organizations together.
_SESSIONS_A_USER = 100

SESSION_ID = "concat('ses_', lower(hex(cityHash64({number}, 'session'))))"


@dataclass(frozen=True)
class Workload:
    """The content of a site's stores: organizations by size, and the end in microseconds."""

    events: int
    ended_at: int
    slugs: tuple[str, ...]
    org_ids: tuple[str, ...]

    @property
    def sessions(self) -> int:
        """The number of sessions."""
        return self.events // EVENTS_A_SESSION


def ensure(
    site: Site,
    events: int,
    advance: Callable[[int], None],
    *,
    orgs: int = ORGS,
    resent: int = RESENT,
) -> Workload:
    """Generates the workload of a site unless it exists.

    `advance` gets the number of new events. One event of `resent` is sent again.
    """
    note = site.directory / "workload.json"
    if note.exists():
        advance(events)
        return msgspec.json.decode(note.read_bytes(), type=Workload)
    slugs = tuple(f"org-{number:02}" for number in range(orgs))
    workload = Workload(events, now_us(), slugs, tuple(map(str, _make_orgs(site, slugs))))
    client = site.clickhouse()
    for first in range(0, workload.sessions, _SESSIONS_A_BLOCK):
        client.execute(_events_of(workload, first, resent))
        advance(min(_SESSIONS_A_BLOCK, workload.sessions - first) * EVENTS_A_SESSION)
    for statement in _evaluations_of(workload):
        client.execute(statement)
    client.disconnect()
    _write(note, workload)
    return workload


def _write(note: Path, workload: Workload) -> None:
    note.write_bytes(msgspec.json.encode(asdict(workload)))


def _make_orgs(site: Site, slugs: tuple[str, ...]) -> list[UUID]:
    postgres = Postgres(site.environ["DATABASE_URL"], pool_size=1)
    with postgres.transaction() as session:
        made = [organizations.create(session, slug).id for slug in slugs]
    postgres.close()
    return made


def _weights(orgs: int) -> list[float]:
    """Returns two fifths for the first organization and decreasing shares for the others."""
    ranks = range(1, orgs)
    return [0.4, *(0.6 / rank / sum(1 / one for one in ranks) for rank in ranks)]


def _edges(weights: Sequence[float]) -> list[int]:
    total, edges = 0.0, []
    for weight in weights:
        total += weight
        edges.append(round(total * 100_000))
    return edges


def _events_of(workload: Workload, first: int, resent: int) -> str:
    """Returns one block: the events of some sessions, and again a few from the block before."""
    # Half of the events belong to tools, in pairs.
    weights = _weights(len(workload.org_ids))
    calls = [round(weight * workload.events / 4) for weight in weights]
    rarity = [max(1, count // (_RARE_CALLS * RARE_TOOLS)) for count in calls]
    return _EVENTS.format(
        session_id=SESSION_ID.format(number="s"),
        orgs=list(workload.org_ids),
        edges=_edges(weights),
        rarity=rarity,
        rare_tools=RARE_TOOLS,
        users=max(1, workload.sessions // _SESSIONS_A_USER),
        begin=max(0, first - _SESSIONS_A_BLOCK),
        first=first,
        sessions=workload.sessions,
        count=min(first + _SESSIONS_A_BLOCK, workload.sessions) - max(0, first - _SESSIONS_A_BLOCK),
        started_at=workload.ended_at - DAYS * 86_400_000_000,
        gap=DAYS * 86_400_000_000 // workload.sessions,
        ended_at=workload.ended_at,
        resent=resent,
    )


# j numbers the events of session s from 0. c numbers its calls of models and tools, which take four
# events each.
_EVENTS = """
INSERT INTO events (
    org_id, id, session_id, agent_id, event_type, environment, ts, arrival, payload, summary,
    is_error, tool_name, tool_call_id, hook_name, hook_id, trigger_event, request_id, error_type,
    model, outcome, duration_ms, input_tokens, output_tokens, context_window, context_fill,
    user_id, agent_version, tags, attributes, provider, cache_read_tokens, cost_usd, computed_usd,
    cost_source, unpriced_reason, price_id
)
WITH
    cityHash64(s, j) AS dice,
    cityHash64(s, c, 'call') AS call_dice,
    intDiv(j + 3, 4) AS c,
    s % 200 = 7 ? 1000 : toUInt16(20 + cityHash64(s, 'n') % 51) AS n,
    arrayFirstIndex(edge -> cityHash64(s, 'org') % 100000 < edge, {edges}) AS org,
    multiIf(j = 0, 'agent_start', j = n - 1, 'agent_end', (j - 1) % 4 = 0,
            if(dice % 97 = 0, 'error', 'model_request'), (j - 1) % 4 = 1, 'model_response',
            if(call_dice % 41 = 0, if((j - 1) % 4 = 2, 'hook_triggered', 'hook_completed'),
               if((j - 1) % 4 = 2, 'tool_use', 'tool_result'))) AS kind,
    kind IN ('tool_use', 'tool_result') AS of_tool,
    kind IN ('model_request', 'model_response') AS of_model,
    kind IN ('hook_triggered', 'hook_completed') AS of_hook,
    kind = 'error' OR (kind IN ('tool_result', 'agent_end') AND dice % 37 = 0) AS failed,
    multiIf(call_dice % {rarity}[org] = 0, concat('rare_', toString(call_dice % {rare_tools})),
            concat('tool_', toString(toUInt8(floor(12 * pow((call_dice % 1000) / 1000, 2))))))
        AS tool,
    concat('model-', toString(toUInt8(floor(8 * pow((cityHash64(s) % 1000) / 1000, 3))))) AS llm,
    [80, 95, 100] AS shares,
    ['production', 'staging', 'development'][
        arrayFirstIndex(share -> cityHash64(s, 'env') % 100 < share, shares)] AS place,
    if(dice % 100 < 85, 'main', concat('helper-', toString(cityHash64(s, c) % 5))) AS agent,
    toUInt32(20 + pow((dice % 1000) / 250, 6)) AS took,
    toUInt32(200 + dice % 9000) AS tokens_in,
    toUInt32(20 + dice % 800) AS tokens_out,
    toUInt32(intDiv(tokens_in * (dice % 4), 4)) AS cached,
    j = 0 AS names,
    if(names AND cityHash64(s, 'named') % 10 > 0,
       concat('user-', toString(cityHash64(s, 'user') % {users})), NULL) AS person,
    concat('1.', toString(intDiv(s * 12, {sessions}))) AS release_,
    ['free', 'team', 'enterprise'][1 + cityHash64(s, 'plan') % 3] AS plan,
    kind = 'model_response' AS is_call,
    is_call AND llm != 'model-7' AS is_priced,
    -- 3, 0.3 and 15 dollars a million: a number of 1e-7 dollars.
    (tokens_in - cached) * 30 + cached * 3 + tokens_out * 150 AS tenths,
    if(is_priced, toDecimal128(tenths, 12) / 10000000, NULL) AS cost,
    {started_at} + s * {gap}
        + j * toInt64(1000000 + cityHash64(s, 'pace') % 9000000) + dice % 900000 AS us,
    s < {first} AS again,
    hex(call_dice) AS call_id,
    multiIf(dice % 5000 = 0, 40000, dice % 200 = 0, 6000, toInt64(60 + dice % 400)) AS chars,
    -- Text that compresses about as well as what people write.
    arrayStringConcat(arrayMap(
        i -> concat(lower(hex(cityHash64(i) % 65521)), ' the answer of the tool is that ',
                    toString(cityHash64(i, 1) % 997)), range(1500)), ' ') AS text,
    substring(text, toInt64(1 + dice % 9000), chars) AS said,
    concat('{{"session_id":"', session_id, '","timestamp":"', replaceOne(toString(ts), ' ', 'T'),
           'Z","type":"', kind,
           '","agent_id":"', agent, '","environment":"', place, '",',
           multiIf(of_tool, concat('"tool_name":"', tool, '","tool_call_id":"', call_id, '",'),
                   of_model, concat('"model":"', llm, '","request_id":"', call_id, '",'), ''),
           if(isNull(person), '', concat('"user_id":"', person, '",')),
           if(names, concat('"agent_version":"', release_, '","tags":["', plan,
                            '"],"attributes":{{"plan":"', plan, '"}},'), ''),
           if(is_call, concat('"provider":"maker","input_tokens":', toString(tokens_in),
                              ',"output_tokens":', toString(tokens_out), ',"cache_read_tokens":',
                              toString(cached), ','), ''),
           '"content":"', said, '"}}') AS body
SELECT
    {orgs}[org],
    bitShiftRight(cityHash64(s, j, 'id'), 11),
    {session_id} AS session_id,
    agent,
    kind,
    place,
    fromUnixTimestamp64Micro(us, 'UTC') AS ts,
    bitShiftLeft(toUInt64(intDiv(us, 1000) + if(again, 60000, 200)), 21) + j % 500,
    body,
    substring(said, 1, 200),
    failed,
    if(of_tool, tool, NULL),
    if(of_tool, call_id, NULL),
    if(of_hook, concat('hook_', toString(call_dice % 4)), NULL),
    if(of_hook, call_id, NULL),
    if(of_hook, 'tool_use', NULL),
    if(of_model, call_id, NULL),
    if(kind = 'error', concat('Error', toString(dice % 7)), NULL),
    if(of_model, llm, NULL),
    if(kind IN ('agent_end', 'hook_completed'), if(failed, 'failed', 'success'), NULL),
    if(kind IN ('tool_result', 'model_response', 'hook_completed'), took, NULL),
    if(kind = 'model_response', tokens_in, NULL),
    if(kind = 'model_response', tokens_out, NULL),
    if(kind = 'model_response', 200000, NULL),
    if(kind = 'model_response', (tokens_in + tokens_out) / 200000, NULL),
    person,
    if(names, release_, NULL),
    if(names, [plan], []),
    if(names, map('plan', plan), map()),
    if(is_call, 'maker', NULL),
    if(is_call, cached, NULL),
    cost,
    cost,
    multiIf(is_priced, 'computed', is_call, 'unpriced', NULL),
    if(is_call AND NOT is_priced, 'no_price', NULL),
    if(is_priced, 'builtin:bench:model', NULL)
FROM (SELECT number AS s FROM numbers({begin}, {count}))
ARRAY JOIN range(n) AS j
WHERE us < {ended_at} AND (NOT again OR dice % {resent} = 0)
"""


def _evaluations_of(workload: Workload) -> Iterator[str]:
    """Yields a statement per day. The first organization has the same number at every size."""
    for day in range(DAYS + 1):
        day_start = workload.ended_at + (day - DAYS) * 86_400_000_000
        values = {
            "org_id": workload.org_ids[0],
            "since": day_start,
            "ended_at": workload.ended_at,
        }
        condition = "org_id = '{org_id}'"
        yield _EVALUATIONS.format(**values, which=condition.format(**values), most=EVALUATIONS)
        # The others have one for nearly every session, and two for some.
        condition = "org_id != '{org_id}' AND cityHash64(session_id) % 5 > 0"
        yield _EVALUATIONS.format(**values, which=condition.format(**values), most=0)


_EVALUATIONS = """
INSERT INTO evaluations (
    org_id, evaluation_id, session_id, agent_id, environment, status, scores, reasoning, summary,
    error, attempt_count, duration_ms, completed_at
)
WITH
    cityHash64(session_id, again) AS dice,
    multiIf(dice % 100 < 92, 'done', dice % 100 < 97, 'error', 'timeout') AS state,
    arrayFilter(key -> cityHash64(dice, key) % 10 > 0,
                ['accuracy', 'goal', 'helpfulness', 'safety', 'tone']) AS keys,
    arrayMap(key -> (cityHash64(dice, key, 1) % 1000) / 1000, keys) AS marks
SELECT
    org_id,
    toString(reinterpretAsUUID(sipHash128(session_id, again))),
    session_id,
    'main',
    ['production', 'staging', 'development'][1 + dice % 3],
    state,
    if(state = 'done', CAST((keys, marks), 'Map(LowCardinality(String), Float64)'), map()),
    if(state = 'done', map('goal', repeat('It reached what it was asked for. ', 3)), map()),
    if(state = 'done', 'What was asked for was done.', NULL),
    if(state = 'done', NULL, 'the evaluator answered 500'),
    1 + dice % 3,
    200 + dice % 5000,
    completed_at
FROM (
    SELECT
        org_id, session_id, again,
        least(last_event_at + toIntervalSecond(30 + again * 1800 + cityHash64(session_id) % 60),
              fromUnixTimestamp64Micro({ended_at} - toInt64(cityHash64(session_id, again)
                  % 3600000000), 'UTC')) AS completed_at
    FROM (
        SELECT org_id, session_id, max(ts) AS last_event_at,
            row_number() OVER (ORDER BY org_id, session_id) - 1 AS place,
            count() OVER () AS sessions
        FROM events WHERE {which} GROUP BY org_id, session_id
    )
    ARRAY JOIN range(toUInt32(
        if({most} > 0, ceil({most} / sessions), 1 + cityHash64(session_id) % 2))) AS again
    WHERE {most} = 0 OR again * sessions + place < {most}
)
WHERE completed_at >= fromUnixTimestamp64Micro({since}, 'UTC')
  AND completed_at < fromUnixTimestamp64Micro({since} + 86400000000, 'UTC')
"""

"""Rows of three organizations: the caller's, and two with recognisable values everywhere."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from shared.foundation.deployment.runtime import Runtime
from tests.support.runtime import Org, make_org

OWN, FOREIGN = "own", "zqforeign"
EVENTS, EVALUATIONS = 5003, 613

# The rows of an organization. `{n}` stands for numbers that only others have, or for small ones.
_EVENTS = """
INSERT INTO events (* EXCEPT (version)) SELECT
    {org:String} AS org_id, {first_id:UInt64} + number AS id,
    {mark:String} || '-session-' || toString(number % 7) AS session_id,
    {mark:String} || '-agent' AS agent_id,
    ['agent_start', 'tool_use', 'agent_end', {mark:String} || '-type'][1 + number % 4],
    {mark:String} || '-environment' AS environment,
    toDateTime64({day:String} || ' 03:03:03.000000', 6, 'UTC') + number AS ts,
    {copy:UInt64} * 1000000 + number AS arrival,
    '{"text":"' || {mark:String} || '-payload-' || toString(number) || '"}' AS payload,
    {mark:String} || '-summary' AS summary, number % 3 = 0 AS is_error,
    {mark:String} || '-tool' AS tool_name, {mark:String} || '-call' AS tool_call_id,
    {mark:String} || '-hook' AS hook_name, {mark:String} || '-hook-id' AS hook_id,
    {mark:String} || '-trigger' AS trigger_event, {mark:String} || '-input' AS input_id,
    {mark:String} || '-pause' AS pause_id, {mark:String} || '-request' AS request_id,
    {mark:String} || '-error' AS error_type, {mark:String} || '-model' AS model,
    {mark:String} || '-parent' AS parent_id, {mark:String} || '-outcome' AS outcome,
    {duration:UInt32} AS duration_ms, {input:UInt32} AS input_tokens,
    {output:UInt32} AS output_tokens, {window:UInt32} AS context_window,
    {fill:Float64} AS context_fill,
    {mark:String} || '-user' AS user_id, {mark:String} || '-version' AS agent_version,
    [{mark:String} || '-tag'] AS tags,
    map({mark:String} || '-key', {mark:String} || '-value') AS attributes,
    {mark:String} || '-provider' AS provider, {mark:String} || '-tier' AS service_tier,
    {input:UInt32} AS cache_read_tokens, {input:UInt32} AS cache_write_tokens,
    {input:UInt32} AS cache_write_1h_tokens, {output:UInt32} AS reasoning_tokens,
    {input:UInt32} AS audio_input_tokens, {output:UInt32} AS audio_output_tokens,
    {input:UInt32} AS web_searches,
    {fill:Float64} AS cost_usd, {fill:Float64} AS reported_usd, {fill:Float64} AS computed_usd,
    if(number % 7 = 0, 'unpriced', {mark:String} || '-source') AS cost_source,
    {mark:String} || '-reason' AS unpriced_reason,
    {mark:String} || '-price' AS price_id, [{mark:String} || '-note'] AS cost_notes
FROM numbers({events:UInt64})
"""

_EVALUATIONS = """
INSERT INTO TABLE (org_id, evaluation_id, session_id, agent_id, environment, status, scores,
    reasoning, summary, error, attempt_count, duration_ms, completed_at, evaluator,
    evaluator_version, trigger, results, input_tokens, output_tokens, cost_usd) SELECT
    {org:String} AS org_id, {mark:String} || '-evaluation-' || toString(number) AS evaluation_id,
    {mark:String} || '-session-' || toString(number % 7) AS session_id,
    {mark:String} || '-agent' AS agent_id, {mark:String} || '-environment' AS environment,
    {mark:String} || '-status' AS status,
    map({mark:String} || '-score', {fill:Float64}) AS scores,
    map({mark:String} || '-reason', {mark:String} || '-reasoning',
        {mark:String} || '-score', {mark:String} || '-reasoning') AS reasoning,
    {mark:String} || '-summary' AS summary, {mark:String} || '-error' AS error,
    {duration:UInt32} AS attempt_count, {duration:UInt32} AS duration_ms,
    toDateTime64({day:String} || ' 04:04:04.000000', 6, 'UTC') + number AS completed_at,
    {mark:String} || '-evaluator' AS evaluator, {mark:String} || '-revision' AS evaluator_version,
    {mark:String} || '-trigger' AS trigger,
    [({mark:String} || '-score', {mark:String} || '-kind', {fill:Float64},
      {mark:String} || '-label', {mark:String} || '-text', true, {mark:String} || '-unit',
      [{mark:String} || '-a'],
      [{mark:String} || '-event'], [{mark:String} || '-flag'])] AS results,
    {input:UInt32} AS input_tokens, {output:UInt32} AS output_tokens, {fill:Float64} AS cost_usd
FROM numbers({evaluations:UInt64})
"""

_RESULTS = [_EVALUATIONS.replace("TABLE", table) for table in ("evaluations", "own_evaluations")]

_OWN: dict[str, object] = {
    "mark": OWN,
    "first_id": 1,
    "day": "2026-03-03",
    "duration": 3,
    "input": 5,
    "output": 7,
    "window": 100,
    "fill": 0.125,
    "events": 12,
    "evaluations": 5,
}
_FOREIGN: dict[str, object] = {
    "mark": FOREIGN,
    "first_id": 7770000000000,
    "day": "2031-03-03",
    "duration": 3131313131,
    "input": 3232323232,
    "output": 3434343434,
    "window": 3535353535,
    "fill": 0.73912846,
    "events": EVENTS,
    "evaluations": EVALUATIONS,
}
# Texts in others' rows only, also backwards and in hexadecimal. The end of a day is not among them:
# `WITH FILL` or a comparison may name it.
_MARKS = re.compile(
    "|".join(
        [
            FOREIGN,
            FOREIGN[::-1],
            FOREIGN.encode().hex(),
            "77700000",
            *("3131313131", "3232323232", "3434343434", "3535353535", "73912846"),
            # The amounts of a session's events together.
            *("527\\.73772044", "528\\.4768489"),
            "2031-03-0",
        ]
    ),
    re.IGNORECASE,
)
# The numbers of others' rows, alone, together and with the caller's, and sums over their sessions.
_NUMBERS = frozenset(
    {
        times * count + own
        for count, own in ((EVENTS, 12), (EVALUATIONS, 5))
        for times, own in ((1, 0), (2, 0), (1, own), (2, own))
    }
    | {714, 715, 238, 239}
    | {events * tokens for events in (714, 715) for tokens in (3232323232, 3434343434)}
)


@dataclass(frozen=True)
class Planted:
    """The calling organization, and the others, which no answer may reveal."""

    own: Org
    others: tuple[Org, Org]

    def leaks(self, text: str, rows: Sequence[Sequence[object]] = (), *, sql: str = "") -> set[str]:
        """Returns the parts of an answer that come from others. Text of the statement is ignored.

        `text` is the whole body, `rows` its rows: counts and sums of others are found there.
        """
        found = {match[0].lower() for match in _MARKS.finditer(text)}
        found = {mark for mark in found if mark not in sql.lower()}
        found |= {org.id for org in self.others if org.id in text}
        return found | {str(number) for number in _NUMBERS & _integers(rows)}


def _integers(rows: Sequence[Sequence[object]]) -> set[int]:
    return {value for row in rows for value in row if type(value) is int}


def plant_own(runtime: Runtime) -> Org:
    """Makes an organization with a few rows, all stored twice."""
    return _plant(runtime, _OWN)


def plant_foreign(runtime: Runtime) -> Org:
    """Makes an organization with many rows of recognisable values, all stored twice."""
    return _plant(runtime, _FOREIGN)


def _plant(runtime: Runtime, values: dict[str, object]) -> Org:
    org = make_org(runtime)
    for copy in (1, 2):
        bound = {**values, "org": org.id, "copy": copy}
        for statement in (_EVENTS, *_RESULTS):
            runtime.clickhouse.execute(statement, bound)
    return org


def shown(body: object) -> str:
    """Returns columns and rows as one text, with every character spelled out."""
    return json.dumps(body, ensure_ascii=False, default=lambda raw: bytes(raw).decode())

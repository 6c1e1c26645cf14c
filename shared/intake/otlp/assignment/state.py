"""The decisions about traces and their spans in Redis.

- `otlp:trace:<organization>:<trace>`, a hash: the session `s`, whether it was named `n`, whether
  the trace has a span that is not `other` `k`, whether another name came later `c`. It lives for
  24 h after its last use. Afterwards a late record of the trace is decided about again.
- `otlp:spans:<organization>:<trace>`, a hash of `SpanMemory` by span id. It lives for an hour after
  its last use, a day if it has a pending span, and has at most `MAX_SPANS` spans. Afterwards a span
  that is sent again is assigned again: the same events, which are stored once, but with the agent
  and the role that follow from the spans that are known by then.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import redis
from redis.client import Pipeline

from shared.intake.otlp.assignment.chains import SpanMemory
from shared.intake.otlp.assignment.sessions import Proposal, Session

HOUR_MS = 3600 * 1000
TRACE_TTL_MS = 24 * HOUR_MS
SPANS_TTL_MS = HOUR_MS
MAX_SPANS = 20_000
# Lua unpacks at most some thousand values.
_CHUNK = 1000

# Decides the sessions of traces that have none, and returns what is decided and remembered. For
# each trace: two keys, and a session or '', named, kinds, a number of span ids, the ids. Each call
# from Lua costs as much as all that Python does for a span. So only spans of traces with a session
# are remembered, and a life is prolonged by an hour or more.
_SETTLE = f"""
local answers, at = {{}}, 1
for index = 1, #KEYS, 2 do
    local trace, spans = KEYS[index], KEYS[index + 1]
    local session, kinds, count = ARGV[at], ARGV[at + 2], tonumber(ARGV[at + 3])
    local decided, known, changes = redis.call('HMGET', trace, 's', 'n', 'k', 'c'), {{}}, {{}}
    if decided[1] then
        if count > 0 then
            known = redis.call('HMGET', spans, unpack(ARGV, at + 4, at + 3 + count))
        end
    elseif session ~= '' then
        decided[1], decided[2] = session, ARGV[at + 1]
        changes = {{'s', session, 'n', ARGV[at + 1]}}
    end
    if kinds == '1' and not decided[3] then
        decided[3] = '1'
        changes[#changes + 1] = 'k'
        changes[#changes + 1] = '1'
    end
    if #changes > 0 then redis.call('HSET', trace, unpack(changes)) end
    if #changes > 0 or redis.call('PTTL', trace) < {TRACE_TTL_MS} then
        redis.call('PEXPIRE', trace, {TRACE_TTL_MS + HOUR_MS})
    end
    answers[#answers + 1] = {{decided, known}}
    at = at + 4 + count
end
return answers
"""

# Remembers spans. For each key: a time to live, a number of spans, their ids and values.
_LEARN = f"""
local at = 1
for _, key in ipairs(KEYS) do
    local ttl, count = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
    local before = redis.call('HLEN', key)
    if before < {MAX_SPANS} then
        redis.call('HSET', key, unpack(ARGV, at + 2, at + 1 + 2 * count))
    end
    if before == 0 or redis.call('PTTL', key) < ttl then redis.call('PEXPIRE', key, ttl) end
    at = at + 2 + 2 * count
end
"""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(SpanMemory).decode


@dataclass
class Question:
    """A request for decisions about a trace: `proposal` is its session if it has none yet."""

    trace_id: str
    proposal: Proposal | None
    has_kinds: bool
    span_ids: Collection[str]


@dataclass
class TraceDecision:
    """The decisions about a trace; `session` is None while there are none.

    `known`: the remembered ones of the spans that were asked for. `has_conflict`: a later name was
    counted.
    """

    session: Session | None
    has_conflict: bool
    known: dict[str, SpanMemory] = field(default_factory=dict)


def settle(client: redis.Redis, org_id: str, questions: Sequence[Question]) -> list[TraceDecision]:
    """Decides the sessions of traces, once for all processes, and returns what is known of each."""
    answers = [TraceDecision(None, has_conflict=False) for _ in questions]
    pieces = list(_pieces(questions))
    keys: list[str] = []
    arguments: list[Any] = []
    for index, ids in pieces:
        asked = questions[index]
        keys += trace_key(org_id, asked.trace_id), spans_key(org_id, asked.trace_id)
        session, is_named = asked.proposal or ("", False)
        arguments += session, int(is_named), int(asked.has_kinds), len(ids), *ids
    replies: Any = client.eval(_SETTLE, len(keys), *keys, *arguments) if keys else []
    for (index, ids), (decided, known) in zip(pieces, replies, strict=True):
        answers[index].session = _session(decided)
        answers[index].has_conflict = decided[3] is not None
        answers[index].known |= {
            span_id: _decode(value)
            for span_id, value in zip(ids, known, strict=False)
            if value is not None
        }
    return answers


def learn(pipe: Pipeline, org_id: str, learned: Mapping[str, Mapping[str, SpanMemory]]) -> None:
    """Adds the commands to a transaction that remember spans, by trace and span id."""
    keys: list[str] = []
    arguments: list[Any] = []
    for trace_id, spans in learned.items():
        values = list(spans.items())
        for start in range(0, len(values), _CHUNK):
            piece = values[start : start + _CHUNK]
            keys.append(spans_key(org_id, trace_id))
            arguments += _ttl_ms(spans), len(piece)
            for span_id, known in piece:
                arguments += span_id, _encode(known)
    if keys:
        pipe.eval(_LEARN, len(keys), *keys, *arguments)


def note_conflict(pipe: Pipeline, org_id: str, trace_id: str) -> None:
    """Adds the command that records that a later name of a trace was counted."""
    pipe.hset(trace_key(org_id, trace_id), "c", "1")


def trace_key(org_id: str, trace_id: str) -> str:
    """Returns the key of the decision about a trace."""
    return f"otlp:trace:{org_id}:{trace_id}"


def spans_key(org_id: str, trace_id: str) -> str:
    """Returns the key of the remembered spans of a trace."""
    return f"otlp:spans:{org_id}:{trace_id}"


def is_readable(prefix: bytes, fields: Mapping[bytes, bytes]) -> bool:
    """Returns whether `settle` can read a hash, whose key begins with `prefix`, of a backup.

    Raises `ValueError` or an error of msgspec if it cannot.
    """
    if prefix == b"otlp:spans:":
        return all(_decode(value) is not None for value in fields.values())
    fields.get(b"s", b"").decode()
    return set(fields) <= {b"s", b"n", b"k", b"c"}


def _pieces(questions: Sequence[Question]) -> list[tuple[int, list[str]]]:
    """Returns positions of questions, each with some of its span ids."""
    pieces: list[tuple[int, list[str]]] = []
    for index, asked in enumerate(questions):
        ids = list(asked.span_ids)
        pieces += [(index, ids[at : at + _CHUNK]) for at in range(0, max(len(ids), 1), _CHUNK)]
    return pieces


def _session(decided: Sequence[bytes | None]) -> Session | None:
    session_id, is_named, has_kinds, _ = decided
    if session_id is None:
        return None
    return Session(session_id.decode(), is_named == b"1", has_kinds is not None)


def _ttl_ms(spans: Mapping[str, SpanMemory]) -> int:
    return TRACE_TTL_MS if any(known.announced for known in spans.values()) else SPANS_TTL_MS

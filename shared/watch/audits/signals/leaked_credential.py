"""Credentials in payloads, where everybody with the permission to read events can read them.

A finding and its evidence contain no more of a credential than the prefix of its kind. The secret
stays in the database, which returns the numbers of events, sessions and different secrets.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.foundation.clickhouse import Row, literals
from shared.foundation.clickhouse.where import Where
from shared.watch.audits.signals import citing, counting, credentials, reading, sql
from shared.watch.audits.signals.credentials import PATTERNS, Pattern
from shared.watch.audits.signals.interface import Candidate, EvidenceQuery, Look, Sensitivity
from shared.watch.audits.signals.weighing import magnitude
from shared.watch.audits.signals.wording import counted, shown


@dataclass(frozen=True)
class LeakedCredentialThreshold:
    """Whether passwords and bearer tokens count, which only their context identifies."""

    with_general: bool


# One leak is too many at any sensitivity. A specific match is right unless it is an example;
# `password: abc123` may also come from a manual that a tool has read.
THRESHOLDS: Mapping[Sensitivity, LeakedCredentialThreshold] = {
    "low": LeakedCredentialThreshold(with_general=False),
    "medium": LeakedCredentialThreshold(with_general=True),
    "high": LeakedCredentialThreshold(with_general=True),
}
_MEDIUM_SESSIONS, _BIG_SESSIONS = 3, 20
_BY_KIND = {pattern.kind: pattern for pattern in PATTERNS}


def _statement(where: Where, threshold: LeakedCredentialThreshold) -> str:
    return f"""
SELECT kind, event_type, tool, sum(events), uniqExactArrayMerge(secrets), {citing.citations()}
FROM (
    SELECT found.1 AS kind, event_type, tool, session_id, count() AS events,
        uniqExactArrayState(found.2) AS secrets, {citing.SEEN}
    FROM (
        SELECT session_id, id, ts, CAST(event_type, 'String') AS event_type,
            {counting.TOOL} AS tool,
            arrayJoin({credentials.found_in_payload(with_general=threshold.with_general)}) AS found
        FROM events FINAL
        PREWHERE {where} AND {credentials.may_have()}
    )
    GROUP BY kind, event_type, tool, session_id
)
GROUP BY kind, event_type, tool
ORDER BY sum(events) DESC, kind, event_type, tool
LIMIT {reading.MAX_CANDIDATES}
"""


def find(look: Look) -> list[Candidate]:
    """Returns a candidate per kind, event type and tool: `{events, sessions, secrets}`.

    `secrets` counts different ones.
    """
    where = look.where()
    statement = _statement(where, THRESHOLDS[look.sensitivity])
    return [_candidate(look, row) for row in reading.rows(look, statement, where.params)]


def _candidate(look: Look, row: Row) -> Candidate:
    kind, event_type, tool, events, secrets = row[:5]
    cited = citing.FindingCitations.of(row)
    pattern, sessions = _BY_KIND[kind], cited.affected_sessions
    place = f"{shown(event_type)} of {shown(tool)}" if tool else shown(event_type)
    return Candidate(
        signal="leaked_credential",
        key=(kind, event_type, tool),
        title=f"{kind}{f' ({pattern.shown}…)' if pattern.shown else ''} in {place}",
        category="security",
        failure_type="leaked_credential",
        kind="policy",
        severity="critical",
        magnitude=magnitude(sessions, medium=_MEDIUM_SESSIONS, big=_BIG_SESSIONS),
        description=(
            f"{counted(events, 'event')} of type {place} in {counted(sessions, 'session')}"
            f" {'seems' if events == 1 else 'seem'} to contain {_one(kind)}"
            f"{f', beginning with {pattern.shown}…' if pattern.shown else ''}:"
            f" {counted(secrets, 'different value')}. Everybody with access to events can read it."
        ),
        **cited._asdict(),
        numbers={"events": events, "sessions": sessions, "secrets": secrets},
        queries=_queries(look, pattern, event_type, tool),
        recommendation=(
            "Revoke it, and keep such values out of events: name the key in the setting"
            " redaction.payload_keys, or pass the value to the tool in another way than its input."
        ),
        scope={"event_types": (event_type,), **({"tool_names": (shown(tool),)} if tool else {})},
    )


def _one(kind: str) -> str:
    return f"{'an' if kind[0] in 'AEIO' else 'a'} {kind}"


def _queries(look: Look, pattern: Pattern, event_type: str, tool: str) -> tuple[EvidenceQuery, ...]:
    condition = " AND ".join(
        (
            sql.where(look),
            literals.is_text("event_type", event_type),
            literals.is_text(counting.TOOL, tool),
            credentials.may_have(),
            *(() if pattern.is_specific else (f"NOT {credentials.has_specific()}",)),
        )
    )
    leaks = (
        f"FROM (SELECT session_id, id, agent_id, environment, ts,"
        f" {credentials.hashes_of(pattern)} AS hashes FROM events WHERE {condition})"
        " WHERE notEmpty(hashes)"
    )
    return (
        EvidenceQuery(
            f"Events that contain {_one(pattern.kind)}",
            "SELECT count() AS events, uniqExact(session_id) AS sessions,"
            f" uniqExactArray(hashes) AS secrets {leaks}",
        ),
        EvidenceQuery(
            "The events, newest first, without the secrets",
            "SELECT session_id, id, agent_id, environment, ts, length(hashes) AS secrets"
            f" {leaks} ORDER BY ts DESC, id LIMIT 100",
        ),
    )

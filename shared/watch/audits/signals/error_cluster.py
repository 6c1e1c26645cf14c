"""Errors with the same message except for names and numbers.

A cluster is an error type and a template: the message with `<*>` in place of its variable parts. An
`error` event may repeat another failure, such as a tool's result with the same text; the two are
one failure. Among the events of one agent in one session with one text, the `error` events and the
other events are therefore counted separately, and the larger count is used. Such a text has the
type of its `error` events, if they have one. A failure without a message is in no cluster, unless
it is an `error` event.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from shared.foundation.clickhouse import Row, literals
from shared.foundation.clickhouse.where import Where
from shared.reading.events import messages
from shared.watch.audits.signals import citing, counting, reading, sql
from shared.watch.audits.signals.interface import Candidate, EvidenceQuery, Look, Sensitivity
from shared.watch.audits.signals.weighing import at_least, magnitude, severity, share_of_sessions
from shared.watch.audits.signals.wording import counted, shown


@dataclass(frozen=True)
class ErrorClusterThreshold:
    """The minimum of errors, of sessions, and of the share of the window's sessions."""

    errors: int
    sessions: int
    share: float


# An error that returns in another session is a pattern; among thousands of sessions, one in a
# thousand. High sensitivity also shows errors that one session repeats.
THRESHOLDS: Mapping[Sensitivity, ErrorClusterThreshold] = {
    "low": ErrorClusterThreshold(10, 5, 0.01),
    "medium": ErrorClusterThreshold(3, 2, 0.001),
    "high": ErrorClusterThreshold(2, 1, 0.0),
}
# Half of the sessions have the error, and there are enough of them to be sure.
_CRITICAL_SHARE, _CRITICAL_SESSIONS = 0.5, 20
_INFO_SHARE = 0.01

_SHOWN_CHARS = 120
_LISTED_CHARS = 400

_OF_ERRORS = "maxIf(own_type, event_type = 'error')"
_TIMES = "greatest(countIf(event_type = 'error'), countIf(event_type != 'error'))"


def _failures(source: str, also: str) -> str:
    """Returns SQL with a row for each text of an agent in a session: the count and the type.

    Texts are compared by a hash, because those of a window may be too long and too many to keep.
    """
    return f"""
    SELECT session_id, template, if({_OF_ERRORS} = '', max(own_type), {_OF_ERRORS}) AS type,
        {_TIMES} AS times, {also}
    FROM (
        SELECT session_id, agent_id, event_type, ts, id, {counting.ERROR_TYPE} AS own_type,
            {messages.TEXT} AS text, {messages.TEMPLATE} AS template
        FROM events {source} AND is_error
    )
    WHERE text != '' OR event_type = 'error'
    GROUP BY session_id, agent_id, template, sipHash64(text)"""


def _statement(where: Where, is_ignored: str) -> str:
    return f"""
SELECT type, template, sum(times) AS errors, {citing.citations()}
FROM (
    SELECT type, template, session_id, sum(times) AS times,
        {citing.SEEN_AGAIN}
    FROM ({_failures(f"FINAL PREWHERE {where}", citing.SEEN)})
    WHERE NOT ({is_ignored})
    GROUP BY type, template, session_id
)
GROUP BY type, template
HAVING errors >= {{errors:UInt64}} AND count() >= {{sessions:UInt64}}
ORDER BY count() DESC, errors DESC, type, template
LIMIT {reading.MAX_CANDIDATES}
"""


def find(look: Look) -> list[Candidate]:
    """Returns a candidate per type and template, over all agents: `{errors, sessions}`."""
    threshold = THRESHOLDS[look.sensitivity]
    where = look.where()
    where.params.update(
        errors=threshold.errors,
        sessions=max(threshold.sessions, math.ceil(threshold.share * look.total_sessions)),
        ignored=counting.names(look.ignore_error_types),
    )
    is_ignored = "type IN {ignored:Array(String)}" if look.ignore_error_types else "false"
    found = reading.rows(look, _statement(where, is_ignored), where.params)
    return [_candidate(look, row) for row in found]


def _candidate(look: Look, row: Row) -> Candidate:
    error_type, template, errors = row[:3]
    cited = citing.FindingCitations.of(row)
    sessions = cited.affected_sessions
    share = share_of_sessions(look, sessions)
    what = shown(template, _SHOWN_CHARS) if template else "without a message"
    name = f"{shown(error_type)}: {what}" if error_type else what
    return Candidate(
        signal="error_cluster",
        key=(error_type, template),
        title=name,
        category="errors",
        failure_type="recurring_error",
        kind="failure",
        severity=severity(
            critical=sessions >= _CRITICAL_SESSIONS
            and at_least(sessions, look.total_sessions) >= _CRITICAL_SHARE,
            warning=share >= _INFO_SHARE,
        ),
        magnitude=magnitude(share),
        description=(
            f"{counted(errors, 'error')} in {counted(sessions, 'session')}"
            f" ({share:.1%} of the window's) are alike: {name}"
        ),
        **cited._asdict(),
        numbers={"errors": errors, "sessions": sessions},
        queries=_queries(look, error_type, template),
        scope={"error_types": (shown(error_type),)} if error_type else {},
    )


def _queries(look: Look, error_type: str, template: str) -> tuple[EvidenceQuery, ...]:
    also = f"max(ts) AS last, any(leftUTF8(text, {_LISTED_CHARS})) AS message"
    alike = (
        f"FROM ({_failures(f'WHERE {sql.where(look)}', also)})"
        f" WHERE {literals.is_text('type', error_type)}"
        f" AND {literals.is_text('template', template)}"
    )
    return (
        EvidenceQuery(
            "Number of these errors",
            f"SELECT sum(times) AS errors, uniqExact(session_id) AS sessions {alike}",
        ),
        EvidenceQuery(
            "The sessions, newest first",
            "SELECT session_id, sum(times) AS errors, max(last) AS last_at"
            f" {alike} GROUP BY session_id ORDER BY last_at DESC, session_id LIMIT 100",
        ),
        EvidenceQuery(
            "The messages, most frequent first",
            "SELECT message, sum(times) AS errors, uniqExact(session_id) AS sessions"
            f" {alike} GROUP BY message ORDER BY errors DESC, message LIMIT 100",
        ),
    )

"""Errors that say the same but for the names and numbers in them.

A cluster is an error type and a template: the message with what varies replaced by `<*>`. An
`error` event that repeats what failed, such as a tool's result with the same text, is that failure
told twice: of the events of one agent in one session with one text, the `error` events and the
others are counted apart, and the larger count is how often it happened. Such a text has the type of
its `error` events, where they have one. What failed without saying why is in no cluster, unless it
is an `error` event.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from shared.audits.signals import counting, reading, sql
from shared.audits.signals.counting import Cited
from shared.audits.signals.interface import Candidate, EvidenceQuery, Look, Sensitivity, Severity
from shared.audits.signals.weighing import at_least, magnitude, share_of_sessions
from shared.audits.signals.wording import counted, shown
from shared.clickhouse import Row
from shared.clickhouse.where import Where
from shared.core.clock import from_us

SIGNAL = "error_cluster"


@dataclass(frozen=True)
class Threshold:
    """At least this many errors, in this many sessions and this share of the window's."""

    errors: int
    sessions: int
    share: float


# An error that comes back in another session is a pattern; where there are thousands of sessions,
# one of a thousand. One that a single session repeats is shown to whoever wants to see everything.
THRESHOLDS: Mapping[Sensitivity, Threshold] = {
    "low": Threshold(10, 5, 0.01),
    "medium": Threshold(3, 2, 0.001),
    "high": Threshold(2, 1, 0.0),
}
# Every other session meets it, and there are enough of them to be sure.
_CRITICAL_SHARE, _CRITICAL_SESSIONS = 0.5, 20
_INFO_SHARE = 0.01

# What is quoted in a message may be long, and what tells errors apart comes after it. More of the
# template than tells them apart is of no use.
_MESSAGE_CHARS, _TEMPLATE_CHARS, _SHOWN_CHARS = 4000, 160, 120
_LISTED_CHARS = 400
# Stands at the end of a longer message, where it was cut.
_CUT = "\x03"
# What varies. At one place the first of them that fits is taken.
_VARYING = (
    rf"\S{{0,40}}{_CUT}",  # a word that was cut: what it was cannot be told
    # Credentials, also of letters alone: no template shows a part of one.
    r"\b(?:A[KS]IA|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|[rs]k_live_|sk-|AIza|ya29|eyJ)[\w./=-]{12,}",
    r"(?i:\bbearer |(?:passw(?:or)?d|pwd|secret|api_?key|_token)[\"']*\s*[:=]\s*[\"']*)\S{6,}",
    r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]+",  # URLs
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",  # mail addresses
    # What is quoted, up to the cut where the other quote lies behind it; apostrophes quote nothing.
    rf"\"[^\"]*[\"{_CUT}]|`[^`]*[`{_CUT}]|“[^”]*[”{_CUT}]|\B'(?:[^']|\b'\b)*(?:'\B|{_CUT})",
    r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",  # UUIDs
    r"\B/[\w.@~-]+(?:/[\w.@~-]*)+",  # paths
    # Months beside a number, for the rest of such a date has digits.
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d[\w:.]*",
    # Words with a digit, and such words joined: numbers, ids, versions, addresses, moments.
    r"(?:\B[-+#$€£])?\w*\d\w*(?:[-.,:/+]\w*\d\w*)*%?",
    r"\b[0-9a-fA-F]{8,}\b",  # hexadecimal without a digit
)
_BLANKS = r"\s+"
# A list is as good as one of its members.
_LIST = r"<\*>(?:(?:, |,|; | )<\*>)+"


def _replaced(text: str, pattern: str, replacement: str) -> str:
    return f"replaceRegexpAll({text}, {sql.text(pattern)}, {sql.text(replacement)})"


# An error that is no text is told by its `message`, else as it stands; `true` says nothing.
_TEXT = f"""leftUTF8(toValidUTF8(coalesce(
    if(event_type = 'error', nullIf(JSONExtractString(payload, 'message'), ''), NULL),
    nullIf(JSONExtractString(payload, 'error', 'message'), ''),
    if(JSONType(payload, 'error') IN ('Bool', 'Null'), '', JSONExtractString(payload, 'error'))
)), {_MESSAGE_CHARS})"""
_MARK = f"if(lengthUTF8(text) = {_MESSAGE_CHARS}, {sql.text(_CUT)}, '')"
_ONE_LINE = f"concat(trimBoth({_replaced('text', _BLANKS, ' ')}), {_MARK})"
_ALIKE = _replaced(_ONE_LINE, f"(?:{'|'.join(_VARYING)}){_CUT}?", "<*>")
_TEMPLATE = f"leftUTF8({_replaced(_ALIKE, _LIST, '<*>')}, {_TEMPLATE_CHARS})"

_OF_ERRORS = "maxIf(own_type, event_type = 'error')"
_TIMES = "greatest(countIf(event_type = 'error'), countIf(event_type != 'error'))"


def _failures(source: str, also: str) -> str:
    """A row for each text of an agent of a session: how often it failed so, and its type.

    Texts are told apart by a hash: those of a window may be too long and too many to be kept.
    """
    return f"""
    SELECT session_id, template, if({_OF_ERRORS} = '', max(own_type), {_OF_ERRORS}) AS type,
        {_TIMES} AS times, {also}
    FROM (
        SELECT session_id, agent_id, event_type, ts, id, {counting.ERROR_TYPE} AS own_type,
            {_TEXT} AS text, {_TEMPLATE} AS template
        FROM events {source} AND is_error
    )
    WHERE text != '' OR event_type = 'error'
    GROUP BY session_id, agent_id, template, sipHash64(text)"""


def _statement(where: Where, is_ignored: str) -> str:
    return f"""
SELECT type, template, sum(times) AS errors, {counting.cited()}
FROM (
    SELECT type, template, session_id, sum(times) AS times,
        {counting.SEEN_AGAIN}
    FROM ({_failures(f"FINAL PREWHERE {where}", counting.SEEN)})
    WHERE NOT ({is_ignored})
    GROUP BY type, template, session_id
)
GROUP BY type, template
HAVING errors >= {{errors:UInt64}} AND count() >= {{sessions:UInt64}}
ORDER BY count() DESC, errors DESC, type, template
LIMIT {reading.MAX_CANDIDATES}
"""


def find(look: Look) -> list[Candidate]:
    """A candidate a type and template, of whatever agents; numbers `{errors, sessions}`."""
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
    cited = Cited.of(row)
    share = share_of_sessions(look, cited.sessions)
    what = shown(template, _SHOWN_CHARS) if template else "without a message"
    name = f"{shown(error_type)}: {what}" if error_type else what
    return Candidate(
        signal=SIGNAL,
        key=(error_type, template),
        title=name,
        category="errors",
        failure_type="recurring_error",
        kind="failure",
        severity=_severity(look, cited.sessions),
        magnitude=magnitude(share),
        affected_sessions=cited.sessions,
        first_seen_at=from_us(cited.first),
        last_seen_at=from_us(cited.last),
        description=(
            f"{counted(errors, 'error')} in {counted(cited.sessions, 'session')}"
            f" ({share:.1%} of the window's) are alike: {name}"
        ),
        session_ids=cited.session_ids,
        event_ids=cited.event_ids,
        numbers={"errors": errors, "sessions": cited.sessions},
        queries=_queries(look, error_type, template),
        scope={"error_types": (shown(error_type),)} if error_type else {},
    )


def _severity(look: Look, sessions: int) -> Severity:
    if (
        sessions >= _CRITICAL_SESSIONS
        and at_least(sessions, look.total_sessions) >= _CRITICAL_SHARE
    ):
        return "critical"
    return "info" if share_of_sessions(look, sessions) < _INFO_SHARE else "warning"


def _queries(look: Look, error_type: str, template: str) -> tuple[EvidenceQuery, ...]:
    also = f"max(ts) AS last, any(leftUTF8(text, {_LISTED_CHARS})) AS message"
    alike = (
        f"FROM ({_failures(f'WHERE {sql.where(look)}', also)})"
        f" WHERE {sql.is_text('type', error_type)} AND {sql.is_text('template', template)}"
    )
    return (
        EvidenceQuery(
            "How often these errors happened",
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
